import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RingGateQuery } from '../../plan/rollout/types.ts'
import type { GatheredRollout } from '../../plan/rollout/rollout-input.ts'
import type { PassPace } from './pass-pace.ts'
import type { RosterCache } from './roster-cache.ts'

/** The ports of rollout-advance. */
export interface RolloutAdvancePorts {
  /** Reads the objects around a Rollout from the caches. */
  gather(rollout: Rollout, now: number): GatheredRollout
  /**
   * Starts the checks of gates without waiting for the answers; answers to checks that are not in the list are dropped.
   */
  askGates(rollout: Rollout, checks: readonly RingGateQuery[]): void
  /** Limits how often a change of counts alone is written. */
  readonly statusThrottle: KeyedThrottle
  /** Limits how often expensive passes run. */
  readonly pace: Pick<PassPace, 'note'>
  readonly rosterCache: RosterCache
}
