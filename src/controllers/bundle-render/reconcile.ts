import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { compileHealthCheck } from '../../lua/health-check.ts'
import { compileHealthRules, withUsedRules } from '../../plan/health/health-rules.ts'
import { objectOptions } from '../../plan/objects/object-options.ts'
import { withoutBad } from '../../plan/release/bad-revisions.ts'
import { bundleRevision, decideRelease, existingOf, newestRelease } from '../../plan/release/decide-release.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import {
  coversClusters,
  hasSameContent,
  isReleased,
  MAX_VARIANTS,
  releaseContent,
} from '../../plan/release/release-content.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import { excludeObjects, idOf } from './exclude-objects.ts'
import { contentFor, optionsFor, variantKey } from '../../plan/release/variants.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'
import type { SharedVariant } from '../../render/bundle/render-variants.ts'
import { describeProblems } from '../../render/render-result.ts'
import { renderDelivered, showPlaintext } from './delivered-secrets.ts'
import { refuse } from '../caches/namespace-projects.ts'
import { guardGrowth } from './guard-growth.ts'
import { guardObjects } from './guard-objects.ts'
import { refuseContent, takeRendering, withExecutor } from './project-content.ts'
import { lintPorts, showLint } from './lint.ts'
import { showGathering, stillWaits } from './waiting-content.ts'
import { badRevisionsIn, isMarkedBad, showReverted } from './reverted-content.ts'
import type { BundleRenderPorts } from './ports.ts'
import { setRolloutCondition } from './rollout-condition.ts'
import { denyContent } from './rules/deny-content.ts'
import { showRules } from './rules/show-rules.ts'
import type { RuleViewPorts } from './rules/show-rules.ts'
import { recipeOf } from './recipe.ts'
import type { FoundRecipe } from './recipe.ts'
import { hideInputs } from './secret-inputs.ts'
import { showUnstaged } from './show-unstaged.ts'
import { storeFiles, storeSet } from './store-set.ts'
import type { StoredContent } from './store-set.ts'

/** Interval at which ConfigMaps and Secrets are read again, because the hub does not watch them. */
const POLL_MS = 60_000
const KEPT = 'Nothing of the Bundle is rendered or delivered; clusters keep what they run.'
/** Stands for a cluster while no cluster is selected: content that does not depend on the cluster can be rendered. */
const NO_CLUSTER: ClusterInputs = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

/** Renders a Bundle and offers new content to release-gather. */
export function bundleRenderReconciler(ports: BundleRenderPorts): Reconciler<Bundle> {
  const forLint = lintPorts(ports)
  const { ruleBook, overridesOf } = ports
  const forRules: RuleViewPorts = { ruleBook, overridesOf, sets: forLint, known: new Map() }
  return {
    name: 'bundle-render',
    async reconcile(draft: Draft<Bundle>, context: Context): Promise<Result> {
      const bundle = draft.next
      if (bundle.metadata.deletionTimestamp) return {}
      if (bundle.spec.suspend) return showSuspended(draft)
      draft.conditions.remove('Suspended')
      const status = (bundle.status ??= {})
      // Recorded also when the pass fails: the other Bundles of the commit do not wait for this Bundle.
      const artifact = artifactOf(bundle, ports)
      if (artifact) status.artifact = artifact
      refuse(ports.refusalOf(bundle), KEPT)
      const found = await recipeOf(withExecutor(bundle, ports), ports, context.clock.now())
      const existing = ports.releasesOf(keyOf(bundle)).map((release) => existingOf(release, bundle.metadata.name))
      const newest = newestRelease(existing)
      const selected = selectedOf(bundle, ports)
      showUnplaced(draft, selected, newest)
      showUnstaged(draft, selected?.length ?? 0, planOf(bundle, ports))
      if (await stillWaits(bundle, newest, found, ports)) return showGathering(draft, ports, context.clock.now())
      const { held } = status
      delete status.held
      const isLifted = (status.reverted ?? []).some((name) => !isMarkedBad(name, bundle, ports))
      const wanted =
        !isLifted && isNewestReleased(draft, newest, found) && coversClusters(newest, selected ?? [])
          ? { release: newest, isNew: false }
          : await wantedRelease(draft, { existing, newest, found, selected, held }, ports, context)

      if (found.revision !== undefined) status.sourceRevision = found.revision
      const { release } = wanted
      const content = { bundle, release, recipe: found.digest, artifact }
      if (!wanted.isNew) await refuseContent(bundle, release, ports, false)
      if (wanted.isNew && !(await ports.offers.offer(content, context)))
        return showGathering(draft, ports, context.clock.now())
      status.release = release.name
      status.recipe = found.digest
      status.revision = bundleRevision(release)
      await showLint(draft, release, selected ?? [], forLint)
      await showRules(draft, { release, selected: selected ?? [], now: context.clock.now() }, forRules)
      showReverted(draft, ports)
      setRolloutCondition(draft.conditions, release.name, ports.rolloutOf(bundle, release.name))
      const waits = [...(found.endsInMs === undefined ? [] : [found.endsInMs]), ...(found.isPolled ? [POLL_MS] : [])]
      return waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }
    },
  }
}

/** The remaining conditions stay: they are about the content that clusters have. */
function showSuspended({ conditions, next }: Draft<Bundle>): Result {
  const { release } = next.status ?? {}
  const kept = release === undefined ? 'Nothing of the Bundle is delivered.' : `Clusters keep Release ${release}.`
  conditions.set('Suspended', 'True', 'Suspended', `spec.suspend is true, so no new content is rendered. ${kept}`)
  return {}
}

function artifactOf({ spec, metadata }: Bundle, ports: BundleRenderPorts): Digest | undefined {
  return spec.source && ports.sourceOf(metadata.namespace ?? '', spec.source.name)?.status?.artifact?.digest
}

function planOf({ spec, metadata }: Bundle, ports: BundleRenderPorts): RolloutPlan | undefined {
  return spec.rollout?.plan === undefined ? undefined : ports.planOf(metadata.namespace ?? '', spec.rollout.plan)
}

function selectedOf(bundle: Bundle, ports: BundleRenderPorts): readonly SelectedCluster[] | undefined {
  return ports.selectedBy(bundle.metadata.namespace ?? '', bundle.spec.placement, keyOf(bundle))
}

/** Condition Unplaced, only after it was True once: the Bundle reaches no cluster. */
function showUnplaced(
  { next, conditions }: Draft<Bundle>,
  selected: readonly SelectedCluster[] | undefined,
  newest: ExistingRelease | undefined,
): void {
  if (!selected) return
  const { placement } = next.spec
  const isReached = selected.some(({ inputs }) => !newest || contentFor(newest, inputs).kind !== 'Skip')
  if (selected.length === 0) {
    const message = `Placement ${placement} selects no cluster, so the Bundle reaches none; see flotilla get placement ${placement} -n ${next.metadata.namespace ?? ''} -o wide.`
    conditions.set('Unplaced', 'True', 'PlacementEmpty', message)
  } else if (!isReached) {
    const message = `Variants of the Bundle exclude all ${plural(selected.length, 'cluster')} that Placement ${placement} selects.`
    conditions.set('Unplaced', 'True', 'AllExcluded', message)
  } else if (conditions.get('Unplaced')?.status === 'True') {
    conditions.set('Unplaced', 'False', 'Placed', 'The Bundle reaches clusters.')
  }
}

function isNewestReleased(
  { next, conditions }: Draft<Bundle>,
  newest: ExistingRelease | undefined,
  { digest }: FoundRecipe,
): newest is ExistingRelease {
  return isReleased(next, conditions.get('Rendered'), newest, digest)
}

interface Wish {
  readonly existing: readonly ExistingRelease[]
  readonly newest: ExistingRelease | undefined
  readonly found: FoundRecipe
  readonly selected: readonly SelectedCluster[] | undefined
  /** The change that the guard stopped in the last pass. */
  readonly held: NonNullable<Bundle['status']>['held']
}

/** Renders what is missing; returns the newest Release when it has this content, otherwise the Release to make. */
async function wantedRelease(
  draft: Draft<Bundle>,
  wish: Wish,
  ports: BundleRenderPorts,
  context: Context,
): Promise<{ readonly release: ExistingRelease; readonly isNew: boolean }> {
  const bundle = draft.next
  const { newest, found, selected = [] } = wish
  // Released content stays as it is; only clusters without content in the newest Release are rendered.
  const kept = !bundle.status?.reverted && isNewestReleased(draft, newest, found) ? newest : undefined
  const clusters = selected.map(({ inputs }) => inputs)
  const missing = kept ? clusters.filter((inputs) => contentFor(kept, inputs).kind === 'Unknown') : clusters
  const rendered = kept && missing.length === 0 ? undefined : await renderFor(draft, missing, { wish, ports, context })
  const variants = [...(kept?.variants ?? []), ...(rendered?.variants ?? [])]
  const bytes = Math.max(kept?.bytes ?? 0, rendered?.bytes ?? 0)
  refuseTooManyVariants(draft, variants)
  const marks = ports.releasesOf(keyOf(bundle)).flatMap((release) => badRevisionsIn(release, bundle.metadata.name))
  const allowed = withoutBad(releaseContent(variants), newest, marks, clusters)
  const { content } = allowed
  if (allowed.by.length > 0) bundle.status!.reverted = allowed.by.slice(0, 16)
  else delete bundle.status!.reverted
  const { placement } = bundle.spec
  const decision = decideRelease({
    bundle: bundle.metadata.name,
    generation: bundle.metadata.generation ?? 1,
    set: content.set,
    placement,
    existing: wish.existing,
    highestAssigned: ports.highestAssigned(keyOf(bundle)),
    isSame: (release) => release.placement === placement && hasSameContent(release, content, selected),
  })
  if (decision.kind === 'Keep') return { release: decision.release, isNew: false }
  const release: ExistingRelease = {
    name: decision.name,
    generation: decision.generation,
    placement,
    ...content,
    ...compact({ bytes: bytes === 0 ? undefined : bytes, revision: found.revision, origin: found.origin }),
  }
  await refuseContent(bundle, release, ports, true)
  const isDeciding = wish.selected === undefined && ports.isDeciding(bundle.metadata.namespace ?? '', placement)
  guardGrowth(bundle, release, selected, { newest, isDeciding, now: context.clock.now(), held: wish.held })
  await guardObjects(bundle, release, selected, { ports, now: context.clock.now(), held: wish.held })
  return { release, isNew: true }
}

function refuseTooManyVariants(draft: Draft<Bundle>, variants: readonly ReleaseVariant[]): void {
  if (variants.length <= MAX_VARIANTS) return
  const message = `${variants.length} distinct contents are more than the ${MAX_VARIANTS} one Release can have; use fewer labels and values of the clusters in the content.`
  draft.conditions.set('Rendered', 'False', 'TooManyVariants', message)
  throw new Stalled('TooManyVariants', message)
}

interface Rendering {
  readonly wish: Wish
  readonly ports: BundleRenderPorts
  readonly context: Context
}

/** Renders for clusters and stores the sets; throws when no cluster has content. */
async function renderFor(
  draft: Draft<Bundle>,
  clusters: readonly ClusterInputs[],
  { wish: { found, selected, newest }, ports, context }: Rendering,
): Promise<{ readonly variants: readonly ReleaseVariant[]; readonly bytes: number }> {
  const key = keyOf(draft.next)
  takeRendering(key, ports, context.clock.now())
  const before = await ports.frozenOf(key)
  const request = { recipe: found.recipe, clusters: clusters.length === 0 ? [NO_CLUSTER] : clusters, frozen: before }
  const { frozen, notes, plaintext, ...rendered } = await renderDelivered(request, newest, {
    ports,
    signal: context.signal,
  })
  showPlaintext(draft, plaintext)
  const kept = excludeObjects(rendered.variants, draft.next.spec)
  showExcluded(draft, kept.excluded)
  const content = { bundle: draft.next, found, clusters: request.clusters, variants: kept.variants }
  const variants = hideInputs(draft.next, found.recipe, await denyContent(content, ports, context.clock.now()))
  if (Object.keys(frozen).length > Object.keys(before).length) await ports.keepFrozen(key, frozen)
  if (clusters.length === 0 && variants.some(({ when }) => Object.keys(when).length > 0)) {
    const why = selected === undefined ? 'The Placement has not been decided yet' : 'No cluster is selected'
    draft.conditions.set('Rendered', 'Unknown', 'NoClusters', `${why}, and the content depends on the cluster.`)
    throw new Waiting('NoClusters', `${why}, and the content depends on the cluster.`, POLL_MS)
  }
  const stored: ReleaseVariant[] = []
  let objects = 0
  let bytes = 0
  for (const variant of variants) {
    const one = await storeVariant(draft, variant, ports)
    objects = Math.max(objects, one.size)
    bytes = Math.max(bytes, one.bytes)
    stored.push(one.variant)
  }
  show(draft, { variants, stored, objects, what: whatOf(draft.next, found), notes })
  return { variants: stored, bytes }
}

interface StoredVariant extends Pick<StoredContent, 'size' | 'bytes'> {
  readonly variant: ReleaseVariant
}

async function storeVariant(
  draft: Draft<Bundle>,
  { when: reads, result, variants }: SharedVariant,
  ports: BundleRenderPorts,
): Promise<StoredVariant> {
  const key = variantKey(reads)
  const failed = (problem: string) => ({ variant: { ...key, problem: problem.slice(0, 4096) }, size: 0, bytes: 0 })
  const kept = ({ set, size, bytes }: StoredContent) => ({ variant: { ...key, set }, size, bytes })
  if (result.ok === 'skip') return { variant: { ...key, skip: result.by }, size: 0, bytes: 0 }
  if (!result.ok) return failed(describeProblems(result.problems))
  const options = optionsFor(withExecutor(draft.next, ports).spec, variants ?? [])
  if (result.ok === 'prepared') {
    const unusable = wrongOption(options ?? {}, [])
    if (unusable !== undefined) return failed(unusable)
    return kept(await storeFiles(options, result, ports))
  }
  if (result.objects.length === 0) {
    return failed(draft.next.spec.exclude ? 'it holds no objects besides those of spec.exclude' : 'it holds no objects')
  }
  const wrong = wrongOption(options ?? {}, result.objects)
  if (wrong !== undefined) return failed(wrong)
  const about = { bundle: keyOf(draft.next), options: options && withUsedRules(options, result.objects.map(idOf)) }
  const stored = await storeSet(about, result.objects, ports)
  return 'problem' in stored ? failed(stored.problem) : kept(stored)
}

/**
 * Reads the options that agents will read from the objects, so that the author sees a mistake in the Bundle and not
 * first on each cluster.
 */
function wrongOption(options: BundleOptions, objects: readonly UnknownObject[]): string | undefined {
  const judgement = compileHealthRules(options, compileHealthCheck)
  if (!judgement.ok) return `spec.${judgement.problem}`
  for (const object of objects) {
    const read = objectOptions(options, object)
    if (!read.ok) return read.problem
  }
  return undefined
}

function whatOf({ spec }: Bundle, { revision }: FoundRecipe): string {
  if (!spec.source) return spec.manifestsFrom ? 'spec.manifestsFrom' : 'spec.manifests'
  return `${JSON.stringify(spec.source.path ?? '.')} of Source ${spec.source.name} at ${revision}`
}

interface Shown {
  readonly variants: readonly SharedVariant[]
  readonly stored: readonly ReleaseVariant[]
  readonly objects: number
  readonly what: string
  readonly notes: readonly string[]
}

function showExcluded(draft: Draft<Bundle>, excluded: readonly string[]): void {
  const status = (draft.next.status ??= {})
  if (excluded.length === 0) delete status.excluded
  else status.excluded = [...excluded]
}

/** Sets the condition Rendered; throws Stalled when no variant has content. */
function show(draft: Draft<Bundle>, { variants, stored, objects, what, notes }: Shown): void {
  const failing = stored.findIndex(({ problem }) => problem !== undefined)
  const problem = stored[failing]?.problem ?? ''
  if (!stored.some(({ set }) => set !== undefined)) {
    const message =
      failing < 0
        ? `Every selected cluster is left out by ${stored[0]?.skip ?? 'a variant'}. Clusters keep what they run.`
        : `Cannot render ${what}: ${problem}. Clusters keep what they run.`
    const problems = variants.flatMap(({ result }) => (result.ok === false ? result.problems : []))
    const isPlaintext = problems.some((one) => one.plaintext)
    const isDenied = problems.some(({ rule }) => rule !== undefined)
    const reason = isPlaintext ? 'PlaintextSecret' : isDenied ? 'RuleDenies' : 'RenderFailed'
    if (reason === 'RuleDenies') draft.conditions.set('RulesMet', 'False', 'Denied', message)
    draft.conditions.set('Rendered', 'False', reason, message)
    throw new Stalled(reason, message)
  }
  const sets = new Set(stored.flatMap(({ set }) => (set === undefined ? [] : [set]))).size
  const isPrepared = variants.some(({ result }) => result.ok === 'prepared')
  const noun = isPrepared ? 'file' : 'object'
  const count = plural(objects, noun)
  const told = notes.length === 0 ? '' : ` Note: ${notes.slice(0, 3).join('; ')}.`
  const how = isPrepared ? 'Made ready for rendering in the clusters,' : 'Rendered to'
  const rendered = sets === 1 ? `${how} ${count}.` : `${how} up to ${count}, ${sets} distinct contents.`
  const shared = `${rendered}${told}`
  if (failing < 0) {
    draft.conditions.set('Rendered', 'True', 'Rendered', shared)
    return
  }
  const who = variants.flatMap(({ clusters }, at) => (stored[at]?.problem === undefined ? [] : clusters))
  const names = nameSome(who)
  const message = `${shared} Not for ${names}: ${problem}. They keep what they run.`
  draft.conditions.set('Rendered', 'True', 'PartlyRendered', message.slice(0, 4096))
}
