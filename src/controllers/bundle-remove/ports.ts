import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { BundleHolder, IntentFacts } from '../../plan/document/removal.ts'

/** A cluster that has the Bundle, with the Placement of its Release as far as the Release still exists. */
export interface Holder extends BundleHolder {
  /** The revision of the cluster's document. */
  readonly revision: number
}

/** The ports of bundle-remove. */
export interface BundleRemovePorts {
  /** The decisions of the Bundle's Placement; undefined while they are not complete. */
  decidedOf(bundle: Bundle): IntentFacts['decided']
  holdersOf(bundle: Bundle): readonly Holder[]
  /** The Rollouts that remove the Bundle, also finished Rollouts. */
  removalsOf(bundle: Bundle): readonly Rollout[]
  /** Whether a Placement in the namespace of the Bundle selects a cluster. */
  selects(bundle: Bundle, placement: string, cluster: string): boolean
  /** The filters of the Bundle's Placement that reject a cluster. */
  stoppedBy(bundle: Bundle): IntentFacts['stoppedBy']
  planOf(bundle: Bundle): RolloutPlan | undefined
  /** The newest Rollout of a Release of the Bundle. */
  lastRolloutOf(bundle: Bundle): Rollout | undefined
  createRollout(rollout: Rollout, signal: AbortSignal): Promise<void>
  /** Whether an error means that the Bundle's namespace is being deleted. */
  isNamespaceEnding(caught: unknown): boolean
}
