import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RollbackWorld } from '../../plan/release/rollback-request.ts'

/** The mark of a Bundle whose content was rolled back. */
export type BadRevisionMark = NonNullable<NonNullable<Release['status']>['bad']>[number]

/** The ports of rollout-undo. */
export interface RolloutUndoPorts {
  releaseNamed(rollout: Rollout, name: string): Release | undefined
  /** The objects that a rollback is planned from. */
  worldOf(rollout: Rollout): RollbackWorld
  markBad(release: Release, marks: readonly BadRevisionMark[], signal: AbortSignal): Promise<void>
  createRelease(release: Release, signal: AbortSignal): Promise<void>
}
