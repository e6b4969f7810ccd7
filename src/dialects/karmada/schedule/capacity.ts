// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Estimates of how many replicas of a workload a cluster has room for, from what the cluster reports of itself. */
import { toInt32 } from '../../../plan/division/divide-replicas.ts'
import type { KarmadaBinding, ReplicaRequirements, ResourceList } from '../types.ts'
import { amountOf, nanoOf } from './amounts.ts'
import type { Amount } from './amounts.ts'
import type { ClusterSnapshot, FreeResources } from './cluster-snapshot.ts'
import { replicasOnNodes, setsOnNodes } from './model-nodes.ts'

/** The largest number of replicas in Kubernetes. */
const NO_LIMIT = 2 ** 31 - 1

/** Number of further replicas, or sets of components, that fit on a cluster. */
export type CapacityEstimate = (cluster: ClusterSnapshot) => number

/** The estimate for a binding. `countsSets`: the workload's components are scheduled together, as one set. */
export function capacityEstimate({ spec }: KarmadaBinding, countsSets: boolean): CapacityEstimate {
  const { replicas = 0, components = [], replicaRequirements } = spec
  // An object without pods fits everywhere.
  if (replicas === 0 && components.length === 0) return () => NO_LIMIT
  if (countsSets) return setEstimate(components)
  const estimate = replicaEstimate(replicaRequirements, replicas)
  const { namespace = '' } = spec.resource
  return (cluster) => {
    const room = cluster.quotaRooms?.get(namespace)
    return room ? Math.min(estimate(cluster), replicasInQuota(room, replicaRequirements)) : estimate(cluster)
  }
}

/** A quota limits the resources that it names. */
function replicasInQuota(room: ResourceList, requirements: ReplicaRequirements | undefined): number {
  const requests: ResourceList = { ...requirements?.resourceRequest, pods: 1 }
  const times = requestsOf(requests).map(({ name, amount }) => {
    const free = room[name]
    if (free === undefined) return NO_LIMIT
    const { whole, milli } = amountOf(nanoOf(free), false)
    return Math.floor(name === 'cpu' ? milli / amount.milli : whole / amount.whole)
  })
  return Math.max(0, Math.min(NO_LIMIT, ...times))
}

interface Request {
  readonly name: string
  readonly amount: Amount
}

function requestsOf(list: ResourceList = {}): readonly Request[] {
  return Object.entries(list)
    .map(([name, value]) => ({ name, amount: amountOf(nanoOf(value), String(value).endsWith('i')) }))
    .filter(({ amount }) => amount.whole > 0)
}

function replicaEstimate(requirements: ReplicaRequirements | undefined, replicas: number): CapacityEstimate {
  const requests = requestsOf(requirements?.resourceRequest)
  return ({ free }) => {
    if (!free || free.pods <= 0) return 0
    if (!requirements) return boundless(toInt32(free.pods), replicas)
    const fitting = free.nodes
      ? replicasOnNodes(free.nodes, requirements.resourceRequest ?? {})
      : replicasInSum(free, requests)
    return boundless(toInt32(Math.min(free.pods, fitting)), replicas)
  }
}

/** The largest 32-bit number stands for "no limit": the workload's own replicas are then enough. */
function boundless(count: number, replicas: number): number {
  return count === NO_LIMIT ? replicas : count
}

function replicasInSum({ amounts }: FreeResources, requests: readonly Request[]): number {
  let times = Number.MAX_SAFE_INTEGER
  for (const { name, amount } of requests) {
    const free = amounts.get(name)
    if (!free || free.whole <= 0) return 0
    const fitting = name === 'cpu' ? free.milli / amount.milli : free.whole / amount.whole
    times = Math.min(times, Math.floor(fitting))
  }
  return times
}

function setEstimate(components: NonNullable<KarmadaBinding['spec']['components']>): CapacityEstimate {
  const podsOfASet = components.reduce((sum, { replicas = 0 }) => sum + replicas, 0)
  const ofASet = new Map<string, number>()
  for (const { replicas = 0, replicaRequirements } of components) {
    for (const { name, amount } of requestsOf(replicaRequirements?.resourceRequest)) {
      ofASet.set(name, (ofASet.get(name) ?? 0) + countedAs(amount) * replicas)
    }
  }
  const requests = components.map(({ replicas = 0, replicaRequirements }) => ({
    replicas,
    request: replicaRequirements?.resourceRequest ?? {},
  }))
  return ({ free }) => {
    if (!free || free.pods <= 0) return 0
    if (podsOfASet <= 0) return toInt32(free.pods)
    let sets = toInt32(Math.floor(free.pods / podsOfASet))
    for (const [name, amount] of ofASet) {
      if (amount <= 0) continue
      const available = free.amounts.get(name)
      if (!available || countedAs(available) <= 0) return 0
      sets = Math.min(sets, toInt32(Math.floor(countedAs(available) / amount)))
    }
    return free.nodes ? setsOnNodes(free.nodes, requests, sets) : sets
  }
}

/** Sets count thousandths where a quantity is written in decimal steps, and whole units where in steps of 1024. */
function countedAs({ isBinary, whole, milli }: Amount): number {
  return isBinary ? whole : milli
}
