import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { IntentFacts } from '../../plan/document/removal.ts'

/** A cluster that has the bundle. */
export interface Holder {
  readonly cluster: string
  /** The Placement it came by, as far as that is known. */
  readonly placement?: string
  /** The revision of its document. */
  readonly revision: number
}

/** What bundle-remove needs from the world. */
export interface BundleRemovePorts {
  /** What the Bundle's Placement decided; undefined while that is not complete. */
  decidedOf(bundle: Bundle): IntentFacts['decided']
  holdersOf(bundle: Bundle): readonly Holder[]
  /** The Rollouts that remove it, or did. */
  removalsOf(bundle: Bundle): readonly Rollout[]
  /** Whether a Placement beside the Bundle selects a cluster. */
  selects(bundle: Bundle, placement: string, cluster: string): boolean
  /** What stops clusters at the Bundle's Placement. */
  stoppedBy(bundle: Bundle): IntentFacts['stoppedBy']
  planOf(bundle: Bundle): RolloutPlan | undefined
  /** The newest Rollout that brought the Bundle. */
  lastRolloutOf(bundle: Bundle): Rollout | undefined
  createRollout(rollout: Rollout, signal: AbortSignal): Promise<void>
  /** Whether a refusal means that the Bundle's namespace is being deleted. */
  isNamespaceEnding(caught: unknown): boolean
}
