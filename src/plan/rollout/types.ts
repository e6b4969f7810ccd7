/** Inputs and results of a rollout's decision. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { ApprovalFact } from './gates/approvals.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import type { RemovalFacts } from '../document/removal.ts'
import type { BundleReadiness, GateAnswer, GateQuery } from './gates/judge-gates.ts'
import type { Hold } from './holds.ts'
import type { ReleaseBundle, RolloutAdmission, RolloutCluster } from './bundle-on-cluster.ts'
import type { RingCount, RingSpec, RingState } from './rings.ts'

/** Phase of a Rollout. */
export type RolloutPhase = 'Pending' | 'Progressing' | 'Completed' | 'Failed' | 'Paused' | 'Superseded' | 'Aborted'

/** The Rollout itself, as the decision reads it. */
export interface RolloutFacts {
  readonly name?: string
  readonly namespace: string
  readonly rings: readonly RingSpec[]
  /** The recorded states of the rings. */
  readonly ringStates?: readonly RingState[]
  readonly paused: boolean
  /** The question that a person must answer, where the rollout started paused. */
  readonly asks?: string
  /** A person aborted the rollout: no further cluster is admitted. */
  readonly aborted?: boolean
  /** An admitted cluster that is not Ready after this time counts as failed. */
  readonly progressDeadlineMs?: number
  readonly phase?: RolloutPhase
  /** The Rollout has recorded that newer Rollouts carry all its bundles; it never admits again. */
  readonly closed?: boolean
  /** Recorded takeovers by newer Rollouts. */
  readonly superseded?: readonly Superseded[]
  readonly admissions: readonly RolloutAdmission[]
  /** The Release is a rollback of all clusters or of a ring: no cluster newly receives the content rolled back. */
  readonly takesBack?: boolean
  /** Number of the last manual retry of a cluster. */
  readonly attemptOf?: (cluster: string) => number
  /** Milliseconds since 1970. */
  readonly createdAt?: number
  /** The RolloutPlan that the Rollout was created from. */
  readonly plan?: string
  /** Users that started or resumed the rollout. */
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
  /** The generation of the bundle that the older Rollout carries. */
  readonly generation: number
  /** The older Rollout has recorded that it admits no further cluster for this bundle. */
  readonly closed: boolean
  /** Its slots of this bundle. */
  readonly admissions: readonly RolloutAdmission[]
  /** Its content for a cluster; present only for a rollback of all clusters or of a ring. */
  readonly takesBackTo?: (cluster: string) => Digest | undefined
}

/**
 * All that a decision follows from. A controller gathers it from its caches and calls
 * `planRollout(input)`, which returns, for example, `{ kind: 'Admit', admitted: [...], message: 'Admitted store-1; …'
 * }`.
 */
export interface RolloutInput {
  readonly rollout: RolloutFacts
  readonly release: { readonly bundles: readonly ReleaseBundle[] } | undefined
  /** Selected clusters per Placement; a Placement whose pages are not complete is absent. */
  readonly decisions: Pick<ReadonlyMap<string, readonly string[]>, 'has' | 'get'>
  readonly clusterOf: (name: string) => RolloutCluster | undefined
  /**
   * The predecessors must be at least as new as the state that the last write of this Rollout, and of each predecessor,
   * was decided on. A cache of Rollouts, which never goes back, ensures this. All other inputs may be old.
   */
  readonly predecessors: readonly Predecessor[]
  /** Name of the newest newer Rollout of each bundle, by bundle. */
  readonly newer?: ReadonlyMap<string, string>
  /** Bundles of the release that were deleted. */
  readonly deletedBundles?: readonly string[]
  readonly now: number
  /** The hold of a bundle on a cluster: a hold or cordon of the cluster, a freeze or a closed window. */
  readonly holdOf?: (target: ReleaseBundle, cluster: string) => BundleHold | undefined
  /** First time, in milliseconds since 1970, at which a result of `holdOf` can change; undefined: no time. */
  readonly holdsUntil?: () => number | undefined
  /** Decision groups of a cluster in a Placement. If absent, no cluster is in a group. */
  readonly groupsOf?: (placement: string, cluster: string) => readonly string[]
  /** Approvals of its rings; the API has verified their authors and their permission. */
  readonly approvals?: readonly ApprovalFact[]
  /** The last answer of a gate. */
  readonly gateAnswerOf?: (ring: string, gate: string) => GateAnswer | undefined
  /** Readiness of another Bundle in the Rollout's namespace; undefined: there is no such Bundle. */
  readonly standingOf?: (bundle: string) => BundleReadiness | undefined
  /** Present for a removal; then the release and the decisions do not count. */
  readonly removal?: RemovalFacts
}

/** Progress of a bundle on a cluster towards the content of a Release. */
export type RolloutProgress = 'ready' | 'progressing' | 'pending' | 'failed' | 'offline'

/** Bundles on clusters by progress and by state, as the Rollout's status counts them. */
export interface RolloutCounts extends Readonly<Record<RolloutProgress, number>> {
  readonly total: number
  /** Numbers by state of what runs; absent for a removal. */
  readonly states?: Readonly<Partial<Record<BundleStateName, number>>>
}

/** A slot that is free again, and why. */
export interface FreedSlot {
  readonly admission: RolloutAdmission
  readonly by: 'Report' | 'Overtaken' | 'StartByPassed' | 'ClusterGone'
}

/** A query of a ring's gate. */
export interface RingGateQuery extends GateQuery {
  readonly ring: string
}

interface Base {
  readonly phase: RolloutPhase
  /** All slots that are taken after this decision; the caller records exactly these. */
  readonly admissions: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  /** All bundles that newer Rollouts carry; the caller records exactly these. */
  readonly superseded?: readonly Superseded[]
  /** Absent while the members are not known. */
  readonly counts?: RolloutCounts
  /** Counts per bundle, by name. */
  readonly bundleCounts?: ReadonlyMap<string, RolloutCounts>
  readonly ring?: string
  /** The states of the rings to record; absent while the members are not known. */
  readonly rings?: readonly RingState[]
  readonly ringCounts?: readonly RingCount[]
  /** Of a removal: clusters whose removal is over for good. */
  readonly settled?: readonly string[]
  /** Of a removal: settled clusters that keep the bundle. */
  readonly kept?: readonly string[]
  /** Clusters that are in no ring. */
  readonly unringed?: readonly string[]
  /** Gate queries to send. */
  readonly asks?: readonly RingGateQuery[]
  /** Time of the next pass in milliseconds since 1970. */
  readonly until?: number
  /** A sentence about the rollout. */
  readonly message: string
}

/** The next step of a rollout. */
export type RolloutDecision =
  | (Base & { readonly kind: 'Admit'; readonly admitted: readonly RolloutAdmission[] })
  | (Base & { readonly kind: 'Wait' | 'Pause' | 'Fail'; readonly hold: Hold })
  | (Base & { readonly kind: 'Open'; readonly opened: string })
  | (Base & { readonly kind: 'Pass'; readonly passed: string })
  | (Base & { readonly kind: 'Complete'; readonly excused: readonly string[] })
  | (Base & { readonly kind: 'Supersede'; readonly by: string })
