// Tested by src/cli/commands/preview/validate.test.ts.
/** Renders a Bundle for its clusters and checks the objects. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Source } from '../../kinds/native/source.ts'
import { finding } from '../../plan/lint/finding.ts'
import type { Finding } from '../../plan/lint/finding.ts'
import type { CustomSchemas } from '../../plan/lint/custom-schemas.ts'
import { lintChart, lintKustomization } from '../../plan/lint/lint-charts.ts'
import { lintContents } from '../../plan/lint/lint-objects.ts'
import type { LintContent } from '../../plan/lint/lint-objects.ts'
import type { PlacedContent } from '../../plan/lint/lint-overlap.ts'
import { renderVariants } from '../../render/bundle/render-variants.ts'
import type { SharedVariant } from '../../render/bundle/render-variants.ts'
import { describeProblems } from '../../render/render-result.ts'
import type { RenderProblem } from '../../render/render-result.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import type { YamlDocument } from '../../yaml/yaml.ts'
import { ENTROPY, recipeFor, textsOfObject } from '../repository/bundle-recipe.ts'
import type { ReadInputData } from '../repository/bundle-recipe.ts'
import { CliError } from '../errors/cli-error.ts'
import { keyOfObject } from '../repository/fleet-facts.ts'
import type { Builders } from '../../render/bundle/builder.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import { isBelowPath } from './bundle-path.ts'
import { withPosition, readDefinitions } from './read-definitions.ts'
import type { Definition, PlacedFinding } from './read-definitions.ts'

/** The input of checking a Bundle. */
export interface BundleToLint {
  /** Place in the files. Undefined for a Bundle of the hub. */
  readonly definition: Definition | undefined
  readonly bundle: Bundle
  readonly source: Source | undefined
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Objects of the files that are not ours: ConfigMaps for inputs. */
  readonly others: readonly Definition[]
  readonly facts: FleetFacts
  /** The builders of dialects. */
  readonly builders: Builders
  /** ConfigMaps and Secrets that the hub has. */
  readonly hubTexts: (namespace: string) => ReadInputData
  /** The custom kinds that the repository defines. */
  readonly custom: CustomSchemas
  /** The clusters of the Bundle. A cluster without name stands for an unknown cluster. */
  readonly clusters: readonly ClusterInputs[]
}

/** The objects of a Bundle and the findings. */
export interface BundleContent {
  /** `namespace/name`. */
  readonly bundle: string
  readonly placed: readonly PlacedContent[]
  readonly findings: readonly PlacedFinding[]
  /** Puts a finding about an object at the place of the object in the files. */
  readonly locate: (found: Finding, object: UnknownObject) => PlacedFinding
}

/** Renders and checks a bundle. */
export function lintBundle(input: BundleToLint): BundleContent {
  const { definition, bundle, source, files, clusters, builders } = input
  const key = keyOfObject(bundle)
  const here = (found: Finding): PlacedFinding => ({
    ...(definition ? withPosition(found, definition) : found),
    bundle: key,
  })
  const locate = locator(input, here)
  const nothing = (found: Finding): BundleContent => ({ bundle: key, placed: [], findings: [here(found)], locate })
  if (bundle.spec === undefined) return { bundle: key, placed: [], findings: [], locate }
  const elsewhere = source && !source.spec.git
  if (bundle.spec.source && (elsewhere || !isHere(bundle, files))) {
    const what = elsewhere ? 'a chart or artifact of a registry' : `the path ${bundle.spec.source.path ?? '.'}`
    const message = `Bundle ${key}: the content (${what} of Source ${bundle.spec.source.name}) is not on this disk and was not checked`
    return nothing(finding('not-rendered', message, { place: ['spec', 'source'] }))
  }
  if (clusters.length === 0) {
    const message = `Bundle ${key}: the Placement selects no cluster; the content was not rendered`
    return nothing(finding('not-rendered', message, { place: ['spec', 'placement'] }))
  }
  let variants: readonly SharedVariant[]
  try {
    const recipe = recipeFor(bundle, input.facts, textsIn(input))
    variants = renderVariants({ recipe, clusters, frozen: {} }, { files, entropy: ENTROPY, builders }).variants
  } catch (caught) {
    if (!(caught instanceof CliError)) throw caught
    return nothing(finding('not-rendered', `Bundle ${key}: ${caught.report.what}`, { place: ['spec', 'inputs'] }))
  }
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  const content: PlacedContent[] = []
  const lintable: LintContent[] = []
  // A mistake that fails several variants is reported once.
  const problems = new Map<
    string,
    Pick<Problem, 'when'> & { readonly problem: RenderProblem; readonly known: string[] }
  >()
  const findings: PlacedFinding[] = packagedFindings(bundle, files)
  for (const { result, when, clusters: names } of variants) {
    const known = names.filter((name) => name !== '')
    if (result.ok === true) {
      content.push({ bundle: key, clusters: known, objects: result.objects })
      const who = names.map((name) => ({
        name: name === '' ? 'that of --kube-version' : name,
        kubeVersion: byName.get(name)?.kubeVersion,
      }))
      lintable.push({ objects: result.objects, clusters: who })
    } else if (result.ok === false) {
      for (const problem of result.problems) {
        const id = describeProblems([problem])
        const before = problems.get(id)
        if (before) before.known.push(...known)
        else problems.set(id, { problem: withPlace(problem, files), known: [...known], when })
      }
    }
  }
  for (const { problem, ...about } of problems.values()) {
    findings.push(problemFinding(problem, { ...about, key, here }))
  }
  findings.push(...lintContents(lintable, input.custom).map(({ found, object }) => locate(found, object)))
  return { bundle: key, placed: content, findings, locate }
}

function isHere(bundle: Bundle, files: BundleToLint['files']): boolean {
  // The renderer refuses a path outside the repository.
  const leaves = (bundle.spec.source?.path ?? '').split('/').includes('..')
  return leaves || [...files.keys()].some((file) => isBelowPath(bundle, file))
}

function textsIn({ bundle, others, hubTexts }: BundleToLint): ReadInputData {
  const namespace = bundle.metadata.namespace ?? 'default'
  return (kind, name) =>
    textsOfObject(
      others.find(({ object }) => object.kind === kind && keyOfObject(object) === `${namespace}/${name}`)?.object,
    ) ?? hubTexts(namespace)(kind, name)
}

interface Problem {
  readonly key: string
  readonly known: readonly string[]
  readonly when: Readonly<Record<string, string | null>>
  readonly here: (found: Finding) => PlacedFinding
}

function problemFinding(problem: RenderProblem, { key, known, when, here }: Problem): PlacedFinding {
  const { message, file, line, column } = problem
  const place = { place: ['spec', 'source'] }
  if (known.length === 0 && Object.keys(when).length > 0) {
    const words = `Bundle ${key}: the content depends on the cluster (${nameSome(Object.keys(when))}), and no cluster is known: ${message}`
    return here(finding('not-rendered', words, { ...place, todo: 'use --hub, or add files with Clusters' }))
  }
  const who = known.length === 0 ? '' : ` for ${nameSome(known)}`
  const check = problem.plaintext ? 'plaintext-secret' : 'cannot-render'
  const found = finding(check, `Bundle ${key} cannot be rendered${who}: ${message}`, place)
  if (file === undefined) return here(found)
  return { ...found, bundle: key, file, line: line ?? 1, column: column ?? 1 }
}

/** Messages of templates begin with their place. */
function withPlace(problem: RenderProblem, files: BundleToLint['files']): RenderProblem {
  const [, file = '', line, column = '1', message = ''] =
    /^([^\s:]+):(\d+):(?:(\d+):)? (.*)$/s.exec(problem.message) ?? []
  return files.has(file) ? { message, file, line: Number(line), column: Number(column) } : problem
}

/** Charts and kustomizations below the path of the Bundle with unpinned remote dependencies. */
function packagedFindings(bundle: Bundle, files: BundleToLint['files']): PlacedFinding[] {
  if (!bundle.spec.source) return []
  return [...files].flatMap(([path, bytes]) => {
    if (!isBelowPath(bundle, path)) return []
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
    const name = path.slice(folder === '' ? 0 : folder.length + 1)
    const isChart = name === 'Chart.yaml' && !files.has(folder === '' ? 'Chart.lock' : `${folder}/Chart.lock`)
    const isKustomization = /^([Kk]ustomization)(\.ya?ml)?$/.test(name)
    if (!isChart && !isKustomization) return []
    const document = firstDocument(bytes)
    if (!document) return []
    const found = isChart ? lintChart(folder || '.', document.value) : lintKustomization(folder, document.value)
    return found.map((one) => ({
      ...withPosition(one, { file: path, document, base: [] }),
      bundle: keyOfObject(bundle),
    }))
  })
}

function firstDocument(bytes: Uint8Array): YamlDocument | undefined {
  try {
    return readYaml(bytes, { resolver: '1.1' })[0]
  } catch (caught) {
    if (caught instanceof YamlError) return undefined // the renderer says so
    throw caught
  }
}

/** Finds the place of an object: in a file of the Bundle, in spec.manifests, or unknown. */
function locator({ bundle, files }: BundleToLint, here: (found: Finding) => PlacedFinding): BundleContent['locate'] {
  let known: readonly Definition[] | undefined
  const inline = bundle.spec?.manifests !== undefined
  const key = keyOfObject(bundle)
  return (found, object) => {
    known ??= inline ? inlineDefinitions(bundle) : fileDefinitions(bundle, files)
    const same = known.filter(
      ({ object: one }) => one.kind === object.kind && one.metadata.name === object.metadata.name,
    )
    const one =
      same.find((each) => (each.object.metadata.namespace ?? '') === (object.metadata.namespace ?? '')) ?? same[0]
    if (!one) return here({ ...found, place: ['spec', inline ? 'manifests' : 'source'] })
    const at = withPosition(found, one)
    if (!inline) return { ...at, bundle: key }
    // A literal block begins on the line after its key.
    const block = here({ ...found, place: ['spec', 'manifests'] })
    if (block.file === undefined) return block
    return { ...at, ...block, line: (block.line ?? 0) + (at.line ?? 1), column: 1, bundle: key }
  }
}

function inlineDefinitions({ spec }: Bundle): readonly Definition[] {
  return readDefinitions([{ name: '', bytes: Buffer.from(spec.manifests ?? '') }]).others
}

function fileDefinitions(bundle: Bundle, files: BundleToLint['files']): readonly Definition[] {
  const inside = [...files].filter(([path]) => /\.(ya?ml|json)$/.test(path) && isBelowPath(bundle, path))
  return readDefinitions(inside.map(([name, bytes]) => ({ name, bytes }))).others
}
