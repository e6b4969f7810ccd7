// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** InterpretReplica and ReviseReplica: how many pods a workload wants and what each of them needs. */
import { compact } from '../../../core/compact.ts'
import type { JsonObject } from '../../../core/json.ts'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityForm,
} from '../../../core/text/quantity.ts'
import type { Quantity, QuantityForm } from '../../../core/text/quantity.ts'
import { countIn, kindOf, listIn, mapIn, replicasIn, withField } from './shape.ts'
import type { InterpretedObject } from './shape.ts'

/** What one replica needs of a cluster. */
export interface ReplicaRequirements {
  readonly nodeClaim?: JsonObject
  readonly resourceRequest?: Readonly<Record<string, string>>
}

/** The replicas of a workload, with the requirements of each; no requirements where its pods ask for nothing. */
export interface InterpretedReplicas {
  readonly replicas: number
  readonly requires?: ReplicaRequirements
}

const DIVIDED: ReadonlySet<string> = new Set(['apps/v1 Deployment', 'apps/v1 ReplicaSet', 'apps/v1 StatefulSet'])
const JOB = 'batch/v1 Job'
const POD = 'v1 Pod'

/** Undefined for a kind without replicas. */
export function interpretReplicas(object: InterpretedObject): InterpretedReplicas | undefined {
  const kind = kindOf(object)
  if (kind === POD) return compact({ replicas: 1, requires: requirementsOf(object['spec']) })
  const requires = requirementsOf(mapIn(object['spec'], 'template', 'spec'))
  if (DIVIDED.has(kind)) return compact({ replicas: replicasIn(object) ?? 0, requires })
  return kind === JOB ? compact({ replicas: parallelJobPods(object), requires }) : undefined
}

/** A Job runs no more pods at a time than completions are left. */
function parallelJobPods({ spec }: InterpretedObject): number {
  const { completions } = mapIn(spec)
  const parallelism = countIn(spec, 'parallelism')
  return typeof completions === 'number' ? Math.min(parallelism, completions) : parallelism
}

/** The workload with another number of replicas, if it has one; undefined for a kind without replicas. */
export function reviseReplicas(object: InterpretedObject, replicas: number): InterpretedObject | undefined {
  const kind = kindOf(object)
  const field = DIVIDED.has(kind) ? 'replicas' : kind === JOB ? 'parallelism' : undefined
  if (field === undefined) return undefined
  return field in mapIn(object['spec']) ? withField(object, ['spec', field], replicas) : object
}

/** What one pod of a spec needs; undefined where it asks for nothing. */
export function requirementsOf(podSpec: unknown): ReplicaRequirements | undefined {
  const pod = mapIn(podSpec)
  const nodeClaim = compact({
    hardNodeAffinity: mapIn(pod, 'affinity', 'nodeAffinity')['requiredDuringSchedulingIgnoredDuringExecution'],
    nodeSelector: pod['nodeSelector'],
    tolerations: tolerationsOf(pod),
  })
  const resourceRequest = requestsOf(pod)
  const requires = compact({
    nodeClaim: Object.keys(nodeClaim).length > 0 ? nodeClaim : undefined,
    resourceRequest: Object.keys(resourceRequest).length > 0 ? resourceRequest : undefined,
  })
  return Object.keys(requires).length > 0 ? requires : undefined
}

const TOLERATION = ['key', 'operator', 'value', 'effect', 'tolerationSeconds']

/** The tolerations of a pod, without fields that Kubernetes does not know. */
function tolerationsOf(pod: JsonObject): unknown {
  if (!Array.isArray(pod['tolerations'])) return undefined
  return listIn(pod, 'tolerations').map((toleration) =>
    Object.fromEntries(Object.entries(mapIn(toleration)).filter(([field]) => TOLERATION.includes(field))),
  )
}

interface Amount {
  readonly quantity: Quantity
  readonly form: QuantityForm
}
type Amounts = Map<string, Amount>

/**
 * The sum of the containers or the largest init container, whichever is more, plus the overhead of the pod. The
 * resources of the pod itself and sidecars do not count beyond that.
 */
function requestsOf(pod: JsonObject): Record<string, string> {
  const total: Amounts = new Map()
  for (const container of listIn(pod, 'containers')) merge(total, containerRequests(container), addAmounts)
  for (const container of listIn(pod, 'initContainers')) merge(total, containerRequests(container), larger)
  merge(total, amountsOf(pod['overhead']), addAmounts)
  const wanted = [...total].filter(([, { quantity }]) => quantity.nano > 0n)
  return Object.fromEntries(wanted.map(([name, { quantity, form }]) => [name, formatQuantity(quantity, form)]))
}

/** A limit stands for a request that is absent. */
function containerRequests(container: unknown): Amounts {
  const { requests, limits } = mapIn(container, 'resources')
  return new Map([...amountsOf(limits), ...amountsOf(requests)])
}

function amountsOf(resources: unknown): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, value] of Object.entries(mapIn(resources))) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const quantity = parseQuantity(value)
    if (quantity) amounts.set(name, { quantity, form: quantityForm(value) })
  }
  return amounts
}

function merge(total: Amounts, more: Amounts, join: (a: Amount, b: Amount) => Amount): void {
  for (const [name, amount] of more) {
    const present = total.get(name)
    total.set(name, present ? join(present, amount) : amount)
  }
}

function addAmounts(a: Amount, b: Amount): Amount {
  return { quantity: addQuantities(a.quantity, b.quantity), form: a.quantity.nano === 0n ? b.form : a.form }
}

function larger(a: Amount, b: Amount): Amount {
  return compareQuantities(a.quantity, b.quantity) < 0 ? b : a
}
