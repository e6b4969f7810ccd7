// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Capacity of clusters that report the sizes of their nodes: how many replicas, or sets of components, fit on them. */
import type { ResourceList, ResourceModel } from '../types.ts'
import { amountOf, nanoOf } from './amounts.ts'

/** A number of equal nodes. */
export interface NodeGroup {
  readonly count: number
  readonly capacity: ReadonlyMap<string, number>
}

/** The nodes of a cluster, smallest grade first. */
export type ModelNodes = readonly NodeGroup[]

/** A component of a set: each of its replicas requests the same. */
export interface ComponentRequest {
  readonly replicas: number
  readonly request: ResourceList
}

const PODS_OF_A_NODE = 110
const PODS = 'pods'
const MAX_SETS = 2 ** 31 - 1
/** Nodes that a set of components is placed on; a cluster that reports more is treated as one of this size. */
const MAX_NODES = 50_000

/** The nodes of a cluster by its models; undefined when the models do not describe them. */
export function modelNodes(
  models: readonly ResourceModel[],
  counts: readonly { readonly grade?: number; readonly count?: number }[],
): ModelNodes | undefined {
  if (models.length === 0 || counts.some(({ count = 0 }) => count < 0)) return undefined
  const countOf = new Map<number, number>()
  for (const { grade = 0, count = 0 } of counts) countOf.set(grade, (countOf.get(grade) ?? 0) + count)
  return [...models]
    .sort((a, b) => (a.grade ?? 0) - (b.grade ?? 0))
    .map(({ grade = 0, ranges = [] }) => ({ count: countOf.get(grade) ?? 0, capacity: capacityOf(ranges) }))
    .filter(({ count }) => count > 0)
}

function capacityOf(ranges: NonNullable<ResourceModel['ranges']>): ReadonlyMap<string, number> {
  const capacity = new Map<string, number>()
  for (const { name, min } of ranges) if (isCounted(name)) capacity.set(name, amountIn(name, min))
  if (!capacity.has(PODS)) capacity.set(PODS, PODS_OF_A_NODE)
  return capacity
}

/** The number of replicas that fit on the nodes, each replica on one node. */
export function replicasOnNodes(nodes: ModelNodes, request: ResourceList): number {
  const perReplica = requestOf(request)
  const fitting = nodes.reduce((sum, { count, capacity }) => sum + count * timesIn(capacity, perReplica), 0)
  return Math.min(fitting, MAX_SETS)
}

/**
 * The number of complete sets of components that fit, at most `limit`. Each component takes the first nodes with room.
 */
export function setsOnNodes(nodes: ModelNodes, components: readonly ComponentRequest[], limit: number): number {
  const free = nodes.flatMap(({ count, capacity }) =>
    Array.from({ length: Math.min(count, MAX_NODES) }, () => new Map(capacity)),
  )
  const wanted = components.map(({ replicas, request }) => ({ replicas, perReplica: requestOf(request) }))
  let sets = 0
  while (sets < limit && wanted.every((component) => place(free, component))) sets++
  return sets
}

interface Wanted {
  readonly replicas: number
  readonly perReplica: ReadonlyMap<string, number>
}

function place(nodes: readonly Map<string, number>[], { replicas, perReplica }: Wanted): boolean {
  let remaining = replicas
  for (const node of nodes) {
    const times = Math.min(remaining, timesIn(node, perReplica))
    for (const [name, amount] of perReplica) node.set(name, (node.get(name) ?? 0) - amount * times)
    remaining -= times
    if (remaining === 0) return true
  }
  return remaining === 0
}

function timesIn(capacity: ReadonlyMap<string, number>, perReplica: ReadonlyMap<string, number>): number {
  let times = Number.MAX_SAFE_INTEGER
  for (const [name, amount] of perReplica) {
    if (amount > 0) times = Math.min(times, Math.floor((capacity.get(name) ?? 0) / amount))
  }
  return times
}

function requestOf(request: ResourceList): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>([[PODS, 1]])
  for (const [name, value] of Object.entries(request)) {
    if (name !== PODS && isCounted(name)) amounts.set(name, amountIn(name, value))
  }
  return amounts
}

function amountIn(name: string, value: string | number): number {
  const { whole, milli } = amountOf(nanoOf(value), false)
  return name === 'cpu' ? milli : whole
}

/** Nodes count the resources of Kubernetes itself and extended resources, for example `nvidia.com/gpu`. */
function isCounted(name: string): boolean {
  if (['cpu', 'memory', 'ephemeral-storage', PODS].includes(name)) return true
  return name.startsWith('hugepages-') || name.startsWith('attachable-volumes-') || name.includes('/')
}
