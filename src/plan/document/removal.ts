/**
 * Removal: a bundle leaves clusters because a person changed the intent, never because an object is missing.
 *
 *   change of intent ──▶ Rollout with `removal` (its clusters are fixed) ──rings──▶ tombstone ──▶ receipt ──▶ settled
 *
 * A cluster of such a Rollout counts as Ready when its document has neither the bundle nor its tombstone; a tombstone
 * leaves only for a receipt. A cluster that the bundle's Placement selects again keeps the bundle, unless its tombstone
 * is already delivered. Both results are recorded as settled and are final: a later change gets a Rollout of its own.
 */
import { compact } from '../../core/compact.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import type { VerdictReason } from '../placement/types.ts'
import type { FreedSlot, RolloutInput } from '../rollout/types.ts'
import { holdByFreezeLabel, bundleOnClusterKey } from '../rollout/bundle-on-cluster.ts'
import type { BundleOnCluster, ReleaseBundle, RolloutAdmission, RolloutCluster } from '../rollout/bundle-on-cluster.ts'
import { judgeShrink, SECOND_SHRINK } from '../placement/shrink-guard.ts'
import type { ShrinkVerdict } from '../placement/shrink-guard.ts'
import type { StateOnCluster } from '../fleet/state.ts'

/** The removal of a Rollout. */
export interface RemovalFacts {
  readonly bundle: string
  readonly clusters: readonly string[]
  readonly settled: readonly string[]
  /** Settled clusters that keep the bundle: they were selected again before their removal started. */
  readonly kept?: readonly string[]
  readonly placement: string
  /** Clusters that the Placement selects now; empty when the Bundle is deleted; undefined while not decided. */
  readonly keep: Pick<ReadonlySet<string>, 'has'> | undefined
  /** Clusters for which another Rollout still has a slot to deliver the bundle. */
  readonly coming: ReadonlySet<string>
}

/** An agent's report about a removal. */
export interface ReportedRemoval {
  readonly generation: number
  readonly state: 'Removing' | 'Failed' | 'Removed' | 'Orphaned'
  readonly message?: string
}

/** Progress of a removal on one cluster. */
type RemovalPhase = 'Gone' | 'Kept' | 'Done' | 'Handed' | 'Waits'

function removalPhase(
  removal: RemovalFacts,
  { key, name, isAdmitted }: { readonly key: string; readonly name: string; readonly isAdmitted: boolean },
  cluster: RolloutCluster | undefined,
): RemovalPhase {
  if (!cluster || cluster.buried === undefined) return 'Gone'
  if (cluster.buried.has(key)) return 'Handed'
  if (removal.keep?.has(name)) return isAdmitted && hasReceipt(cluster, key) ? 'Done' : 'Kept'
  return cluster.assigned.has(key) || removal.coming.has(name) ? 'Waits' : 'Done'
}

function hasReceipt({ removals }: RolloutCluster, key: string): boolean {
  const said = removals?.get(key)?.state
  return said === 'Removed' || said === 'Orphaned'
}

/** Members of a removal, freed slots, and settled clusters. */
export interface RemovalPairs {
  readonly pairs: readonly BundleOnCluster[]
  readonly kept: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  readonly settled: readonly string[]
  /** Settled clusters that keep the bundle. */
  readonly spared: readonly string[]
}

export function removalPairs(input: RolloutInput, removal: RemovalFacts): RemovalPairs {
  const key = `${input.rollout.namespace}/${removal.bundle}`
  const admitted = new Set(input.rollout.admissions.map(({ cluster }) => cluster))
  const [ended, left] = [new Set(removal.settled), new Set(removal.kept)]
  const phases = new Map(
    removal.clusters.map((name): [string, RemovalPhase] => {
      if (ended.has(name)) return [name, left.has(name) ? 'Kept' : 'Done']
      const at = { key, name, isAdmitted: admitted.has(name) }
      return [name, removalPhase(removal, at, input.clusterOf(name))]
    }),
  )
  const kept: RolloutAdmission[] = []
  const freed: FreedSlot[] = []
  for (const admission of input.rollout.admissions) {
    const by = FREED_BY[phases.get(admission.cluster) ?? 'Gone']
    if (by) freed.push({ admission, by })
    else kept.push(admission)
  }
  const holding = new Set(kept.map(bundleOnClusterKey))
  const pairs = [...phases].flatMap(([name, phase]) => {
    const cluster = input.clusterOf(name)
    if (phase === 'Gone' || phase === 'Kept' || !cluster) return []
    const hold = (input.holdOf ?? holdByFreezeLabel(cluster))(targetOf(removal, key, cluster), name)
    const at = compact({ key, name, phase, cluster, hold })
    return [removalMember(removal, at, holding)]
  })
  const isSettled = (name: string) => phases.get(name) === 'Done' || phases.get(name) === 'Kept'
  const settled = removal.keep ? removal.clusters.filter(isSettled) : removal.settled
  const spared = settled.filter((name) => phases.get(name) === 'Kept')
  return { pairs, kept, freed, settled, spared }
}

const FREED_BY: Readonly<Record<RemovalPhase, FreedSlot['by'] | undefined>> = {
  Gone: 'ClusterGone',
  Kept: 'Overtaken',
  Done: 'Report',
  Handed: undefined,
  Waits: undefined,
}

interface RemovalAt {
  readonly key: string
  readonly name: string
  readonly phase: RemovalPhase
  readonly cluster: RolloutCluster
  readonly hold?: BundleHold
}

/** The revision to remove, for windows and freezes. */
function targetOf(
  { bundle, placement }: RemovalFacts,
  key: string,
  { buried, assigned }: RolloutCluster,
): ReleaseBundle {
  const generation = buried?.get(key)?.generation ?? assigned.get(key)?.generation ?? 0
  return { name: bundle, placement, generation, set: assigned.get(key)?.set ?? NO_SET }
}

function removalMember(removal: RemovalFacts, at: RemovalAt, admitted: ReadonlySet<string>): BundleOnCluster {
  const { key, name, phase, cluster, hold } = at
  const { availability, labels = {}, reportedAt } = cluster
  const { generation, set } = targetOf(removal, key, cluster)
  const said = cluster.removals?.get(key)
  const reported = said && said.generation >= generation ? said : undefined
  return compact({
    bundle: removal.bundle,
    cluster: name,
    placement: removal.placement,
    labels,
    target: { generation, set },
    state: stateOf(at, {
      reported,
      isAdmitted: admitted.has(bundleOnClusterKey({ bundle: removal.bundle, cluster: name })),
    }),
    free: availability.state === 'Available' && !hold,
    hold,
    tried: 0,
    handed: phase === 'Handed',
    moving: phase === 'Handed',
    well: phase === 'Done',
    failed: phase === 'Handed' && reported?.state === 'Failed',
    ailing: false,
    keeps: false,
    blocked: false,
    reportedAt,
  })
}

const NO_SET = `sha256:${'0'.repeat(64)}` as const

function stateOf(
  { phase, hold, cluster: { availability } }: RemovalAt,
  now: { readonly reported: ReportedRemoval | undefined; readonly isAdmitted: boolean },
): StateOnCluster {
  if (phase === 'Done') return { state: 'Ready', message: 'The bundle is removed.' }
  if (availability.state === 'Offline') return { state: 'Offline', message: availability.message }
  if (phase === 'Handed' || now.isAdmitted) {
    const message = now.reported?.message ?? 'The removal was delivered; the agent has not confirmed it yet.'
    return { state: now.reported?.state === 'Failed' ? 'Failed' : 'Progressing', message }
  }
  if (hold) return { state: 'Pending', waitsFor: hold.for, message: hold.message }
  return { state: 'Pending', waitsFor: 'ring', message: 'Waits for its turn in the removal.' }
}

/** Progress of a removal; clusters that keep the bundle are counted separately. */
export function removalProgress(
  { ready, total }: { ready: number; total: number },
  { kept = [] }: RemovalFacts,
): string {
  if (kept.length === 0) return `${ready} of ${total} removed`
  const removed = total === 0 ? '0 removed' : `${ready} of ${total} removed`
  return `${removed}, ${kept.length} kept because they are selected again`
}

/** A cluster that has a bundle. */
export interface BundleHolder {
  readonly cluster: string
  /** The Placement that selected the cluster, if known. */
  readonly placement?: string
  /** The cluster has no other bundle that stays. */
  readonly isLast?: boolean
}

/** Facts that decide which clusters lose a bundle by a change of intent. */
export interface IntentFacts {
  /** The Bundle was deleted. */
  readonly deleted: boolean
  readonly placement: string
  /** The Placement's decisions; absent while they are incomplete. */
  readonly decided?: { readonly selected: ReadonlySet<string>; readonly evicting: ReadonlyMap<string, string> }
  /** Clusters whose documents have, or are about to get, the bundle, and the Placement that selected them, if known. */
  readonly holders: readonly BundleHolder[]
  /** Clusters for which a Rollout already removes the bundle, or was told not to. */
  readonly covered: ReadonlySet<string>
  /** Whether another Placement selects the cluster now. */
  readonly selectedBy: (placement: string, cluster: string) => boolean
  /** Why the Bundle's Placement rejects the cluster; undefined: the cluster is only outranked. */
  readonly stoppedBy: (cluster: string) => VerdictReason | undefined
}

/** Clusters that lose a bundle, with cause and reason. */
export interface BundleDeparture {
  readonly cause: 'unplaced' | 'bundleDeleted'
  readonly clusters: readonly string[]
  readonly reason: string
  /** Clusters that leave because the Bundle moved to another Placement: no Placement's guard has judged them. */
  readonly moved?: readonly string[]
}

// Circumstances, not intent: a cluster that is rejected for one of these reasons keeps its bundles.
const CIRCUMSTANCES: ReadonlySet<VerdictReason> = new Set(['Tainted', 'Leaving', 'NotAccepted'])

/** The clusters that lose a bundle now; undefined: none. */
export function departingClusters(facts: IntentFacts): BundleDeparture | undefined {
  const open = facts.holders.filter(({ cluster }) => !facts.covered.has(cluster))
  if (facts.deleted) {
    const clusters = open.map(({ cluster }) => cluster).sort(compareText)
    return clusters.length === 0 ? undefined : { cause: 'bundleDeleted', clusters, reason: 'The Bundle was deleted.' }
  }
  const { decided } = facts
  if (!decided) return undefined
  // A cluster whose labels match again keeps the bundle, also while a taint keeps it out of the decisions.
  const isEvicted = (cluster: string) => decided.evicting.has(cluster) && facts.stoppedBy(cluster) !== 'Tainted'
  // The Bundle moved to another Placement: the move removes only clusters that the former Placement still selects.
  const isMoved = (cluster: string, from: string | undefined) => {
    if (from === undefined || from === facts.placement || !facts.selectedBy(from, cluster)) return false
    const reason = facts.stoppedBy(cluster)
    return reason === undefined || !CIRCUMSTANCES.has(reason)
  }
  const leaving = open.filter(
    ({ cluster, placement }) => !decided.selected.has(cluster) && (isEvicted(cluster) || isMoved(cluster, placement)),
  )
  if (leaving.length === 0) return undefined
  const clusters = leaving.map(({ cluster }) => cluster).sort(compareText)
  const first = decided.evicting.get(clusters[0]!)
  const moved = clusters.filter((cluster) => !isEvicted(cluster))
  const reason =
    first === undefined
      ? `The Bundle moved to Placement ${facts.placement}, which does not select these clusters.`
      : `Placement ${facts.placement} no longer selects these clusters; ${clusters[0]!}: ${first}.`
  return { cause: 'unplaced', clusters, reason: reason.slice(0, 1024), ...(moved.length > 0 && { moved }) }
}

/**
 * The question to a person before a removal; undefined when the removal needs none. A deleted Bundle is intent, and
 * asks only for half of its clusters and more than five. A Bundle that moves to another Placement asks as a change of
 * the selection does. Evictions ask in the guard of their Placement.
 */
export function removalQuestion(
  leave: BundleDeparture,
  about: {
    readonly holders: readonly BundleHolder[]
    /** The Bundle's Placement now. */
    readonly placement: string
    readonly generation: number
    readonly release?: string | undefined
  },
): string | undefined {
  const { generation, release } = about
  const asked = { noun: 'clusters', generation, release } as const
  if (leave.cause === 'bundleDeleted') {
    const of = about.holders.length
    return questionOf(judgeShrink({ ...asked, dropped: leave.clusters, of, defaults: SECOND_SHRINK }))
  }
  const former = about.holders.filter(({ placement }) => placement !== about.placement)
  const { moved = [] } = leave
  return questionOf(judgeShrink({ ...asked, dropped: moved, of: former.length, always: alwaysAsked(leave, former) }))
}

function questionOf(verdict: ShrinkVerdict): string | undefined {
  return verdict.kind === 'Held' ? verdict.message : undefined
}

function alwaysAsked({ clusters, moved = [] }: BundleDeparture, former: readonly BundleHolder[]): string | undefined {
  const leaving = new Set(clusters)
  if (former.every(({ cluster }) => leaving.has(cluster))) return 'The Bundle would stay on none of its clusters.'
  const emptied = former.filter(({ cluster, isLast }) => isLast === true && moved.includes(cluster))
  return emptied.length === 0
    ? undefined
    : `No Bundle would be left on ${nameSome(emptied.map(({ cluster }) => cluster))}.`
}

/** Distinguishes removals from one cluster. */
export interface RemovedAt {
  /** Revision of the cluster's document. */
  readonly revision: number
  /** Settled removals of the cluster, which may have left the bundle on it. */
  readonly after: readonly string[]
}

/** The name of a removal is derived from its content, so that a controller that restarts finds its own Rollout. */
export function removalName(bundle: string, at: Readonly<Record<string, RemovedAt>>): string {
  const stem = bundle.length <= 220 ? bundle : bundle.slice(0, 220).replace(/[^a-z0-9]+$/, '')
  return `${stem}-removal-${digestOfJson([bundle, at]).slice(7, 17)}`
}
