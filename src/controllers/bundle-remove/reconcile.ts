import { compact } from '../../core/compact.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { removalQuestion, departingClusters, removalName } from '../../plan/document/removal.ts'
import type { BundleDeparture } from '../../plan/document/removal.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { rolloutRings } from '../../plan/rollout/rollout-rings.ts'
import type { BundleRemovePorts, Holder } from './ports.ts'

/** The most clusters of a Rollout; the other clusters follow in the next Rollout. */
const MAX_CLUSTERS = 10_000

/** Creates a Rollout for the clusters that lose a Bundle; plan/document/removal.ts decides which. */
export function bundleRemoveReconciler(ports: BundleRemovePorts): Reconciler<Bundle> {
  return {
    name: 'bundle-remove',
    async reconcile(draft: Draft<Bundle>, context: Context): Promise<Result> {
      const bundle = draft.next
      const finalizers = bundle.metadata.finalizers ?? []
      const isOurs = finalizers.includes(REMOVAL_FINALIZER)
      const deleted = bundle.metadata.deletionTimestamp !== undefined
      if (deleted && !isOurs) return {}
      if (!deleted && !isOurs) {
        // No cluster can have the Bundle before its first Release.
        if (bundle.status?.release === undefined) return {}
        bundle.metadata.finalizers = [...finalizers, REMOVAL_FINALIZER]
        return {}
      }
      const holders = ports.holdersOf(bundle)
      const decided = deleted ? undefined : ports.decidedOf(bundle)
      const leave = departingClusters({
        deleted,
        placement: bundle.spec.placement,
        holders,
        covered: new Set(ports.removalsOf(bundle).flatMap(unsettledClusters)),
        selectedBy: (placement, cluster) => ports.selects(bundle, placement, cluster),
        stoppedBy: ports.stoppedBy(bundle),
        ...compact({ decided }),
      })
      if (leave) await writeDown(bundle, leave, { holders, ports, context })
      if (deleted) bundle.metadata.finalizers = finalizers.filter((finalizer) => finalizer !== REMOVAL_FINALIZER)
      return {}
    },
  }
}

async function writeDown(
  bundle: Bundle,
  leave: BundleDeparture,
  to: { readonly holders: readonly Holder[]; readonly ports: BundleRemovePorts; readonly context: Context },
): Promise<void> {
  const { holders, ports, context } = to
  for (let from = 0; from < leave.clusters.length; from += MAX_CLUSTERS) {
    const some = { ...leave, clusters: leave.clusters.slice(from, from + MAX_CLUSTERS) }
    const rollout = rolloutFor(bundle, some, { holders, ports, whole: leave })
    try {
      await ports.createRollout(rollout, context.signal)
    } catch (caught) {
      if (!ports.isNamespaceEnding(caught)) throw caught
      context.log.warn({ bundle: bundle.metadata.name }, 'its namespace is being deleted; clusters keep what they run')
      return
    }
    context.log.info(
      { rollout: rollout.metadata.name, cause: leave.cause, clusters: some.clusters.length },
      'removal written down',
    )
  }
}

const byName = (a: Rollout, b: Rollout) => compareText(a.metadata.name, b.metadata.name)

function rolloutFor(
  bundle: Bundle,
  { cause, clusters, reason }: BundleDeparture,
  around: { readonly holders: readonly Holder[]; readonly ports: BundleRemovePorts; readonly whole: BundleDeparture },
): Rollout {
  const { holders, ports, whole } = around
  const { name, namespace, annotations } = bundle.metadata
  // The generation of the content: a deletion increases metadata.generation.
  const generation = bundle.status?.revision?.generation ?? 0
  const last = ports.lastRolloutOf(bundle)
  const release = annotations?.[ALLOW_DROP_ANNOTATION]
  const asks = removalQuestion(whole, { holders, placement: bundle.spec.placement, generation, release })
  const at = new Map<string, { readonly revision: number; readonly after: string[] }>()
  const revisions = new Map(holders.map((holder) => [holder.cluster, holder.revision]))
  for (const cluster of clusters) at.set(cluster, { revision: revisions.get(cluster) ?? 0, after: [] })
  for (const { metadata, status } of ports.removalsOf(bundle).toSorted(byName))
    for (const cluster of status?.settled ?? []) at.get(cluster)?.after.push(metadata.name)
  const moves = rolloutRings(bundle.spec.rollout, ports.planOf(bundle), last?.spec)
  return {
    apiVersion: apiVersionOf(Rollout),
    kind: Rollout.kind,
    metadata: {
      name: removalName(name, Object.fromEntries(at)),
      ...compact({ namespace: namespace || undefined }),
    },
    spec: {
      ...moves,
      release: last?.spec.release ?? name,
      paused: moves.paused || asks !== undefined,
      removal: {
        bundle: name,
        cause,
        policy: bundle.spec.delete?.[cause] ?? 'Delete',
        clusters: [...clusters],
        reason,
        ...compact({ asks }),
      },
    },
  }
}
