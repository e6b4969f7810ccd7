import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { joinTokenExpireReconciler } from './reconcile.ts'

/** JoinToken → its own status. */
export function createJoinTokenExpire(parts: ControllerParts): Controller {
  return createController({
    ...parts,
    type: JoinToken,
    informer: parts.caches.joinTokens,
    reconciler: joinTokenExpireReconciler(),
    failureCondition: false,
  })
}
