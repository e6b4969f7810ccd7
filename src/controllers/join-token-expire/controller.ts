import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { joinTokenExpireReconciler } from './reconcile.ts'

/** Creates the controller that writes the status of JoinTokens. */
export function createJoinTokenExpire(parts: ControllerParts): Controller {
  return createController({
    ...parts,
    type: JoinToken,
    informer: parts.caches.joinTokens,
    reconciler: joinTokenExpireReconciler(),
    failureCondition: false,
  })
}
