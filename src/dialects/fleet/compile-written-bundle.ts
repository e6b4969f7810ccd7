/** Compiles a Bundle of Fleet that a person or a pipeline wrote, with its files in `resources`. */
import { fromBase64, fromUtf8, gunzip, utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import { allowsSecrets } from '../../kinds/fields/secrets-annotation.ts'
import type { Source } from '../../kinds/native/source.ts'
import { readFields } from '../read-fields.ts'
import type { Finding, Report } from '../read-fields.ts'
import { BUNDLE_SPEC } from './bundle-fields.ts'
import { compileBundle } from './compile/compile-bundle.ts'
import type { BundleCompileContext, CompiledBundle } from './compile/compile-bundle.ts'
import { withCustomizations } from './files/fleet-yaml.ts'
import type { FleetCustomization, FleetTarget, FleetYaml } from './files/fleet-yaml.ts'
import { contentOf } from './files/scan.ts'
import type { FleetBundle } from './kinds.ts'

/** The files of a Bundle, as a Source holds them. */
export type BundleFiles = NonNullable<Source['spec']['inline']>['files']

/** A written Bundle, compiled. */
export interface WrittenBundle {
  readonly compiled: CompiledBundle
  /** Empty if all content is a chart that the hub fetches. */
  readonly files: BundleFiles
  /** The targets that select clusters. */
  readonly targets: readonly FleetTarget[]
  /** The bytes of a file. */
  bytesOf(path: string): Uint8Array | undefined
}

interface Resource {
  readonly name?: string
  readonly content?: string
  readonly encoding?: string
}

type BundleSpec = Omit<FleetYaml, 'customizations' | 'allMatches' | 'overrideTargets'> & {
  readonly resources?: readonly Resource[]
  readonly targets?: readonly FleetCustomization[]
  readonly targetRestrictions?: readonly FleetTarget[]
  readonly targetCustomizationMode?: string
}

/** One compressed file of a Bundle may unpack to this size. */
const FILE_BYTES = 16 * 1024 * 1024

/** Labels that say which object made a Bundle; a written Bundle has none of them. */
const MADE_BY: Readonly<Record<string, string>> = {
  'fleet.cattle.io/repo-name': 'GitRepo',
  'fleet.cattle.io/fleet-helm-name': 'HelmOp',
}

/** Why a Bundle is not delivered as it is: Fleet made it for another object, or for its own agent. */
export function madeByFleet({ metadata }: Pick<FleetBundle, 'metadata'>): string | undefined {
  for (const [label, kind] of Object.entries(MADE_BY)) {
    const name = metadata.labels?.[label]
    if (name !== undefined) {
      return `The label ${label} says that Fleet made this Bundle for ${kind} ${name}. It is not delivered; the hub makes a Bundle of its own for the ${kind}. To deliver this Bundle as it is, remove the label.`
    }
  }
  if (!metadata.name.startsWith('fleet-agent-')) return undefined
  return `Bundle ${metadata.name} has the name of a Bundle with the agent of Fleet. It is not delivered: clusters join with flotilla cluster add, or by a kubeconfig. To deliver other content, give the Bundle another name.`
}

/** The Bundle of flotilla.dev for a Bundle; undefined when it has errors, which the findings say. */
export function compileWrittenBundle(
  bundle: Pick<FleetBundle, 'metadata' | 'spec'>,
  workspace: BundleCompileContext['workspace'],
  findings: Finding[],
): WrittenBundle | undefined {
  const { name, namespace = 'fleet-default', labels = {} } = bundle.metadata
  const report: Report = (level, _path, message) => void findings.push({ level, message: `spec.${message}` })
  const spec = isObject(bundle.spec) ? bundle.spec : {}
  const read = readFields(spec, BUNDLE_SPEC, { system: 'Fleet', report }) as unknown as BundleSpec
  const files = filesOf(read.resources ?? [], report)
  const { resources: _resources, targets = [], targetRestrictions = [], targetCustomizationMode, ...rest } = read
  const isRestricted = targetRestrictions.length > 0
  if (targetRestrictions.length > targets.length) {
    const counts = `${targetRestrictions.length} entries, and targets ${targets.length}`
    report('error', [], `targetRestrictions has ${counts}; repeat each restriction at the end of targets`)
  }
  const customizations = isRestricted ? targets.slice(0, -targetRestrictions.length) : targets
  const yaml = withCustomizations(rest, { customizations, mode: targetCustomizationMode, report })
  if (findings.some(({ level }) => level === 'error')) return undefined
  const own: Finding[] = []
  const charts = chartDirectories(files)
  const scene: BundleCompileContext = {
    gitRepo: { namespace, name, labels: foreignLabels(labels), allowsSecrets: allowsSecrets(bundle) },
    options: {},
    workspace,
    findings: own,
    file: (path) => bytesOf(files.find((file) => file.path === path)),
    embedded: (sum) => charts.get(sum),
  }
  const paths = files.map(({ path }) => path)
  const content = contentOf('', undefined, { paths, text: (path) => textOf(scene.file(path)) })
  const selecting = isRestricted ? targets.slice(-targetRestrictions.length) : targets
  // Without restrictions all targets both select and customize, and the mode has no effect.
  const whole: FleetYaml = {
    ...yaml,
    allMatches: isRestricted && yaml.allMatches,
    overrideTargets: selecting,
  }
  const compiled = compileBundle({ path: '', name, ...content }, whole, scene)
  findings.push(...own.map(({ level, message }) => ({ level, message: `spec: ${message}` })))
  const about = { files, targets: selecting, bytesOf: scene.file }
  if (compiled && files.length > 0) return { compiled, ...about }
  const [chart] = compiled?.charts ?? []
  if (compiled && chart) {
    const include = compiled.charts.map(({ source, at }) => ({ source, at }))
    return { compiled: { ...compiled, spec: { ...compiled.spec, source: { name: chart.source, include } } }, ...about }
  }
  if (!own.some(({ level }) => level === 'error'))
    report(
      'error',
      [],
      'resources has no file with an object, a chart or a kustomization, and helm.chart names no chart',
    )
  return undefined
}

const ENCODINGS: Readonly<Record<string, 'Text' | 'Gzip'>> = { '': 'Text', 'base64+gz': 'Gzip' }

function filesOf(resources: readonly Resource[], report: Report): BundleFiles {
  const files = new Map<string, BundleFiles[number]>()
  for (const [at, { name, content = '', encoding = '' }] of resources.entries()) {
    const path = name || `manifest${String(at).padStart(3, '0')}.yaml`
    const isClean = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
    if (!isClean || path.length > 1024 || path.startsWith('\\')) {
      report(
        'error',
        [],
        `resources[${at}].name: ${JSON.stringify(path.slice(0, 200))} is not a relative path of a file`,
      )
    } else if (files.has(path)) {
      report('error', [], `resources[${at}].name: ${JSON.stringify(path)} is there twice`)
    } else if (ENCODINGS[encoding] === undefined) {
      report('error', [], `resources[${at}].encoding: ${JSON.stringify(encoding)} is not known; use base64+gz, or none`)
    } else {
      files.set(path, encoding === '' ? { path, content } : { path, content, encoding: ENCODINGS[encoding] })
    }
  }
  return [...files.values()]
}

function bytesOf(file: BundleFiles[number] | undefined): Uint8Array | undefined {
  if (!file) return undefined
  if (file.encoding !== 'Gzip') return utf8(file.content)
  try {
    return gunzip(fromBase64(file.content), FILE_BYTES)
  } catch {
    // The Source names the file that cannot be unpacked.
    return undefined
  }
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  try {
    return bytes && fromUtf8(bytes)
  } catch {
    return undefined
  }
}

/** The charts that `fleet apply` fetched: `.chart/SUM` with the digest of the chart's address. */
function chartDirectories(files: BundleFiles): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { path } of files) {
    const match = /^(\.chart\/([0-9a-f]{64})(?:\/[^/]+)?)\/Chart\.yaml$/.exec(path)
    if (match) found.set(match[2]!, match[1]!)
  }
  return found
}

/** Labels without those of Fleet, which say who made an object. */
function foreignLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith('fleet.cattle.io/')))
}
