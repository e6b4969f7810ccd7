// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** The effect of a change on the fleet: the Bundles, rendered before and after for their selected clusters. */
import { generateTraditionalKey } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { compact } from '../../core/compact.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Source } from '../../kinds/native/source.ts'
import { diffBundle } from '../../plan/fleet/fleet-diff.ts'
import type { DiffContent, DiffGroup, DriftedObject, ObjectDiff } from '../../plan/fleet/fleet-diff.ts'
import { formatFieldChange } from '../../plan/objects/object-changes.ts'
import { decisionsOnPages, incumbentsOf } from '../../plan/placement/read-objects.ts'
import { clusterInputsOf, optionsFor } from '../../plan/release/variants.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { contentDigest } from '../../render/bundle/content-digest.ts'
import type { PreparedContent } from '../../render/bundle/prepare-content.ts'
import type { BundleRecipe } from '../../render/bundle/recipe.ts'
import type { VariantParts } from '../../render/bundle/render-variant.ts'
import { renderVariants } from '../../render/bundle/render-variants.ts'
import type { Entropy } from '../../render/helm/frozen-random.ts'
import { describeProblems } from '../../render/render-result.ts'
import { selects } from '../../source/tree-entries.ts'
import { recipeFor } from '../repository/bundle-recipe.ts'
import type { ReadInputData } from '../repository/bundle-recipe.ts'
import { CliError } from '../errors/cli-error.ts'
import { keyOfObject, selectionOf } from '../repository/fleet-facts.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import type { Files } from '../repository/git-repository.ts'
import { foundByRules } from '../lint/rule-findings.ts'
import { describeFinding } from '../../plan/policy/rules/content-rules.ts'
import type { ContentRule } from '../../plan/policy/rules/content-rules.ts'
import type { HeldBack } from './delivered.ts'
import type { EarlierContent } from './earlier-content.ts'

/** One side of the comparison. */
export interface PreviewSide {
  readonly facts: FleetFacts
  /** The files of the repository for a Bundle and its Source (both `namespace/name`). */
  readonly filesOf: (source: string, bundle: string) => Files | undefined
  /** Content of earlier Releases that the hub delivers instead of the Bundle as it is defined. */
  readonly earlierOf?: (bundle: string) => EarlierContent | undefined
  /** Bundles that exist on the other side, and are removed on this side. */
  readonly removed?: ReadonlySet<string>
  /** Bundles that cannot be compared, with the reason. */
  readonly unknown?: ReadonlyMap<string, string>
  /** Input data of the Bundles of a namespace. */
  readonly textsIn: (namespace: string) => ReadInputData
}

export interface PreviewInput {
  readonly before: PreviewSide
  readonly after: PreviewSide
  readonly reports: readonly ClusterReport[]
  /** Only this bundle: `name` or `namespace/name`. */
  readonly bundle?: string | undefined
  readonly parts: PreviewParts
  /** The rules on rendered content after the change. */
  readonly rules?: readonly ContentRule[]
}

/** The changes of a Bundle. */
export interface BundlePreview {
  /** `namespace/name`. */
  readonly bundle: string
  readonly isNew: boolean
  readonly selected: { readonly before: number; readonly after: number }
  readonly gained: readonly string[]
  readonly lost: readonly string[]
  readonly groups: readonly DiffGroup[]
  /** The agent renders the Bundle, so the inputs are compared instead of the objects. */
  readonly inCluster?: true
  /** The reason why the content cannot be compared. */
  readonly unknown?: string
  /** The delivered Release, if it does not have the content of the Source's newest commit. */
  readonly from?: string
  readonly heldBack?: HeldBackPreview
  /** What rules find in the content after the change. Absent without findings. */
  readonly rules?: readonly RulePreview[]
}

/** A finding of a rule on rendered content. */
export interface RulePreview {
  readonly policy: string
  readonly action: 'Deny' | 'Warn' | 'Audit'
  /** The object and the words of the rule. */
  readonly message: string
  /** The Override that is an exception. */
  readonly exception?: string
  readonly clusters: readonly string[]
}

/** Content that was rolled back, and what the change does with it. */
export interface HeldBackPreview extends HeldBack {
  /** Clusters whose content would be the one that was rolled back: the hub does not deliver it again. */
  readonly heldClusters: readonly string[]
  /** Fields that the change brings back, as `Deployment shop/web: image 1.1→1.2`. */
  readonly bringsBack: readonly string[]
}

/** Random values of charts are equal on both sides, because the hub keeps them. */
const keys = new Map<string, string>()
const SAME_DRAWS: Entropy = {
  randomBytes: (length) => new Uint8Array(length),
  now: () => 0,
  generateKey: (type) => {
    const known = keys.get(type) ?? generateTraditionalKey(type)
    keys.set(type, known)
    return known
  },
}

/** What renders of a preview share. */
export type PreviewParts = Pick<VariantParts, 'entropy' | 'builders'>

/** Loads them. */
export async function previewParts(): Promise<PreviewParts> {
  const { DIALECT_BUILDERS } = await import('../../dialects/dialect-builders.ts')
  return { entropy: SAME_DRAWS, builders: DIALECT_BUILDERS }
}

/** Compares all Bundles. Unchanged Bundles are omitted. */
export function preview({ before, after, reports, bundle, parts, rules = [] }: PreviewInput): BundlePreview[] {
  const old = new Map(before.facts.bundles.map((one) => [keyOfObject(one), one]))
  const keys = [...new Set([...old.keys(), ...after.facts.bundles.map(keyOfObject)])].sort()
  return keys
    .filter((key) => bundle === undefined || key === bundle || key.split('/')[1] === bundle)
    .flatMap((key) => {
      const now = after.facts.bundles.find((one) => keyOfObject(one) === key)
      const was = old.get(key)
      const found = now
        ? previewBundle(now, { was, before, after, reports, parts, rules })
        : was && after.removed?.has(key)
          ? previewRemoval(was, { before, parts })
          : undefined
      return found && isNews(found) ? [found] : []
    })
}

/** Whether there are differences. */
function isNews({ groups, unknown }: BundlePreview): boolean {
  return unknown !== undefined || groups.some(isDifference)
}

/** Whether a group is a difference. Unchanged groups, and groups that failed before too, are not. */
export function isDifference({ effect, isOld }: DiffGroup): boolean {
  return effect !== 'same' && isOld !== true
}

interface Sides extends Omit<PreviewInput, 'bundle'> {
  readonly was: Bundle | undefined
}

function previewBundle(
  now: Bundle,
  { was, before, after, reports, parts, rules = [] }: Sides,
): BundlePreview | undefined {
  const key = keyOfObject(now)
  const oldNames = was ? selectedNames(was, before.facts) : []
  const isSamePlacement =
    was !== undefined && jsonEqual(placementOf(was, before.facts)?.spec, placementOf(now, after.facts)?.spec)
  const names = isSamePlacement ? oldNames : selectedNames(now, after.facts)
  const base = {
    bundle: key,
    isNew: was === undefined,
    selected: { before: oldNames.length, after: names.length },
    gained: names.filter((name) => !oldNames.includes(name)),
    lost: oldNames.filter((name) => !names.includes(name)),
  }
  const incomparable = after.unknown?.get(key)
  if (incomparable !== undefined) return { ...base, groups: [], unknown: incomparable }
  const earlier = was && before.earlierOf?.(key)
  if (earlier?.unknown !== undefined) return { ...base, groups: [], unknown: earlier.unknown, from: earlier.release }
  const [old, fresh] = [was && !earlier ? contentOf(was, before) : undefined, contentOf(now, after)]
  const unknown = fresh.unknown ?? old?.unknown
  if (unknown !== undefined) {
    const isSame = was !== undefined && jsonEqual(was.spec, now.spec) && jsonEqual(oldNames, names)
    return isSame ? undefined : { ...base, groups: [], unknown }
  }
  // Equal inputs and equal selections give equal results.
  if (old && old.digest === fresh.digest && jsonEqual(old.recipe, fresh.recipe) && jsonEqual(oldNames, names)) {
    return undefined
  }
  const isInCluster = [old?.recipe, fresh.recipe].some((recipe) => recipe?.at === 'Agent')
  const delivered =
    was && earlier
      ? earlier.parts.flatMap(({ files, clusters }) =>
          renderedFrom(was, files, { side: before, names: clusters.filter((one) => oldNames.includes(one)), parts }),
        )
      : old
        ? rendered(old, oldNames, { facts: before.facts, parts })
        : []
  const fully = rendered(fresh, names, { facts: after.facts, parts })
  const groups = diffBundle({ before: delivered, after: fully, drift: driftOf(key, reports) })
  const bad = earlier?.heldBack
  const held = was && bad?.files && renderedFrom(was, bad.files, { side: before, names: oldNames, parts })
  return {
    ...base,
    ...compact({ inCluster: isInCluster ? (true as const) : undefined }),
    groups,
    ...compact({
      rules: rulesFor(now, fully, { rules, facts: after.facts }),
      from: earlier?.release,
      heldBack: bad
        ? heldBackPreview(bad, groups, diffBundle({ before: delivered, after: held ?? [], drift: new Map() }))
        : undefined,
    }),
  }
}

/** Undefined where the rules find nothing. */
function rulesFor(
  bundle: Bundle,
  contents: readonly DiffContent[],
  { rules, facts }: { readonly rules: readonly ContentRule[]; readonly facts: FleetFacts },
): readonly RulePreview[] | undefined {
  if (rules.length === 0) return undefined
  const byName = new Map(facts.clusters.map((cluster) => [cluster.metadata.name, clusterInputsOf(cluster)]))
  const ruled = contents.flatMap(({ clusters, content }) =>
    content.kind === 'Objects' && bundle.spec.render?.at !== 'Agent'
      ? [{ objects: content.objects, clusters: clusters.flatMap((name) => byName.get(name) ?? []) }]
      : [],
  )
  const found = foundByRules(bundle, ruled, { rules, facts }).map(({ finding, clusters }) =>
    compact({
      policy: finding.policy,
      action: finding.action,
      message: describeFinding(finding),
      exception: finding.exception?.metadata.name,
      clusters,
    }),
  )
  return found.length === 0 ? undefined : found
}

/** A Bundle that is removed from all of its clusters. */
function previewRemoval(was: Bundle, { before, parts }: Pick<Sides, 'before' | 'parts'>): BundlePreview {
  const lost = selectedNames(was, before.facts)
  const base = { bundle: keyOfObject(was), isNew: false, selected: { before: lost.length, after: 0 }, gained: [], lost }
  const { unknown, ...old } = contentOf(was, before)
  if (unknown !== undefined) return { ...base, groups: [], unknown }
  const delivered = rendered(old, lost, { facts: before.facts, parts })
  return { ...base, groups: diffBundle({ before: delivered, after: [], drift: new Map() }) }
}

/** A Bundle rendered from given files instead of the files of its Source. */
export function renderedFrom(
  bundle: Bundle,
  files: Files,
  {
    side,
    names,
    parts,
  }: { readonly side: PreviewSide; readonly names: readonly string[]; readonly parts: PreviewParts },
): DiffContent[] {
  const content = contentOf(bundle, { ...side, filesOf: () => files })
  return rendered(content, names, { facts: side.facts, parts })
}

/** Compares the change with the content that was rolled back, cluster by cluster. */
function heldBackPreview(
  bad: HeldBack,
  groups: readonly DiffGroup[],
  badGroups: readonly DiffGroup[],
): HeldBackPreview {
  const heldClusters: string[] = []
  const bringsBack = new Set<string>()
  for (const group of groups.filter(({ effect }) => effect === 'changed')) {
    for (const cluster of group.clusters) {
      const was = badGroups.find(({ effect, clusters }) => effect === 'changed' && clusters.includes(cluster))
      if (!was) continue
      const known = new Set(was.objects.flatMap(changesOf))
      const common = group.objects.flatMap((object) => changesOf(object).filter((change) => known.has(change)))
      const isAll = jsonEqual([group.objects, group.options ?? null], [was.objects, was.options ?? null])
      if (isAll) heldClusters.push(cluster)
      else for (const change of common) bringsBack.add(change)
    }
  }
  const { release, by, reason, revision } = bad
  return compact({ release, by, reason, revision, heldClusters: heldClusters.sort(), bringsBack: [...bringsBack] })
}

function changesOf({ object, change, fields }: ObjectDiff): string[] {
  if (change === 'added') return [`+${object}`]
  if (change === 'removed') return [`-${object}`]
  return fields.map((field) => `${object}: ${formatFieldChange([field]).join(', ')}`)
}

interface Content {
  readonly spec: Bundle['spec']
  readonly recipe?: BundleRecipe
  readonly files: Files
  readonly digest: string
  /** A missing input fails all clusters. */
  readonly problem?: string
  readonly unknown?: string
}

function contentOf(bundle: Bundle, { facts, filesOf, textsIn }: PreviewSide): Content {
  const namespace = bundle.metadata.namespace ?? 'default'
  const key = `${namespace}/${bundle.spec.source?.name}`
  const source = facts.sources.find((one) => keyOfObject(one) === key)
  const repository = bundle.spec.source && filesOf(key, keyOfObject(bundle))
  if (bundle.spec.source && !repository) {
    const unknown = `the content comes from Source ${bundle.spec.source.name}, which has another repository`
    return { spec: bundle.spec, files: new Map(), digest: '', unknown }
  }
  const files = selected(repository ?? new Map(), source)
  try {
    const recipe = recipeFor(bundle, facts, textsIn(namespace))
    const digested = [...files].map(([path, bytes]) => ({ path, digest: digestOfFile(bytes) }))
    const digest = bundle.spec.source ? contentDigest(digested, recipe) : ''
    return { spec: bundle.spec, recipe, files, digest }
  } catch (caught) {
    if (!(caught instanceof CliError)) throw caught
    return { spec: bundle.spec, files, digest: '', problem: caught.report.what }
  }
}

// Bundles share the file maps, which are the keys of the render cache.
const digests = new WeakMap<Uint8Array, Digest>()
const parts = new WeakMap<Files, Map<string, Files>>()

function digestOfFile(bytes: Uint8Array): Digest {
  const known = digests.get(bytes) ?? digestOf(bytes)
  digests.set(bytes, known)
  return known
}

/** The files of the repository that the Source includes. */
function selected(files: Files, source: Source | undefined): Files {
  if (!source || (source.spec.paths === undefined && source.spec.ignore === undefined)) return files
  const known = parts.get(files) ?? new Map<string, Files>()
  parts.set(files, known)
  const key = canonicalJson([source.spec.paths ?? null, source.spec.ignore ?? null])
  const isWanted = selects(source.spec)
  const part = known.get(key) ?? new Map([...files].filter(([path]) => isWanted(path)))
  known.set(key, part)
  return part
}

function rendered(
  { spec, recipe, files, problem }: Content,
  names: readonly string[],
  { facts, parts }: { readonly facts: FleetFacts; readonly parts: PreviewParts },
): DiffContent[] {
  if (names.length === 0) return []
  if (!recipe) return [{ clusters: names, content: { kind: 'Problem', problem: problem ?? '' } }]
  const wanted = new Set(names)
  const clusters = facts.clusters.filter(({ metadata }) => wanted.has(metadata.name)).map(clusterInputsOf)
  const { variants } = renderVariants({ recipe, clusters, frozen: {} }, { files, ...parts })
  return variants.map(({ result, clusters: those, variants: own }) => ({
    clusters: those,
    content:
      result.ok === true
        ? { kind: 'Objects', objects: result.objects, options: optionsFor(spec, own ?? []) }
        : result.ok === 'prepared'
          ? { kind: 'Objects', objects: madeOf(result), options: optionsFor(spec, own ?? []) }
          : result.ok === 'skip'
            ? { kind: 'Skip', by: result.by }
            : { kind: 'Problem', problem: describeProblems(result.problems) },
  }))
}

/** The inputs of a render in the cluster as objects: each file, and the options. */
function madeOf({ recipe, files: own }: PreparedContent): UnknownObject[] {
  const apiVersion = 'render.flotilla.dev/v1'
  const decoder = new TextDecoder()
  return [
    {
      apiVersion,
      kind: 'Options',
      metadata: { name: recipe.bundle },
      spec: JSON.parse(JSON.stringify(recipe)) as unknown,
    },
    ...[...own].map(([name, bytes]) => ({
      apiVersion,
      kind: 'File',
      metadata: { name },
      lines: decoder.decode(bytes).split('\n'),
    })),
  ]
}

function placementOf(bundle: Bundle, facts: FleetFacts): Placement | undefined {
  const key = `${bundle.metadata.namespace ?? 'default'}/${bundle.spec.placement}`
  return facts.placements.find((one) => keyOfObject(one) === key)
}

/** The selected clusters: the decision of the hub for an unchanged Placement, else a new decision. */
export function selectedNames(bundle: Bundle, facts: FleetFacts): readonly string[] {
  const placement = placementOf(bundle, facts)
  if (!placement) return []
  const { namespace = 'default', name } = placement.metadata
  const pages = facts.decisions.filter(
    ({ metadata, spec }) => metadata.namespace === namespace && spec.placement === name,
  )
  const isDecided = placement.status?.decided !== undefined && pages.length > 0
  const selection = isDecided ? incumbentsOf(decisionsOnPages(pages)) : selectionOf(placement, facts).selected
  const known = new Set(facts.clusters.map(({ metadata }) => metadata.name))
  return [...selection.keys()].filter((one) => known.has(one)).sort()
}

function driftOf(bundle: string, reports: readonly ClusterReport[]): Map<string, readonly DriftedObject[]> {
  return new Map(
    reports.flatMap(({ metadata, spec }) => {
      const drift = spec.bundles.find((row) => row.bundle === bundle)?.drift
      return drift && drift.length > 0 ? [[metadata.name, drift] as const] : []
    }),
  )
}
