import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Window } from '../../kinds/native/window.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { windowCheckReconciler } from './reconcile.ts'

/** Creates the controllers that write the status of Windows and ClusterWindows. */
export function createWindowCheck(parts: ControllerParts): Controller[] {
  const { caches } = parts
  return [
    createController({ ...parts, type: Window, informer: caches.windows, reconciler: windowCheckReconciler<Window>() }),
    createController({
      ...parts,
      type: ClusterWindow,
      informer: caches.clusterWindows,
      reconciler: windowCheckReconciler<ClusterWindow>(),
    }),
  ]
}
