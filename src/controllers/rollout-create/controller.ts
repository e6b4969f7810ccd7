import { isApiError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { inNamespaceOf } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { rolloutCreateReconciler } from './reconcile.ts'

/** Creates the controller that makes a Rollout for each Release. */
export function createRolloutCreate(parts: ControllerParts): Controller {
  const { caches, client } = parts
  const reconciler = rolloutCreateReconciler({
    releasesOf: (release, bundle) => caches.releases.lister.by('bundle', inNamespaceOf(release, bundle)),
    bundleOf: (release, bundle) => caches.bundles.lister.get(inNamespaceOf(release, bundle)),
    planOf: (release, plan) => caches.rolloutPlans.lister.get(inNamespaceOf(release, plan)),
    hasRollout: (release) => caches.rollouts.lister.by('release', keyOf(release)).length > 0,
    createRollout: async (rollout, signal) => {
      try {
        await client.create(Rollout, rollout, { fieldManager: 'flotilla-rollout-create', signal })
      } catch (caught) {
        // The cache is behind; an existing Rollout stays, because a user may have changed it.
        if (!isApiError(caught, 'AlreadyExists')) throw caught
      }
    },
  })
  // A Rollout that was deleted while its Release is the newest is created again.
  const rollouts = triggerOn(caches.rollouts, ({ before, after }) =>
    before && !after ? [inNamespaceOf(before, before.spec.release)] : [],
  )
  const plans = triggerOn(caches.rolloutPlans, ({ key, before, after }) =>
    before || !after
      ? []
      : caches.bundles.lister
          .by('plan', key)
          .flatMap((bundle) => caches.releases.lister.by('bundle', keyOf(bundle)).map(keyOf)),
  )
  return createController({
    ...parts,
    type: Release,
    informer: caches.releases,
    reconciler,
    triggers: [rollouts, plans],
  })
}
