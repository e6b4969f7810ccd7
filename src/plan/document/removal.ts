/**
 * Removal: a bundle leaves clusters because somebody changed what is meant, never because something is missing.
 *
 *   a change of intent ──▶ Rollout with `removal` (which clusters, written down once) ──rings──▶ tombstone ──▶ receipt ──▶ settled
 *
 * A pair of such a Rollout is *well* once its cluster's document has neither the bundle nor its tombstone, which leaves only for a
 * receipt. A cluster that the bundle's Placement selects again keeps the bundle, unless its tombstone is out already. Both ends are
 * recorded as settled and never looked at again: what happens to the pair later is another change, with another Rollout.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import type { VerdictReason } from '../placement/types.ts'
import type { FreedSlot, RolloutInput } from '../rollout/types.ts'
import { holdByFreezeLabel, bundleOnClusterKey } from '../rollout/bundle-on-cluster.ts'
import type { BundleOnCluster, ReleaseBundle, RolloutAdmission, RolloutCluster } from '../rollout/bundle-on-cluster.ts'
import { judgeShrink } from '../placement/shrink-guard.ts'
import type { StateOnCluster } from '../fleet/state.ts'

/** What a Rollout that removes knows of its own. */
export interface RemovalFacts {
  readonly bundle: string
  readonly clusters: readonly string[]
  readonly settled: readonly string[]
  /** Those of the settled ones that keep the bundle: they were wanted again before their removal began. */
  readonly kept?: readonly string[]
  readonly placement: string
  /** Clusters that keep the bundle by what its Placement says now; none when the Bundle is gone. Absent: not decided. */
  readonly keep: Pick<ReadonlySet<string>, 'has'> | undefined
  /** Clusters for which another Rollout still holds a slot to bring the bundle. */
  readonly coming: ReadonlySet<string>
}

/** What a cluster's agent says about a removal. */
export interface ReportedRemoval {
  readonly generation: number
  readonly state: 'Removing' | 'Failed' | 'Removed' | 'Orphaned'
  readonly message?: string
}

/** Where one pair of a removal stands. */
type Standing = 'Gone' | 'Kept' | 'Done' | 'Handed' | 'Waits'

function standingOf(
  removal: RemovalFacts,
  { key, name, isAdmitted }: { readonly key: string; readonly name: string; readonly isAdmitted: boolean },
  cluster: RolloutCluster | undefined,
): Standing {
  if (!cluster || cluster.buried === undefined) return 'Gone'
  if (cluster.buried.has(key)) return 'Handed'
  if (removal.keep?.has(name)) return isAdmitted && hasReceipt(cluster, key) ? 'Done' : 'Kept'
  return cluster.assigned.has(key) || removal.coming.has(name) ? 'Waits' : 'Done'
}

function hasReceipt({ removals }: RolloutCluster, key: string): boolean {
  const said = removals?.get(key)?.state
  return said === 'Removed' || said === 'Orphaned'
}

/** Pairs of a removal, which slots come back, and which clusters are through with it. */
export interface RemovalPairs {
  readonly pairs: readonly BundleOnCluster[]
  readonly kept: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  readonly settled: readonly string[]
  /** Those of the settled ones that keep the bundle. */
  readonly spared: readonly string[]
}

/** Looks at every cluster of a removal. */
export function removalPairs(input: RolloutInput, removal: RemovalFacts): RemovalPairs {
  const key = `${input.rollout.namespace}/${removal.bundle}`
  const admitted = new Set(input.rollout.admissions.map(({ cluster }) => cluster))
  const [ended, left] = [new Set(removal.settled), new Set(removal.kept)]
  const standings = new Map(
    removal.clusters.map((name): [string, Standing] => {
      if (ended.has(name)) return [name, left.has(name) ? 'Kept' : 'Done']
      const at = { key, name, isAdmitted: admitted.has(name) }
      return [name, standingOf(removal, at, input.clusterOf(name))]
    }),
  )
  const kept: RolloutAdmission[] = []
  const freed: FreedSlot[] = []
  for (const admission of input.rollout.admissions) {
    const by = FREED_BY[standings.get(admission.cluster) ?? 'Gone']
    if (by) freed.push({ admission, by })
    else kept.push(admission)
  }
  const holding = new Set(kept.map(bundleOnClusterKey))
  const pairs = [...standings].flatMap(([name, standing]) => {
    const cluster = input.clusterOf(name)
    if (standing === 'Gone' || standing === 'Kept' || !cluster) return []
    const hold = (input.holdOf ?? holdByFreezeLabel(cluster))(targetOf(removal, key, cluster), name)
    const at = { key, name, standing, cluster, ...(hold ? { hold } : {}) }
    return [pairOf(removal, at, holding)]
  })
  const isThrough = (name: string) => standings.get(name) === 'Done' || standings.get(name) === 'Kept'
  const settled = removal.keep ? removal.clusters.filter(isThrough) : removal.settled
  const spared = settled.filter((name) => standings.get(name) === 'Kept')
  return { pairs, kept, freed, settled, spared }
}

const FREED_BY: Readonly<Record<Standing, FreedSlot['by'] | undefined>> = {
  Gone: 'ClusterGone',
  Kept: 'Overtaken',
  Done: 'Report',
  Handed: undefined,
  Waits: undefined,
}

interface StandingPair {
  readonly key: string
  readonly name: string
  readonly standing: Standing
  readonly cluster: RolloutCluster
  readonly hold?: BundleHold
}

/** What goes, as windows look at it. */
function targetOf(
  { bundle, placement }: RemovalFacts,
  key: string,
  { buried, assigned }: RolloutCluster,
): ReleaseBundle {
  const generation = buried?.get(key)?.generation ?? assigned.get(key)?.generation ?? 0
  return { name: bundle, placement, generation, set: assigned.get(key)?.set ?? NO_SET }
}

function pairOf(removal: RemovalFacts, at: StandingPair, admitted: ReadonlySet<string>): BundleOnCluster {
  const { key, name, standing, cluster, hold } = at
  const { availability, labels = {}, reportedAt } = cluster
  const { generation, set } = targetOf(removal, key, cluster)
  const said = cluster.removals?.get(key)
  const reported = said && said.generation >= generation ? said : undefined
  return {
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
    ...(hold ? { hold } : {}),
    tried: 0,
    handed: standing === 'Handed',
    well: standing === 'Done',
    failed: standing === 'Handed' && reported?.state === 'Failed',
    ailing: false,
    keeps: false,
    blocked: false,
    ...(reportedAt === undefined ? {} : { reportedAt }),
  }
}

const NO_SET = `sha256:${'0'.repeat(64)}` as const

function stateOf(
  { standing, hold, cluster: { availability } }: StandingPair,
  now: { readonly reported: ReportedRemoval | undefined; readonly isAdmitted: boolean },
): StateOnCluster {
  if (standing === 'Done') return { state: 'Ready', message: 'Removed.' }
  if (availability.state === 'Offline') return { state: 'Offline', message: availability.message }
  if (standing === 'Handed' || now.isAdmitted) {
    const message = now.reported?.message ?? 'Its removal was handed out; no receipt yet.'
    return { state: now.reported?.state === 'Failed' ? 'Failed' : 'Progressing', message }
  }
  if (hold) return { state: 'Pending', waitsFor: hold.for, message: hold.message }
  return { state: 'Pending', waitsFor: 'ring', message: 'Waits for its turn to be removed.' }
}

/** How far a removal is: who keeps the bundle is told apart, for nothing was removed there. */
export function removalProgress(
  { ready, total }: { ready: number; total: number },
  { kept = [] }: RemovalFacts,
): string {
  if (kept.length === 0) return `${ready} of ${total} removed`
  const removed = total === 0 ? '0 removed' : `${ready} of ${total} removed`
  return `${removed}, ${kept.length} kept: wanted again`
}

/** Everything that tells which clusters lose a bundle by a change of intent. */
export interface IntentFacts {
  /** Somebody deleted the Bundle. */
  readonly deleted: boolean
  readonly placement: string
  /** What its Placement decided; absent while that is not complete. */
  readonly decided?: { readonly selected: ReadonlySet<string>; readonly evicting: ReadonlyMap<string, string> }
  /** Clusters whose documents have the bundle, or that are about to get it, and the Placement it came by as far as known. */
  readonly holders: readonly { readonly cluster: string; readonly placement?: string }[]
  /** Clusters for which a Rollout removes it already, or was told not to. */
  readonly covered: ReadonlySet<string>
  /** Whether another Placement selects the cluster now. */
  readonly selectedBy: (placement: string, cluster: string) => boolean
  /** What stops the cluster at the Bundle's own Placement; absent: it is merely outranked. */
  readonly stoppedBy: (cluster: string) => VerdictReason | undefined
}

/** Which clusters lose a bundle, and in whose words. */
export interface BundleDeparture {
  readonly cause: 'unplaced' | 'bundleDeleted'
  readonly clusters: readonly string[]
  readonly reason: string
}

// Circumstances, not intent: whoever is out for one of these keeps what it runs.
const CIRCUMSTANCES: ReadonlySet<VerdictReason> = new Set(['Tainted', 'Leaving', 'NotAccepted'])

/** Which clusters lose a bundle now; undefined: none. */
export function departingClusters(facts: IntentFacts): BundleDeparture | undefined {
  const open = facts.holders.filter(({ cluster }) => !facts.covered.has(cluster))
  if (facts.deleted) {
    const clusters = open.map(({ cluster }) => cluster).sort(compareText)
    return clusters.length === 0 ? undefined : { cause: 'bundleDeleted', clusters, reason: 'The Bundle was deleted.' }
  }
  const { decided } = facts
  if (!decided) return undefined
  // One whose labels are back is wanted, also while a taint keeps it out of the decisions.
  const isEvicted = (cluster: string) => decided.evicting.has(cluster) && facts.stoppedBy(cluster) !== 'Tainted'
  // The Bundle was moved to another Placement: only where the former one would still have the cluster did the move take it out.
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
  const reason =
    first === undefined
      ? `The Bundle moved to Placement ${facts.placement}, which does not select them.`
      : `Placement ${facts.placement} no longer selects them; ${clusters[0]!}: ${first}.`
  return { cause: 'unplaced', clusters, reason: reason.slice(0, 1024) }
}

/** Whether so large a removal has to be asked about first: undefined, or the sentence that asks. */
export function removalQuestion(
  leave: BundleDeparture,
  about: { readonly holders: number; readonly generation: number; readonly release?: string },
): string | undefined {
  // A Placement's own guard has judged what it evicts.
  if (leave.cause === 'unplaced' && !leave.reason.startsWith('The Bundle moved')) return undefined
  const verdict = judgeShrink({
    noun: 'clusters',
    dropped: leave.clusters,
    of: about.holders,
    generation: about.generation,
    ...(about.release === undefined ? {} : { release: about.release }),
  })
  return verdict.kind === 'Held' ? verdict.message : undefined
}

/** What tells the removals from one cluster apart. */
export interface RemovedAt {
  /** Of its document. */
  readonly revision: number
  /** The removals that are through with it, and may have left it the bundle. */
  readonly after: readonly string[]
}

/** The name of a removal: what it removes, so that a repetition after a crash finds itself. */
export function removalName(bundle: string, at: Readonly<Record<string, RemovedAt>>): string {
  const stem = bundle.length <= 220 ? bundle : bundle.slice(0, 220).replace(/[^a-z0-9]+$/, '')
  return `${stem}-removal-${digestOfJson([bundle, at]).slice(7, 17)}`
}
