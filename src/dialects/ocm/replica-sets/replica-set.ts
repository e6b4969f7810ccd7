// Tested by src/dialects/ocm/replica-sets/replica-set.sim.test.ts
/** Delivers a ManifestWorkReplicaSet through Bundles, and writes their state into its status. */
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { isOwnTaint } from '../faces/sync-faces.ts'
import type { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import { bundleNameOf, COMPILED, compileSet } from './compile-set.ts'
import type { CompiledRef, PlacedRef } from './compile-set.ts'
import { groupsOfPages } from '../rollout/decided-groups.ts'
import type { ManifestWorkReplicaSet } from './kinds.ts'
import { findingsCondition } from '../works/work-status.ts'
import { setStatus } from './set-status.ts'
import type { ClusterWork, RefFacts, SetStatus } from './set-status.ts'
import { reportedWork } from './work-projection.ts'

/** The finalizer of Open Cluster Management's controller. */
const FINALIZER = 'work.open-cluster-management.io/manifest-work-cleanup'
const REFUSED_MS = 60_000
const LOOK_AGAIN_MS = 5_000

/** The ports of the reconciler. */
export interface ReplicaSetPorts {
  placementOf(namespace: string, name: string): OcmPlacement | undefined
  pagesOf(placement: OcmPlacement): readonly OcmPlacementDecision[]
  faceOf(cluster: string): ManagedCluster | undefined
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined
  /** Objects of a kind that were made for a set. */
  madeFor(kind: Kind, uid: string): readonly KubeObject[]
  apply(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  remove(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  /** The newest report of the cluster that has this name. */
  reportOf(cluster: string): ClusterReport | undefined
  /** Whether a Rollout still removes a Bundle. */
  isLeft(namespace: string, bundle: string): boolean
  readonly pace: KeyedThrottle
}

const MADE_KINDS: readonly Kind[] = [Bundle, Placement, RolloutPlan]

export function replicaSetReconciler(ports: ReplicaSetPorts): Reconciler<ManifestWorkReplicaSet> {
  /** Deleted sets whose Bundles were gone in an earlier pass. */
  const gone = new Set<string>()
  return {
    name: 'ocm-replica-set',
    async reconcile(draft: Draft<ManifestWorkReplicaSet>, context: Context): Promise<Result> {
      const set = draft.next
      const { metadata } = set
      if (metadata.deletionTimestamp) return remove(draft, { ports, context, gone })
      if (!metadata.finalizers?.includes(FINALIZER)) {
        metadata.finalizers = [...(metadata.finalizers ?? []), FINALIZER]
        return {}
      }
      const placed: PlacedRef[] = []
      for (const ref of set.spec.placementRefs) {
        const found = placedRef(set, ref, ports)
        if (typeof found === 'string') return refuse(draft, ['PlacementVerified', 'PlacementDecisionNotFound', found])
        placed.push(found)
      }
      const compiled = compileSet(set, placed)
      if ('problem' in compiled) return refuse(draft, ['ManifestworkApplied', 'NotAsExpected', compiled.problem])
      const refused = await write(set, compiled.refs, ports, context)
      if (refused !== undefined) return refuse(draft, ['ManifestworkApplied', 'NotAsExpected', refused], REFUSED_MS)
      await prune(set, compiled.refs, ports, context)
      const ignored = findingsCondition(compiled.findings)
      if (ignored) draft.conditions.set('FieldsHonored', 'False', 'FieldsIgnored', ignored.message)
      else draft.conditions.remove('FieldsHonored')
      return show(draft, setStatus(compiled.refs.map((ref) => factsOf(set, ref, ports))), ports)
    },
  }
}

function placedRef(
  set: ManifestWorkReplicaSet,
  { name, rolloutStrategy }: ManifestWorkReplicaSet['spec']['placementRefs'][number],
  ports: ReplicaSetPorts,
): PlacedRef | string {
  const { namespace = '' } = set.metadata
  const placement = ports.placementOf(namespace, name)
  if (!placement) return `Placement ${name} does not exist in namespace ${namespace}.`
  const pages = ports.pagesOf(placement)
  if (pages.length === 0) return `Placement ${name} has no PlacementDecisions yet.`
  const groups = groupsOfPages(pages)
  const decided = new Set(groups.flatMap(({ clusters }) => clusters))
  const before = ports.find(Placement, namespace, bundleNameOf(set, name)) as Placement | undefined
  const kept = (before?.spec.clusters ?? []).filter((cluster) => !decided.has(cluster) && isAway(ports.faceOf(cluster)))
  return {
    name,
    strategy: rolloutStrategy ?? { type: 'All' },
    groups,
    tolerations: placement.spec?.tolerations,
    kept,
  }
}

/** A cluster that cannot be reached leaves the decisions by a taint of the hub; it keeps what it has. */
function isAway(face: ManagedCluster | undefined): boolean {
  if (!face?.spec.hubAcceptsClient || face.metadata.deletionTimestamp !== undefined) return false
  return (face.spec.taints ?? []).some(isOwnTaint)
}

function refuse(
  { conditions }: Draft<ManifestWorkReplicaSet>,
  [type, reason, message]: readonly [string, string, string],
  requeueAfterMs?: number,
): Result {
  conditions.set(type, 'False', reason, message)
  return requeueAfterMs === undefined ? {} : { requeueAfterMs }
}

/** Writes what is missing or different; returns why an object cannot be written. */
async function write(
  set: ManifestWorkReplicaSet,
  refs: readonly CompiledRef[],
  ports: ReplicaSetPorts,
  context: Context,
): Promise<string | undefined> {
  for (const { kind, object } of refs.flatMap(({ objects }) => objects)) {
    const { namespace = '', name } = object.metadata
    const present = ports.find(kind, namespace, name)
    const isOurs = present?.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid)
    if (present && !isOurs)
      return `${kind.kind} ${name} of ${kind.group} is there already and was not made for this ManifestWorkReplicaSet; rename one of them.`
    if (present?.metadata.annotations?.[COMPILED] === object.metadata.annotations?.[COMPILED]) continue
    try {
      await ports.apply(kind, object, context.signal)
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden', 'Invalid')) throw caught
      return `${kind.kind} ${name} cannot be written: ${caught.message}`.slice(0, 4096)
    }
    context.log.info({ kind: kind.kind, object: name }, 'made for a ManifestWorkReplicaSet')
  }
  return undefined
}

/** Deletes what entries that are gone have made; a Bundle first, because its Placement says where it is. */
async function prune(
  set: ManifestWorkReplicaSet,
  refs: readonly CompiledRef[],
  ports: ReplicaSetPorts,
  { signal, log }: Context,
): Promise<void> {
  const wanted = new Set(refs.map(({ bundle }) => bundle))
  for (const kind of MADE_KINDS) {
    const left = ports.madeFor(kind, set.metadata.uid ?? '').filter(({ metadata }) => !wanted.has(metadata.name))
    for (const object of left) {
      if (object.metadata.deletionTimestamp) continue
      await ports.remove(kind, object, signal)
      log.info({ kind: kind.kind, object: object.metadata.name }, 'no longer wanted')
    }
    if (kind === Bundle && left.length > 0) return
  }
}

/** With Background the set goes when its Bundles are deleted; with Foreground when no cluster has them any more. */
async function remove(
  draft: Draft<ManifestWorkReplicaSet>,
  { ports, context, gone }: { readonly ports: ReplicaSetPorts; readonly context: Context; readonly gone: Set<string> },
): Promise<Result> {
  const { metadata, spec } = draft.next
  const { finalizers = [], namespace = '', uid = '' } = metadata
  if (!finalizers.includes(FINALIZER)) return {}
  const bundles = ports.madeFor(Bundle, uid)
  for (const bundle of bundles)
    if (!bundle.metadata.deletionTimestamp) await ports.remove(Bundle, bundle, context.signal)
  if (spec.cascadeDeletionPolicy === 'Foreground') {
    const again = { requeueAfterMs: LOOK_AGAIN_MS, unchanged: true }
    if (bundles.length > 0) return again
    // The Rollout that removes a Bundle is written before the Bundle goes, but its cache can be behind.
    if (!gone.has(uid)) {
      gone.add(uid)
      return again
    }
    if (spec.placementRefs.some(({ name }) => ports.isLeft(namespace, bundleNameOf(draft.next, name)))) return again
  }
  gone.delete(uid)
  metadata.finalizers = finalizers.filter((one) => one !== FINALIZER)
  return {}
}

function factsOf(set: ManifestWorkReplicaSet, ref: CompiledRef, ports: ReplicaSetPorts): RefFacts {
  const { namespace = '' } = set.metadata
  const found = ports.find(Bundle, namespace, ref.bundle) as Bundle | undefined
  const wanted = ref.objects.find(({ kind }) => kind === Bundle)?.object
  const placement = ports.find(Placement, namespace, ref.bundle) as Placement | undefined
  const base = { name: ref.name, groups: ref.groups, clusters: ref.clusters }
  // Right after a write the cache can be behind: then nothing is known to be current.
  const isCurrent =
    found !== undefined &&
    found.metadata.annotations?.[COMPILED] === wanted?.metadata.annotations?.[COMPILED] &&
    (found.status?.observedGeneration ?? 0) >= (found.metadata.generation ?? 1)
  const target = isCurrent ? found.status?.revision?.generation : undefined
  const works = new Map<string, ClusterWork>()
  for (const cluster of ref.clusters) {
    const work = found && reportedWork(found, ports.reportOf(cluster))
    if (work) works.set(cluster, { ...work, isUpdated: target !== undefined && work.generation >= target })
  }
  return {
    ...base,
    works,
    placement: findCondition(placement?.status?.conditions, 'Ready'),
    bundle: isCurrent ? findCondition(found.status?.conditions, 'Ready') : undefined,
  }
}

function show(draft: Draft<ManifestWorkReplicaSet>, shown: SetStatus, ports: ReplicaSetPorts): Result {
  const { next: set, seen, conditions } = draft
  const { summary, placementSummary } = shown
  const isSame =
    jsonEqual(seen.status?.summary ?? {}, summary) &&
    jsonEqual(seen.status?.placementSummary ?? [], placementSummary) &&
    shown.conditions.every(({ type, status, reason, message }) => {
      const before = findCondition(seen.status?.conditions, type)
      return (
        before?.status === status &&
        before.reason === reason &&
        before.message === message &&
        before.observedGeneration === seen.metadata.generation
      )
    })
  if (isSame) return {}
  const waitMs = ports.pace.waitMs(keyOf(set))
  if (waitMs > 0 && seen.status?.summary) return { requeueAfterMs: waitMs }
  ports.pace.note(keyOf(set))
  set.status = {
    ...set.status,
    conditions: set.status?.conditions ?? [],
    summary,
    placementSummary: [...placementSummary],
  }
  for (const { type, status, reason, message } of shown.conditions) conditions.set(type, status, reason, message)
  return {}
}
