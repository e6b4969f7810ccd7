/** Removes what an Application made: its objects in the cluster only with Argo CD's finalizer. */
import type { Context, Draft, Result } from '../../../engine/reconciler.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Application } from '../kinds.ts'
import { removeAllNested } from './nested/nested-applications.ts'
import { STARTED } from './ports.ts'
import type { ArgoPorts } from './ports.ts'

const RESOURCES = 'resources-finalizer.argocd.argoproj.io'
const AGAIN_MS = 5000

/** The Application stays until the agent of an online cluster has confirmed the removal. */
export async function removeApplication(
  { next: app }: Draft<Application>,
  ports: ArgoPorts,
  { signal }: Context,
): Promise<Result> {
  const { metadata } = app
  const { finalizers = [], uid = '', namespace = '' } = metadata
  const cascades = finalizers.some((one) => one.startsWith(RESOURCES))
  if (cascades && (await removeAllNested(app, ports, signal))) return { requeueAfterMs: AGAIN_MS }
  const bundles = ports.madeFor(uid).filter(({ kind }) => kind === Bundle)
  for (const { kind, object } of bundles) {
    if (object.metadata.deletionTimestamp) continue
    const bundle = object as Bundle
    const policy = cascades ? 'Delete' : 'Orphan'
    if ((bundle.spec.delete?.bundleDeleted ?? 'Delete') !== policy) {
      await ports.deletePolicy(bundle, policy, signal)
      return { requeueAfterMs: AGAIN_MS }
    }
    await ports.remove(kind, object, signal)
  }
  if (bundles.length > 0) return { requeueAfterMs: AGAIN_MS }
  const names = bundleNames(app)
  const removals = names.flatMap((name) => ports.removalsOf(namespace, name))
  for (const rollout of removals.filter(isStartable)) await ports.start(rollout, 'deleted', signal)
  // A former destination keeps its objects until a person starts that removal.
  const waits = removals.some(({ spec, status }) => {
    if (spec.removal!.cause !== 'bundleDeleted') return false
    const settled = new Set(status?.settled)
    return spec.removal!.clusters.some((cluster) => !settled.has(cluster) && ports.isOnline(cluster))
  })
  if (removals.some(isStartable) || (cascades && waits)) return { requeueAfterMs: AGAIN_MS }
  metadata.finalizers = finalizers.filter((one) => one !== REMOVAL_FINALIZER && !one.startsWith(RESOURCES))
  return {}
}

/** A removal that waits for its start alone, and for no answer of a person. */
function isStartable({ spec, metadata }: Rollout): boolean {
  const { removal, paused } = spec
  return paused && removal?.cause === 'bundleDeleted' && removal.asks === undefined && !metadata.annotations?.[STARTED]
}

/** The names of the Bundles of an Application: each source with content has one. */
function bundleNames({ metadata, spec }: Application): string[] {
  const count = Math.max(1, spec.sources?.length ?? 0)
  return Array.from({ length: count }, (_one, at) => (at === 0 ? metadata.name : `${metadata.name}-${at + 1}`))
}
