import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Secret } from '../../kinds/builtin/core.ts'
import { BUNDLE_ANNOTATION } from '../secrets/bundle-secrets.ts'

/** Time since which no Bundle and no cluster needs the Secret. */
export const UNUSED_SINCE = 'flotilla.dev/unused-since'

const DAY_MS = 24 * 3600 * 1000
/** Time for which a Secret outlives its Bundle. */
export const KEPT_MS = 7 * DAY_MS

/** The ports of bundle-secret-forget; Bundles are `namespace/name`. */
export interface BundleSecretForgetPorts {
  /** Whether the Bundle exists, or a cluster has content of it. */
  isUsed(bundle: string): boolean
  remove(secret: Secret, signal: AbortSignal): Promise<void>
}

/** Deletes Secrets of Bundles that do not exist any more. */
export function bundleSecretForgetReconciler(ports: BundleSecretForgetPorts): Reconciler<Secret> {
  return {
    name: 'bundle-secret-forget',
    async reconcile({ next: secret }: Draft<Secret>, { clock, signal, log }: Context): Promise<Result> {
      const { annotations = {}, namespace = '', name } = secret.metadata
      const bundle = annotations[BUNDLE_ANNOTATION]
      if (bundle === undefined || secret.metadata.deletionTimestamp) return {}
      const since = annotations[UNUSED_SINCE]
      if (ports.isUsed(`${namespace}/${bundle}`)) {
        if (since !== undefined) delete secret.metadata.annotations![UNUSED_SINCE]
        // No trigger announces that the last cluster removed the content of a deleted Bundle.
        return { requeueAfterMs: DAY_MS }
      }
      const began = since === undefined ? undefined : parseTime(since)
      if (began === undefined) {
        secret.metadata.annotations = { ...annotations, [UNUSED_SINCE]: formatTime(clock.now()) }
        return { requeueAfterMs: KEPT_MS }
      }
      const leftMs = began + KEPT_MS - clock.now()
      if (leftMs > 0) return { requeueAfterMs: leftMs }
      await ports.remove(secret, signal)
      log.info({ secret: name, bundle }, 'secret of a bundle that is gone deleted')
      return {}
    },
  }
}
