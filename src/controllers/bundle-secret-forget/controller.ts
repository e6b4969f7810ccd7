import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import { isApiError, toError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import { preconditionsFor } from '../writes/preconditions.ts'
import { BUNDLE_SECRET_LABEL, bundleSecretKeys } from '../secrets/bundle-secrets.ts'
import { highestAssigned } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { adoptBundleSecrets } from './adopt-bundle-secrets.ts'
import { bundleSecretForgetReconciler } from './reconcile.ts'

/** The informer for Secrets of Bundles; other Secrets are not cached. */
export function createBundleSecretInformer(parts: Omit<ControllerParts, 'caches'>): Informer<Secret> {
  return createInformer({ ...parts, type: Secret, select: { labelSelector: `${BUNDLE_SECRET_LABEL}=true` } })
}

function isThere(caches: ControllerParts['caches'], entry: string): boolean {
  const delivery = deliveryKeyOf(entry)
  return delivery === undefined
    ? caches.bundles.lister.get(entry) !== undefined
    : caches.deliveries.lister.get(delivery) !== undefined
}

/** Creates the controller that deletes the Secrets of a Bundle a week after the Bundle is gone. */
export function createBundleSecretForget(parts: ControllerParts & { readonly secrets: Informer<Secret> }): Controller {
  const { caches, client, secrets, log } = parts
  const reconciler = bundleSecretForgetReconciler({
    isUsed: (entry) => isThere(caches, entry) || highestAssigned(caches, entry) > 0,
    remove: async ({ metadata }, signal) => {
      const { name, namespace = '' } = metadata
      try {
        await client.delete(Secret, { namespace, name }, { ...preconditionsFor(metadata), signal })
      } catch (caught) {
        if (!isApiError(caught, 'NotFound') && !isApiError(caught, 'Conflict')) throw caught
      }
    },
  })
  const triggers = [
    triggerOn(caches.bundles, ({ key, before, after }) => (before && after ? [] : bundleSecretKeys(key))),
    triggerOn(caches.assignments, ({ before, after }) => {
      const left = new Set(after?.spec.entries.map(({ bundle }) => bundle))
      return (before?.spec.entries ?? []).flatMap(({ bundle }) => (left.has(bundle) ? [] : bundleSecretKeys(bundle)))
    }),
  ]
  const controller = createController({
    ...parts,
    type: Secret,
    informer: secrets,
    reconciler,
    triggers,
    failureCondition: false,
  })

  return {
    ...controller,
    run: async (signal) => {
      const adopting = adoptBundleSecrets(client, signal).then(
        (count) => count > 0 && log.info({ count }, 'secrets of bundles from before they were marked are marked'),
        (caught: unknown) => {
          if (!signal.aborted)
            log.warn({ err: toError(caught) }, 'secrets of bundles were not looked for; the next start does')
        },
      )
      await Promise.all([adopting, controller.run(signal)])
    },
  }
}
