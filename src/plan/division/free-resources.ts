/**
 * The free resources of a cluster, from its nodes, pods and quotas: what the agent reports while the hub divides
 * replicas by them. Amounts are rounded down to a tenth of a node or of a quota, so that a report seldom changes. Pure.
 */
import type { Static } from 'typebox'
import { formatQuantity, parseQuantity } from '../../core/text/quantity.ts'
import type { ReportedCapacity } from '../../kinds/fields/report.ts'

/** Amounts by name of the resource, as Kubernetes writes them. */
type Amounts = Readonly<Record<string, string>>

/** The fields of a node that count. */
export interface CapacityNode {
  readonly metadata: { readonly name: string }
  readonly spec?: {
    readonly unschedulable?: boolean
    readonly taints?: readonly { readonly effect: string }[]
  }
  readonly status?: {
    readonly allocatable?: Amounts
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

interface CapacityContainer {
  readonly restartPolicy?: string
  readonly resources?: { readonly requests?: Amounts }
}

/** The fields of a pod that count. */
export interface CapacityPod {
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly CapacityContainer[]
    readonly initContainers?: readonly CapacityContainer[]
    readonly overhead?: Amounts
  }
  readonly status?: { readonly phase?: string }
}

/** The fields of a ResourceQuota that count. */
export interface CapacityQuota {
  readonly metadata: { readonly namespace?: string }
  readonly spec?: { readonly scopes?: readonly string[]; readonly scopeSelector?: unknown }
  readonly status?: { readonly hard?: Amounts; readonly used?: Amounts }
}

/** What a cluster has. */
export interface CapacityFacts {
  readonly nodes: readonly CapacityNode[]
  readonly requests: PodRequests
  readonly quotas: readonly CapacityQuota[]
}

/** What the pods of a cluster request: sums, as there are many more pods than nodes. */
export interface PodRequests {
  readonly byNode: Map<string, Sums>
  /** The requests of pods without a node. */
  readonly waiting: Sums[]
}

/** Free resources as an agent reports them. */
export type FreeResources = Static<typeof ReportedCapacity>

/** Billionths by name of the resource. */
type Sums = Map<string, bigint>

const PODS = 'pods'
const ONE = 1_000_000_000n
const STEPS = 10n
const MAX_NODE_GROUPS = 32
const MAX_QUOTAS = 100
const MAX_RESOURCES = 16
/** A report takes no longer name; with a prefix, a name of Kubernetes may have 317 characters. */
const MAX_NAME = 253
/** Pods without a node that are counted; with more of them, the cluster has no room in any case. */
const MAX_WAITING = 500

/** Adds the requests of pods that are not finished. */
export function addPods({ byNode, waiting }: PodRequests, pods: Iterable<CapacityPod>): void {
  for (const pod of pods) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue
    const { nodeName = '' } = pod.spec ?? {}
    if (nodeName === '') {
      if (waiting.length < MAX_WAITING) waiting.push(podRequests(pod))
      continue
    }
    const sums: Sums = byNode.get(nodeName) ?? new Map()
    byNode.set(nodeName, sums)
    add(sums, podRequests(pod))
  }
}

/** Estimates the free resources. Nodes that take no pods without a toleration do not count. */
export function freeResources({ nodes, requests, quotas }: CapacityFacts): FreeResources {
  const open = nodes.filter(takesPods).map((node) => {
    const allocatable = sumsOf(node.status?.allocatable, (name) => isNodeResource(name))
    return { name: node.metadata.name, allocatable, free: new Map(allocatable) }
  })
  const byName = new Map(open.map((node) => [node.name, node]))
  for (const [name, sums] of requests.byNode) subtract(byName.get(name)?.free, sums)
  // A pod without a node will take room where the most is free.
  for (const sums of requests.waiting) subtract(roomiest(open)?.free, sums)
  for (const { allocatable, free } of open) roundDown(free, allocatable)
  const perNamespace = quotaRoom(quotas)
  return {
    allocatable: amountsOf(total(open.map(({ allocatable }) => allocatable))),
    free: amountsOf(total(open.map(({ free }) => free))),
    nodes: nodeGroups(open.map(({ free }) => free)),
    ...(perNamespace.length > 0 ? { quotas: perNamespace } : {}),
  }
}

function roomiest<T extends { readonly free: Sums }>(nodes: readonly T[]): T | undefined {
  let found: T | undefined
  for (const node of nodes) if (!found || compareBig(node.free.get('cpu'), found.free.get('cpu')) > 0) found = node
  return found
}

/** The requests of a pod: containers and sidecars together, or the largest init container, and the overhead. */
function podRequests({ spec = {} }: CapacityPod): Sums {
  const { containers = [], initContainers = [], overhead } = spec
  const requests = ({ resources }: CapacityContainer) => sumsOf(resources?.requests, () => true)
  const running = total([...containers, ...initContainers.filter(isSidecar)].map(requests))
  for (const container of initContainers.filter((one) => !isSidecar(one))) {
    for (const [name, amount] of requests(container)) {
      if (amount > (running.get(name) ?? 0n)) running.set(name, amount)
    }
  }
  return total([running, sumsOf(overhead, () => true), new Map([[PODS, ONE]])])
}

function isSidecar({ restartPolicy }: CapacityContainer): boolean {
  return restartPolicy === 'Always'
}

function takesPods({ spec = {}, status = {} }: CapacityNode): boolean {
  if (spec.unschedulable === true) return false
  if (spec.taints?.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute')) return false
  return status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

/** Resources of Kubernetes that pods request, and extended resources such as `nvidia.com/gpu`. */
function isNodeResource(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage', PODS].includes(name) || name.includes('/')
}

function sumsOf(amounts: Amounts | undefined, isCounted: (name: string) => boolean): Sums {
  const sums: Sums = new Map()
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const quantity = isCounted(name) ? parseQuantity(text) : undefined
    if (quantity) sums.set(name, quantity.nano)
  }
  return sums
}

function total(all: readonly Sums[]): Sums {
  const sums: Sums = new Map()
  for (const one of all) add(sums, one)
  return sums
}

function add(sums: Sums, more: Sums): void {
  for (const [name, nano] of more) sums.set(name, (sums.get(name) ?? 0n) + nano)
}

function subtract(free: Sums | undefined, requests: Sums): void {
  if (!free) return
  for (const [name, nano] of requests) if (free.has(name)) free.set(name, free.get(name)! - nano)
}

/** Rounds down to a tenth of the whole. Whole numbers, such as pods, stay whole; less than nothing is nothing. */
function roundDown(free: Sums, whole: Sums): void {
  for (const [name, nano] of free) {
    const tenth = whole.get(name)! / STEPS
    const unit = isDivisible(name) ? 1n : ONE
    const step = tenth < unit ? unit : (tenth / unit) * unit
    free.set(name, nano <= 0n ? 0n : (nano / step) * step)
  }
}

function isDivisible(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name)
}

/** Equal nodes together; more groups than a report takes are joined with their neighbours, by the least of each. */
function nodeGroups(nodes: readonly Sums[]): FreeResources['nodes'] {
  const groups = new Map<string, { count: number; free: Sums }>()
  for (const free of nodes) {
    const key = JSON.stringify(amountsOf(free))
    const group = groups.get(key)
    if (group) group.count += 1
    else groups.set(key, { count: 1, free })
  }
  const sorted = [...groups.values()].sort(
    (a, b) =>
      compareBig(a.free.get('cpu'), b.free.get('cpu')) || compareBig(a.free.get('memory'), b.free.get('memory')),
  )
  const size = Math.ceil(sorted.length / MAX_NODE_GROUPS)
  const joined: FreeResources['nodes'] = []
  for (let at = 0; at < sorted.length; at += size) {
    const members = sorted.slice(at, at + size)
    const count = members.reduce((sum, one) => sum + one.count, 0)
    joined.push({ count, free: amountsOf(least(members.map(({ free }) => free))) })
  }
  return joined
}

function least(all: readonly Sums[]): Sums {
  const names = new Set(all.flatMap((one) => [...one.keys()]))
  return new Map(
    [...names].map((name) => [name, all.map((one) => one.get(name) ?? 0n).reduce((a, b) => (a < b ? a : b))]),
  )
}

/** The requests that the quotas of each namespace still allow; the smallest room of several quotas counts. */
function quotaRoom(quotas: readonly CapacityQuota[]): NonNullable<FreeResources['quotas']> {
  const rooms = new Map<string, Sums>()
  for (const { metadata, spec = {}, status = {} } of quotas) {
    // A quota with scopes limits some pods alone.
    if ((spec.scopes ?? []).length > 0 || spec.scopeSelector !== undefined) continue
    const hard = requestNames(status.hard)
    const used = requestNames(status.used)
    const free: Sums = new Map([...hard].map(([name, nano]) => [name, nano - (used.get(name) ?? 0n)]))
    roundDown(free, hard)
    if (free.size === 0) continue
    const namespace = metadata.namespace ?? ''
    const before = rooms.get(namespace)
    rooms.set(namespace, before ? smaller(before, free) : free)
  }
  return [...rooms]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_QUOTAS)
    .map(([namespace, free]) => ({ namespace, free: amountsOf(free) }))
}

/** The limits of a quota on requests, by the names that pods request. */
function requestNames(amounts: Amounts | undefined): Sums {
  const sums: Sums = new Map()
  for (const [limit, nano] of sumsOf(amounts, () => true)) {
    const name = limit === 'count/pods' ? PODS : limit.startsWith('requests.') ? limit.slice(9) : limit
    if (name !== PODS && !(isNodeResource(name) && !limit.startsWith('count/'))) continue
    const before = sums.get(name)
    if (before === undefined || nano < before) sums.set(name, nano)
  }
  return sums
}

function smaller(a: Sums, b: Sums): Sums {
  const names = new Set([...a.keys(), ...b.keys()])
  return new Map(
    [...names].map((name) => {
      const [one, other] = [a.get(name), b.get(name)]
      return [name, one === undefined ? other! : other === undefined || one < other ? one : other]
    }),
  )
}

function amountsOf(sums: Sums): FreeResources['free'] {
  return [...sums]
    .filter(([name]) => name.length <= MAX_NAME)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_RESOURCES)
    .map(([name, nano]) => ({ name, amount: textOf(name, nano) }))
}

function textOf(name: string, nano: bigint): string {
  if (name === 'cpu') return formatQuantity({ nano: nano - (nano % 1_000_000n) }, 'decimal')
  if (name === 'memory' || name === 'ephemeral-storage') return `${nano / ONE / 1024n}Ki`
  return String(nano / ONE)
}

function compareBig(a = 0n, b = 0n): number {
  return a < b ? -1 : a > b ? 1 : 0
}
