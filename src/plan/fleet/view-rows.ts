/** The rows of the view API: gathers the facts of a bundle on a cluster for plan/fleet/state.ts. */
import { compact } from '../../core/compact.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import { removalState } from '../document/removal-messages.ts'
import type { RemovalFactsOnCluster } from '../document/removal-messages.ts'
import type { ExceptionSubject } from '../windows/window-rules.ts'
import type { AssignedRevision } from './revisions.ts'
import { countStates, stateOnCluster } from './state.ts'
import type { ApartBadge } from './cluster-badges.ts'
import type { ClusterContent } from '../release/variants.ts'
import type { BundleStateFacts, StateOnCluster, ReportedBundle, Revision, StateCounts, PendingReason } from './state.ts'

/** A Bundle and the Rollout of its newest Release, as a row reads them. */
export interface RowBundle {
  /** `namespace/name`. */
  readonly key: string
  readonly name: string
  readonly placement: string
  /** Name of the Delivery; absent for a Bundle. */
  readonly delivery?: string
  readonly target?: Revision
  readonly rollout?: RowRollout
  /** Why the Project of the namespace refuses the bundle or its Placement, or that there is none. */
  readonly refused?: string
}

/** A Rollout as a row reads it. */
export interface RowRollout {
  readonly name: string
  /** Clusters with a slot for this bundle. */
  readonly admitted: ReadonlySet<string>
  /** Subjects of its exceptions from windows. */
  readonly exceptions?: readonly ExceptionSubject[]
  /** Why the rollout does not move: reason and message of its Ready condition. */
  readonly hold?: { readonly reason: string; readonly message: string }
  readonly counts?: Readonly<Record<'total' | 'ready' | 'progressing' | 'pending' | 'failed' | 'offline', number>> & {
    /** Rollouts of 0.1 do not have them. */
    readonly states?: Readonly<Record<string, number>> | undefined
  }
}

/** A cluster as a row reads it. */
export interface RowCluster extends RemovalFactsOnCluster {
  readonly name: string
  /** The bundle's revision in the cluster's document, with the last Ready revision before it. */
  readonly assigned?: AssignedRevision
  /** The agent's report about this bundle. */
  readonly reported?: ReportedBundle
  /** Its content of the newest Release, where clusters differ. */
  readonly content?: ClusterContent
  /** A hold of the cluster, a freeze or a closed window. */
  readonly hold?: BundleHold
  /** Badge and message of a cluster that left or was turned away. */
  readonly apart?: { readonly badge: ApartBadge; readonly message: string }
}

export interface Row extends Omit<StateOnCluster, 'state'> {
  /** Absent on a cluster that left or was turned away: it has only its badge. */
  readonly state?: BundleStateName
  /** Badges beside the state. */
  readonly badges?: readonly (BundleHold['badge'] | ApartBadge)[]
  readonly bundle: string
  readonly delivery?: string
  readonly cluster: string
  readonly generation?: number
  readonly target?: number
}

// A hold without an entry here means that the cluster waits for its turn.
const HOLDS: Readonly<Record<string, PendingReason>> = {
  BudgetFull: 'budget',
  FailuresStopIt: 'gate',
  PlacementPending: 'placement',
  Paused: 'approval',
  ApprovalPending: 'approval',
  ApprovalRejected: 'approval',
  GatePending: 'gate',
  GenerationTaken: 'generation',
  WindowClosed: 'window',
  Frozen: 'freeze',
  ClusterNotFound: 'admission',
  ClusterNotAccepted: 'admission',
  ClusterLeaving: 'admission',
  ProjectRefuses: 'freeze',
  ClusterFull: 'admission',
  SetNotFound: 'admission',
}

/** The row of a bundle on a cluster; `selected` is the Placement's present decision. */
export function rowOf(bundle: RowBundle, cluster: RowCluster, selected: boolean | undefined): Row {
  const { rollout } = bundle
  const { assigned, reported, availability, content, hold, apart } = cluster
  const target = targetOf(bundle, cluster)
  const known = compact({
    bundle: bundle.name,
    delivery: bundle.delivery,
    cluster: cluster.name,
    generation: reported?.generation,
    target: target?.generation,
  })
  if (apart) return { ...known, message: apart.message, badges: [apart.badge] }
  const selection =
    selected === false
      ? { selected: false, message: notSelected(bundle, cluster.name) }
      : content?.kind === 'Skip'
        ? { selected: false, message: `Excluded by variant "${content.by}"` }
        : { selected: true, message: '' }
  const facts: BundleStateFacts = {
    selection,
    admitted: rollout?.admitted.has(cluster.name) ?? false,
    availability: { reason: 'Seen', ...availability },
    ...compact({
      target,
      assigned,
      reported,
      problem: content?.kind === 'Problem' ? content.problem : undefined,
      heldFor: hold?.for,
      refused: bundle.refused,
    }),
    ...waitsOf(bundle, cluster),
  }
  return {
    ...known,
    ...(leaving(cluster, selected) ?? stateOnCluster(facts)),
    ...compact({ badges: hold ? [hold.badge] : undefined }),
  }
}

function notSelected({ delivery, placement }: RowBundle, cluster: string): string {
  return delivery === undefined
    ? `Not selected by Placement "${placement}" (see "flotilla explain ${placement} ${cluster}")`
    : `Not named by Delivery "${delivery}"`
}

/** A removal decides the state while its tombstone is in the document, and for a cluster that is not selected. */
function leaving(cluster: RowCluster, selected: boolean | undefined): StateOnCluster | undefined {
  return cluster.buried || selected === false ? removalState(cluster) : undefined
}

/** The target of the cluster: its own content, with the assigned generation if the content is the same. */
function targetOf({ target }: RowBundle, { content, assigned }: RowCluster): Revision | undefined {
  if (!target) return undefined
  const own = content?.kind === 'Set' ? { generation: target.generation, set: content.set } : target
  return assigned?.set === own.set && assigned.generation < own.generation ? assigned : own
}

function waitsOf({ rollout, placement, delivery }: RowBundle, cluster: RowCluster): Pick<BundleStateFacts, 'waits'> {
  const { availability, hold: held } = cluster
  if (availability.state === 'Unknown') return { waits: { for: 'connection', message: availability.message } }
  if (held) return { waits: { for: held.for, message: held.message } }
  if (!rollout && delivery !== undefined)
    return { waits: { for: 'admission', message: `Delivery "${delivery}" has not been admitted yet.` } }
  if (!rollout)
    return { waits: { for: 'placement', message: `No Rollout exists yet; Placement "${placement}" decides first.` } }
  const { hold } = rollout
  return hold ? { waits: { for: HOLDS[hold.reason] ?? 'ring', message: hold.message } } : {}
}

/** Counts of a bundle by state, from its Rollout; all zero without a Rollout. */
export function countsOf({ rollout }: RowBundle): { readonly total: number; readonly counts: StateCounts } {
  return { total: rollout?.counts?.total ?? 0, counts: countsByState(rollout?.counts) }
}

/** The counts of a Rollout by state. A Rollout of 0.1 has only its progress, which was by state then. */
export function countsByState(counts: RowRollout['counts']): StateCounts {
  const none = countStates([])
  if (!counts) return none
  if (counts.states) return { ...none, ...counts.states }
  const { ready, progressing, pending, failed, offline } = counts
  return { ...none, Ready: ready, Progressing: progressing, Pending: pending, Failed: failed, Offline: offline }
}
