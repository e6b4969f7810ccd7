// Tested by src/controllers/bundle-render/rules/rules.sim.test.ts
/** Rules on rendered content that deny: the content of a cluster whose objects do not meet a rule is not released. */
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { exceptionsInForce } from '../../../plan/policy/rules/rule-exceptions.ts'
import { denialsOf, describeFinding, judgeForClusters } from '../../../plan/policy/rules/content-rules.ts'
import type { RuleFinding } from '../../../plan/policy/rules/content-rules.ts'
import { lineOfObject } from '../../../plan/policy/rules/locate-object.ts'
import type { SharedVariant } from '../../../render/bundle/render-variants.ts'
import type { RenderProblem } from '../../../render/render-result.ts'
import type { BundleRenderPorts } from '../ports.ts'
import type { FoundRecipe } from '../recipe.ts'

/** Begins the problem of content that a rule denies. */
export const DENIED = 'a rule denies '

type RulePorts = Pick<BundleRenderPorts, 'ruleBook' | 'overridesOf' | 'treeOf' | 'getBlob'>

interface Rendered {
  readonly bundle: Bundle
  readonly found: Pick<FoundRecipe, 'recipe'>
  readonly variants: readonly SharedVariant[]
  readonly clusters: readonly ClusterInputs[]
}

/** Splits variants by what the rules read of the clusters, and replaces denied content by its problems. */
export async function denyContent(
  { bundle, found, variants, clusters }: Rendered,
  ports: RulePorts,
  now: number,
): Promise<readonly SharedVariant[]> {
  const rules = ports.ruleBook().rules.filter(({ action }) => action === 'Deny')
  if (rules.length === 0) return variants
  const key = keyOf(bundle)
  const exceptions = exceptionsInForce(ports.overridesOf(key), now)
  const origin = { bundle: key, placement: bundle.spec.placement }
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  const judged: SharedVariant[] = []
  for (const variant of variants) {
    if (variant.result.ok !== true) {
      judged.push(variant)
      continue
    }
    const { objects } = variant.result
    const own = variant.clusters.flatMap((name) => byName.get(name) ?? [])
    for (const verdict of judgeForClusters({ origin, objects, rules, exceptions }, own)) {
      const denials = denialsOf(verdict.findings)
      const problems = denials.length === 0 ? [] : await problemsOf(denials, found, ports)
      judged.push({
        ...variant,
        when: { ...variant.when, ...verdict.reads },
        clusters: verdict.clusters.map(({ name }) => name),
        result: problems.length === 0 ? variant.result : { ok: false, problems },
      })
    }
  }
  return judged
}

const MOST_LOCATED = 5

async function problemsOf(
  denials: readonly RuleFinding[],
  { recipe }: Pick<FoundRecipe, 'recipe'>,
  ports: RulePorts,
): Promise<readonly RenderProblem[]> {
  const files = sourceFiles(recipe, ports)
  const problems: RenderProblem[] = []
  for (const denial of denials) {
    const place = problems.length < MOST_LOCATED ? await placeOf(denial.object, await files()) : {}
    problems.push({ message: `${DENIED}${describeFinding(denial)}`, rule: denial.policy, ...place })
  }
  return problems
}

interface SourceFile {
  readonly file: string
  readonly text: string | Uint8Array
}

const MOST_FILES = 500
const MOST_BYTES = 4 * 1024 * 1024

/** The files of a Bundle that can have the text of an object, read once. Files of the Bundle's path come first. */
function sourceFiles(
  { manifests, manifestParts, artifact, path = '' }: FoundRecipe['recipe'],
  ports: RulePorts,
): () => Promise<readonly SourceFile[]> {
  let known: readonly SourceFile[] | undefined
  const read = async (): Promise<readonly SourceFile[]> => {
    if (manifests !== undefined) return [{ file: 'spec.manifests', text: manifests }]
    if (manifestParts) return manifestParts
    const tree = artifact ? await ports.treeOf(artifact) : undefined
    const inside = (file: string): boolean => path === '' || path === '.' || file.startsWith(`${path}/`)
    const texts = (tree?.files ?? []).filter(({ path: file }) => /\.(ya?ml|json)$/.test(file))
    const ordered = [...texts.filter((one) => inside(one.path)), ...texts.filter((one) => !inside(one.path))]
    const files: SourceFile[] = []
    let left = MOST_BYTES
    for (const one of ordered.slice(0, MOST_FILES)) {
      if (left < one.size) break
      left -= one.size
      const text = await ports.getBlob(one.digest)
      if (text) files.push({ file: one.path, text })
    }
    return files
  }
  return async () => (known ??= await read())
}

async function placeOf(
  object: UnknownObject,
  files: readonly SourceFile[],
): Promise<Pick<RenderProblem, 'file' | 'line'>> {
  for (const { file, text } of files) {
    // Most files are not about the object, and reading YAML is slow.
    if (!(typeof text === 'string' ? text : fromUtf8(text)).includes(object.metadata.name)) continue
    const line = lineOfObject(text, object)
    if (line !== undefined) return compact({ file, line })
  }
  return {}
}
