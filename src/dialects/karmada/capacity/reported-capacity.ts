// Tested by src/dialects/karmada/capacity/capacity.test.ts
/** Free resources that agents report, as the scheduler reads them; and which bindings wait for them. Pure. */
import { parseTime } from '../../../core/time/time.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { affinityPredicate } from '../schedule/cluster-affinity.ts'
import { amountOf, nanoOf } from '../schedule/amounts.ts'
import type { ClusterSnapshot } from '../schedule/cluster-snapshot.ts'
import { readsCapacity } from '../schedule/schedule-binding.ts'
import type { KarmadaPlacement, ResourceList } from '../types.ts'

/** Free resources in the report of an agent. */
export type Capacity = NonNullable<ClusterReport['spec']['capacity']>

/** Time after the hub asked a cluster in which its report is waited for. */
const PATIENCE_MS = 120_000

type Amounts = Capacity['free']

/** Pods that a cluster can have room for: more is not believed, since the sum over all clusters has 32 bits. */
const MOST_PODS = 100_000

function listOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(amounts.map(({ name, amount }) => [name, believed(name, amount)]))
}

/** An amount that an agent reports: what is less than nothing, or no quantity, is nothing. */
function believed(name: string, amount: string): string {
  const nano = nanoOf(amount)
  if (nano <= 0n) return '0'
  return name === 'pods' && amountOf(nano, false).whole > MOST_PODS ? `${MOST_PODS}` : amount
}

/** The free resources in the fields of a Cluster of Karmada: each group of nodes is a model of its own. */
export function capacityFields({ allocatable, free, nodes }: Capacity) {
  const grades = nodes.map(({ count }, grade) => ({ grade, count }))
  return {
    resourceModels: nodes.map(({ free: own }, grade) => ({
      grade,
      ranges: own.map(({ name, amount }) => ({ name, min: believed(name, amount) })),
    })),
    resourceSummary: {
      allocatable: listOf(allocatable),
      allocated: requestedOf(allocatable, free),
      allocatableModelings: grades,
    },
  }
}

/** The amounts that are not free. */
function requestedOf(allocatable: Amounts, free: Amounts): Record<string, string> {
  const left = listOf(free)
  return Object.fromEntries(
    Object.entries(listOf(allocatable)).map(([name, amount]) => {
      const nano = nanoOf(amount) - nanoOf(left[name])
      const { whole, milli } = amountOf(nano < 0n ? 0n : nano, false)
      return [name, name === 'cpu' && milli % 1000 !== 0 ? `${milli}m` : `${whole}`]
    }),
  )
}

/** The room of quotas by namespace. */
export function quotaRooms({ quotas = [] }: Capacity): ReadonlyMap<string, ResourceList> {
  return new Map(quotas.map(({ namespace, free }) => [namespace, listOf(free)]))
}

/** Whether the free resources of a cluster can matter to a placement. */
export function looksAt(placement: KarmadaPlacement, cluster: ClusterSnapshot): boolean {
  return readsCapacity(placement) && mayChoose(placement, cluster)
}

/** Whether a selection of the placement contains the cluster, in any of its terms. */
export function mayChoose({ clusterAffinity, clusterAffinities }: KarmadaPlacement, cluster: ClusterSnapshot): boolean {
  if (clusterAffinity) return affinityPredicate(clusterAffinity)(cluster)
  if (!clusterAffinities) return true
  return clusterAffinities
    .flatMap((term) => [term, ...(term.overflowAffinities ?? [])])
    .some((term) => affinityPredicate(term)(cluster))
}

/** A cluster in reach that has been asked for its free resources and has not answered yet. */
export interface AskedCluster {
  readonly cluster: ClusterSnapshot
  /** Milliseconds for which its answer is still waited for. */
  readonly waitMs: number
}

/** How long the free resources of a cluster are still waited for; 0 for an agent that does not report them. */
export function patienceFor({ spec }: Cluster, now: number): number {
  const asked = parseTime(spec.capacityAskedAt ?? '')
  return asked === undefined ? PATIENCE_MS : Math.max(0, asked + PATIENCE_MS - now)
}

/** Why a decision of a placement waits: clusters that have not answered. Undefined when it does not wait. */
export function awaitedCapacity(
  placement: KarmadaPlacement,
  asked: readonly AskedCluster[],
): { readonly message: string; readonly waitMs: number } | undefined {
  if (!readsCapacity(placement)) return undefined
  const awaited = asked.filter(({ cluster, waitMs }) => waitMs > 0 && mayChoose(placement, cluster))
  if (awaited.length === 0) return undefined
  const names = nameSome(awaited.map(({ cluster }) => cluster.name))
  return {
    message: `The decision waits until the agents of ${names} have reported their free resources.`,
    waitMs: Math.max(...awaited.map(({ waitMs }) => waitMs)),
  }
}
