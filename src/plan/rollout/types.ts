/** What a rollout's decision follows from, and what it can be. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { ApprovalFact } from './gates/approvals.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import type { RemovalFacts } from '../document/removal.ts'
import type { BundleReadiness, GateAnswer, GateQuery } from './gates/judge-gates.ts'
import type { Hold } from './holds.ts'
import type { ReleaseBundle, RolloutAdmission, RolloutCluster } from './bundle-on-cluster.ts'
import type { RingCount, RingSpec, RingState } from './rings.ts'

/** Where a Rollout is in its life. */
export type RolloutPhase = 'Pending' | 'Progressing' | 'Completed' | 'Failed' | 'Paused' | 'Superseded' | 'Aborted'

/** What the planner knows of the Rollout itself. */
export interface RolloutFacts {
  readonly name?: string
  readonly namespace: string
  readonly rings: readonly RingSpec[]
  /** What is written down about the rings. */
  readonly ringStates?: readonly RingState[]
  readonly paused: boolean
  /** Why it began paused: a sentence that asks. */
  readonly asks?: string
  /** A person ended it: nobody else is ever admitted. */
  readonly aborted?: boolean
  /** An admitted cluster that is not Ready after so long counts as failed. */
  readonly progressDeadlineMs?: number
  readonly phase?: RolloutPhase
  /** It has recorded that newer Rollouts carry all its bundles; it never opens again. */
  readonly closed?: boolean
  /** The bundles of which it has recorded that newer Rollouts carry them. */
  readonly superseded?: readonly Superseded[]
  readonly admissions: readonly RolloutAdmission[]
  /** Its Release takes an older one back from everybody or a ring: nobody gets anew what that one brought. */
  readonly takesBack?: boolean
  /** How often somebody asked to try a cluster again. */
  readonly attemptOf?: (cluster: string) => number
  /** Milliseconds since 1970. */
  readonly createdAt?: number
  /** The RolloutPlan it was made from. */
  readonly plan?: string
  /** Who started or resumed it. */
  readonly startedBy?: readonly string[]
}

/** A bundle that a newer Rollout carries. */
export interface Superseded {
  readonly bundle: string
  /** The name of the newer Rollout. */
  readonly by: string
}

/** An older Rollout of a bundle of this one. */
export interface Predecessor {
  readonly name: string
  readonly bundle: string
  /** The generation of the bundle that it carries. */
  readonly generation: number
  /** It has recorded that it admits nobody of this bundle any more. */
  readonly closed: boolean
  /** The slots of this bundle that it holds. */
  readonly admissions: readonly RolloutAdmission[]
  /** What it has for a cluster; only of one that takes an older Release back from everybody or a ring. */
  readonly takesBackTo?: (cluster: string) => Digest | undefined
}

/** Everything a decision follows from. */
export interface RolloutInput {
  readonly rollout: RolloutFacts
  readonly release: { readonly bundles: readonly ReleaseBundle[] } | undefined
  /** Selected clusters per Placement; a Placement whose pages are not complete is absent. */
  readonly decisions: Pick<ReadonlyMap<string, readonly string[]>, 'has' | 'get'>
  readonly clusterOf: (name: string) => RolloutCluster | undefined
  /**
   * They must be as new as, or newer than, what the last write of this Rollout, and of each of them, was decided on. One
   * cache of Rollouts, which never goes back, gives that; everything else here may be arbitrarily old.
   */
  readonly predecessors: readonly Predecessor[]
  /** The newest Rollout of each bundle that a newer one carries, by bundle. */
  readonly newer?: ReadonlyMap<string, string>
  /** Bundles of the release that were deleted. */
  readonly deletedBundles?: readonly string[]
  readonly now: number
  /** What holds a bundle on a cluster: a hold of the cluster, a freeze or a closed window. */
  readonly holdOf?: (target: ReleaseBundle, cluster: string) => BundleHold | undefined
  /** Milliseconds since 1970 at which the first answer of `holdOf` may be another; undefined: by time alone none is. */
  readonly holdsUntil?: () => number | undefined
  /** Decision groups of a cluster in a Placement; absent: nobody is in one. */
  readonly groupsOf?: (placement: string, cluster: string) => readonly string[]
  /** What people said about its rings; the API has verified who they are and that they may. */
  readonly approvals?: readonly ApprovalFact[]
  /** What a gate answered last; absent: nobody was asked. */
  readonly gateAnswerOf?: (ring: string, gate: string) => GateAnswer | undefined
  /** How another Bundle beside the Rollout stands; undefined: there is none. */
  readonly standingOf?: (bundle: string) => BundleReadiness | undefined
  /** It removes; then the release and the decisions do not count. */
  readonly removal?: RemovalFacts
}

/** Pairs per state, as the Rollout's status counts them. */
export interface RolloutCounts {
  readonly total: number
  readonly ready: number
  readonly progressing: number
  readonly pending: number
  readonly failed: number
  readonly offline: number
}

/** A slot that came back, and by what. */
export interface FreedSlot {
  readonly admission: RolloutAdmission
  readonly by: 'Report' | 'Overtaken' | 'StartByPassed' | 'ClusterGone'
}

/** A question of a ring's gate. */
export interface RingGateQuery extends GateQuery {
  readonly ring: string
}

interface Base {
  readonly phase: RolloutPhase
  /** The slots taken after this decision: record exactly these. */
  readonly admissions: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  /** Bundles that newer Rollouts carry: record exactly these. */
  readonly superseded?: readonly Superseded[]
  /** Absent while the members are not known. */
  readonly counts?: RolloutCounts
  /** The same per bundle, by name. */
  readonly bundleCounts?: ReadonlyMap<string, RolloutCounts>
  readonly ring?: string
  /** What to write down about the rings; absent while the members are not known. */
  readonly rings?: readonly RingState[]
  readonly ringCounts?: readonly RingCount[]
  /** Of a removal: clusters that are through with it for good. */
  readonly settled?: readonly string[]
  /** Of a removal: those of the settled ones that keep the bundle. */
  readonly kept?: readonly string[]
  /** Pairs that are in no ring. */
  readonly unringed?: readonly string[]
  /** What to ask the world, by ring. */
  readonly asks?: readonly RingGateQuery[]
  /** Milliseconds since 1970 at which to look again. */
  readonly until?: number
  /** One sentence about the whole. */
  readonly message: string
}

/** What to do next. */
export type RolloutDecision =
  | (Base & { readonly kind: 'Admit'; readonly admitted: readonly RolloutAdmission[] })
  | (Base & { readonly kind: 'Wait' | 'Pause' | 'Fail'; readonly hold: Hold })
  | (Base & { readonly kind: 'Open'; readonly opened: string })
  | (Base & { readonly kind: 'Pass'; readonly passed: string })
  | (Base & { readonly kind: 'Complete'; readonly excused: readonly string[] })
  | (Base & { readonly kind: 'Supersede'; readonly by: string })
