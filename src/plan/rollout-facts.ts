/** What a rollout's decision follows from, and what it can be. */
import type { Hold } from './rollout-holds.ts'
import type { ReleaseBundle, RolloutAdmission, RolloutCluster } from './rollout-pairs.ts'

/** Where a Rollout is in its life. */
export type RolloutPhase = 'Pending' | 'Progressing' | 'Completed' | 'Failed' | 'Paused' | 'Superseded'

/** What the planner knows of the Rollout itself. */
export interface RolloutFacts {
  readonly namespace: string
  readonly rings: readonly { readonly name: string; readonly concurrency: number | string }[]
  readonly paused: boolean
  readonly phase?: RolloutPhase
  /** It has recorded that a newer Rollout supersedes it; it never opens again. */
  readonly closed?: boolean
  readonly admissions: readonly RolloutAdmission[]
  /** Milliseconds since 1970. */
  readonly createdAt?: number
}

/** An older Rollout of a bundle of this one. */
export interface Predecessor {
  readonly name: string
  /** The generation of the bundle that it carries. */
  readonly generation: number
  /** It has recorded that it admits nobody any more. */
  readonly closed: boolean
  readonly admissions: readonly RolloutAdmission[]
}

/** Everything a decision follows from. */
export interface RolloutInput {
  readonly rollout: RolloutFacts
  readonly release: { readonly bundles: readonly ReleaseBundle[] } | undefined
  /** Selected clusters per Placement; a Placement whose pages are not complete is absent. */
  readonly decisions: ReadonlyMap<string, readonly string[]>
  readonly clusterOf: (name: string) => RolloutCluster | undefined
  /**
   * They must be as new as, or newer than, what the last write of this Rollout was decided on. One cache of Rollouts,
   * which never goes back, gives that; everything else here may be arbitrarily old.
   */
  readonly predecessors: readonly Predecessor[]
  /** The newer Rollout of one of its bundles. */
  readonly supersededBy?: string
  /** Bundles of the release that were deleted. */
  readonly deletedBundles?: readonly string[]
  readonly now: number
  /** How long an agent has to begin; absent: for ever. */
  readonly startByMs?: number
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

interface Base {
  readonly phase: RolloutPhase
  /** The slots taken after this decision: record exactly these. */
  readonly admissions: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  /** Absent while the members are not known. */
  readonly counts?: RolloutCounts
  readonly ring?: string
  /** One sentence about the whole. */
  readonly message: string
}

/** What to do next. */
export type RolloutDecision =
  | (Base & { readonly kind: 'Admit'; readonly admitted: readonly RolloutAdmission[] })
  | (Base & { readonly kind: 'Wait' | 'Pause' | 'Fail'; readonly hold: Hold })
  | (Base & { readonly kind: 'Complete'; readonly excused: readonly string[] })
  | (Base & { readonly kind: 'Supersede'; readonly by: string })
