import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RollbackWorld } from '../../plan/release/rollback-request.ts'

/** The mark of a bundle whose content was taken back. */
export type BadRevisionMark = NonNullable<NonNullable<Release['status']>['bad']>[number]

/** What rollout-undo needs from the world. */
export interface RolloutUndoPorts {
  releaseNamed(rollout: Rollout, name: string): Release | undefined
  /** What rollbacks beside the Rollout are worked out from. */
  worldOf(rollout: Rollout): RollbackWorld
  markBad(release: Release, marks: readonly BadRevisionMark[], signal: AbortSignal): Promise<void>
  createRelease(release: Release, signal: AbortSignal): Promise<void>
}
