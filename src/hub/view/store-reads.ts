/** What rows are made from, read from the embedded home's own store. */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { storePrefix, storeKey } from '../../apiserver/storage/stored-object.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { KubeObject, ObjectKey } from '../../kinds/meta.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Window } from '../../kinds/native/window.ts'
import { compileWindow } from '../../plan/windows/window-rules.ts'
import type { Store } from '../../store/store.ts'
import type { ViewReader } from './bundle-rows.ts'

const PAGE = 20

/** Reads of a store. */
export function storeViewReader(store: Store, clock: Pick<Clock, 'now'>): ViewReader {
  const get = async <T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<T | undefined> => {
    const entry = await store.get(storeKey(kind, key))
    return entry && (JSON.parse(entry.value) as T)
  }
  const list = async <T extends KubeObject>(kind: Kind<T>, namespace: string): Promise<readonly T[]> => {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
    return entries.map(({ value }) => JSON.parse(value) as T)
  }
  async function* inOrder<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    from: readonly [string, string] | undefined,
  ): AsyncGenerator<T> {
    const first = from && (await get(kind, { namespace: from[0], name: from[1] }))
    if (first) yield first
    let after = from && storeKey(kind, { namespace: from[0], name: from[1] })
    for (let more = true; more;) {
      const page = await store.list(
        compact({ prefix: storePrefix(kind, namespace), limit: PAGE, after: after || undefined }),
      )
      for (const { value } of page.entries) yield JSON.parse(value) as T
      after = page.entries.at(-1)?.key
      more = page.more
    }
  }
  return {
    bundle: (namespace, name) => get(Bundle, { namespace, name }),
    bundles: (namespace, from) => inOrder(Bundle, namespace, from),
    delivery: (namespace, name) => get(Delivery, { namespace, name }),
    deliveries: (namespace, from) => inOrder(Delivery, namespace, from),
    placement: (namespace, name) => get(Placement, { namespace, name }),
    decisions: (namespace) => list(PlacementDecision, namespace),
    release: (namespace, name) => get(Release, { namespace, name }),
    releases: (namespace) => list(Release, namespace),
    rollouts: (namespace) => list(Rollout, namespace),
    cluster: (name) => get(Cluster, { name }),
    report: (name) => get(ClusterReport, { name }),
    assignment: (name) => get(Assignment, { name }),
    windows: async (namespace) => {
      const clusterWide = (await store.list({ prefix: storePrefix(ClusterWindow) })).entries
      const objects = [
        ...clusterWide.map(({ value }) => JSON.parse(value) as ClusterWindow),
        ...(await list(Window, namespace)),
      ]
      return objects.map(compileWindow)
    },
    now: () => clock.now(),
  }
}
