// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** AggregateStatus: the status of an object on the hub, from its statuses on the clusters. */
import { compact } from '../../../core/compact.ts'
import { canonicalJson, isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { parseTime } from '../../../core/time/time.ts'
import { countersOf } from './reflect-status.ts'
import { countIn, kindOf, listIn, mapIn, textIn, withField } from './shape.ts'
import type { InterpretedObject, StatusItem } from './shape.ts'

/** The new status, or undefined where the status stays. */
type Aggregate = (object: InterpretedObject, items: readonly StatusItem[], now: string) => unknown

/** Counters that are added up, and how a member tells that it has observed the newest template. */
interface Workload {
  readonly always: readonly string[]
  readonly positive: readonly string[]
  isLatest(status: unknown, generation: number): boolean
}

const hasObserved = (status: unknown): boolean => countIn(status, 'observedGeneration') >= countIn(status, 'generation')
const isNewest = (status: unknown, generation: number): boolean =>
  hasObserved(status) && countIn(status, 'resourceTemplateGeneration') >= generation

const DEPLOYMENT: Workload = {
  always: [],
  positive: ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'],
  isLatest: isNewest,
}
const REPLICA_SET: Workload = {
  always: ['replicas'],
  positive: ['readyReplicas', 'availableReplicas'],
  isLatest: isNewest,
}
// Karmada compares the generation of the template with the one of the member here, and reports of members have no
// observedGeneration: the result is wrong both ways there, and so it is here.
const STATEFUL_SET: Workload = {
  always: ['replicas', 'availableReplicas'],
  positive: ['readyReplicas', 'currentReplicas', 'updatedReplicas'],
  isLatest: (status) =>
    hasObserved(status) && countIn(status, 'resourceTemplateGeneration') >= countIn(status, 'generation'),
}
const DAEMON_SET: Workload = {
  always: ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
  positive: ['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
  isLatest: isNewest,
}

const BUDGET = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']

const AGGREGATE: Readonly<Record<string, Aggregate>> = {
  'apps/v1 Deployment': (object, items) => aggregateWorkload(DEPLOYMENT, object, items),
  'apps/v1 ReplicaSet': (object, items) => aggregateWorkload(REPLICA_SET, object, items),
  'apps/v1 StatefulSet': (object, items) => aggregateWorkload(STATEFUL_SET, object, items),
  'apps/v1 DaemonSet': (object, items) => aggregateWorkload(DAEMON_SET, object, items),
  'v1 Service': (object, items) =>
    textIn(object, 'spec', 'type') === 'LoadBalancer'
      ? { ...mapIn(object['status']), ...addressesOf(items) }
      : undefined,
  'networking.k8s.io/v1 Ingress': (_, items) => addressesOf(items),
  'batch/v1 Job': aggregateJob,
  'batch/v1 CronJob': (_, items) =>
    compact({
      active: orAbsent(items.flatMap(({ status }) => listIn(status, 'active'))),
      lastScheduleTime: latest(items, 'lastScheduleTime'),
      lastSuccessfulTime: latest(items, 'lastSuccessfulTime'),
    }),
  'v1 Pod': aggregatePod,
  'v1 PersistentVolume': (_, items) =>
    compact({ phase: firstPhase(items, ['Failed', 'Pending', 'Available', 'Bound', 'Released']) }),
  'v1 PersistentVolumeClaim': (_, items) => ({ phase: firstPhase(items, ['Lost', 'Pending']) ?? 'Bound' }),
  'policy/v1 PodDisruptionBudget': (_, items) =>
    compact({ ...sums(items, BUDGET, []), disruptedPods: disruptedPods(items) }),
  'autoscaling/v2 HorizontalPodAutoscaler': (_, items) => sums(items, ['desiredReplicas'], ['currentReplicas']),
}

/** The object with its new status; undefined for a kind whose status is not aggregated. */
export function aggregateStatus(
  object: InterpretedObject,
  items: readonly StatusItem[],
  now: string,
): InterpretedObject | undefined {
  const aggregate = AGGREGATE[kindOf(object)]
  if (!aggregate) return undefined
  const status = aggregate(object, items, now)
  if (status === undefined) return object
  return kindOf(object) === 'v1 Service' ? { ...withTargetPorts(object), status } : { ...object, status }
}

/** Karmada writes a Service through the Go type, in which an absent target port is 0. */
function withTargetPorts(service: InterpretedObject): InterpretedObject {
  const ports = listIn(service, 'spec', 'ports').map((port) => ({ targetPort: 0, ...mapIn(port) }))
  return withField(service, ['spec', 'ports'], ports)
}

function sums(
  items: readonly StatusItem[],
  always: readonly string[],
  positive: readonly string[],
): Record<string, number> {
  const total = Object.fromEntries(
    [...always, ...positive].map((field) => [
      field,
      items.reduce((sum, { status }) => sum + countIn(status, field), 0),
    ]),
  )
  return countersOf(total, { always, positive })
}

/** `observedGeneration` follows only when each cluster has observed the newest template. */
function aggregateWorkload(
  { always, positive, isLatest }: Workload,
  { metadata, status: old }: InterpretedObject,
  items: readonly StatusItem[],
): unknown {
  const { generation = 0 } = metadata
  const isEverywhere = items.every(({ status }) => isObject(status) && isLatest(status, generation))
  const observedGeneration = isEverywhere ? generation : countIn(old, 'observedGeneration')
  const counters = [...always, ...positive]
  const total = sums(items, counters, [])
  const isSame =
    observedGeneration === countIn(old, 'observedGeneration') &&
    counters.every((field) => total[field] === countIn(old, field))
  if (isSame) return undefined
  const others = Object.entries(mapIn(old)).filter(
    ([field]) => !counters.includes(field) && field !== 'observedGeneration',
  )
  return {
    ...Object.fromEntries(others),
    ...countersOf({ ...total, observedGeneration }, { always, positive: [...positive, 'observedGeneration'] }),
  }
}

/** The addresses of all clusters, each once, by host name and IP; an address without a host name comes last. */
function addressesOf(items: readonly StatusItem[]): { readonly loadBalancer: JsonObject } {
  const found = new Map(
    items
      .flatMap(({ status }) => listIn(status, 'loadBalancer', 'ingress'))
      .map((address) => {
        const fields = Object.entries(mapIn(address)).filter(([, value]) => value !== '')
        return [canonicalJson(Object.fromEntries(fields)), Object.fromEntries(fields)] as const
      }),
  )
  const keyOf = (address: unknown): string => `${textIn(address, 'hostname')}|${textIn(address, 'ip')}`
  const ingress = [...found.values()].toSorted((a, b) => compareText(keyOf(a), keyOf(b)))
  return { loadBalancer: compact({ ingress: orAbsent(ingress) }) }
}

function aggregateJob({ status: old }: InterpretedObject, items: readonly StatusItem[], now: string): unknown {
  if (finishOf(old) !== undefined) return undefined
  const finishes = items.map(({ status }) => finishOf(status))
  const failed = items.filter((_, index) => finishes[index] === 'Failed').map(({ clusterName }) => clusterName)
  const isComplete = items.length > 0 && finishes.every((finish) => finish === 'Complete')
  const finished = (type: string, reason: string, message: string): unknown => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
    reason,
    message,
  })
  const conditions =
    failed.length > 0
      ? [finished('Failed', 'JobFailed', `Job executed failed in member clusters ${failed.join(',')}`)]
      : isComplete
        ? [finished('Complete', 'Completed', 'Job completed')]
        : undefined
  const starts = items.map(({ status }) => textIn(status, 'startTime'))
  const isStarted = starts.length > 0 && starts.every((start) => start !== '')
  const startTime = isStarted ? starts.toSorted(compareTimes)[0] : textIn(old, 'startTime') || undefined
  const completionTime = isComplete ? latest(items, 'completionTime') : textIn(old, 'completionTime') || undefined
  return compact({ ...sums(items, [], ['active', 'succeeded', 'failed']), conditions, startTime, completionTime })
}

function finishOf(status: unknown): 'Complete' | 'Failed' | undefined {
  for (const condition of listIn(status, 'conditions')) {
    const { type, status: state } = mapIn(condition)
    if (state === 'True' && (type === 'Complete' || type === 'Failed')) return type
  }
  return undefined
}

/** The pod of a cluster that has not reported is pending. */
function aggregatePod(_: InterpretedObject, items: readonly StatusItem[]): unknown {
  const statuses = (field: string): unknown[] | undefined =>
    orAbsent(
      items
        .flatMap(({ status }) => listIn(status, field))
        .map((one) => ({ ready: mapIn(one)['ready'] === true, restartCount: 0, state: mapIn(one, 'state') })),
    )
  return compact({
    phase: firstPhase(items, ['Failed', 'Pending', 'Running', 'Succeeded']),
    containerStatuses: statuses('containerStatuses'),
    initContainerStatuses: statuses('initContainerStatuses'),
  })
}

/** The first of the phases that a cluster has. */
function firstPhase(items: readonly StatusItem[], order: readonly string[]): string | undefined {
  const phases = new Set(items.map(({ status }) => (isObject(status) ? textIn(status, 'phase') : 'Pending')))
  return order.find((phase) => phases.has(phase))
}

function disruptedPods(items: readonly StatusItem[]): Record<string, unknown> | undefined {
  const pods = items.flatMap(({ clusterName, status }) =>
    Object.entries(mapIn(status, 'disruptedPods')).map(([pod, time]) => [`${clusterName}/${pod}`, time] as const),
  )
  return pods.length === 0 ? undefined : Object.fromEntries(pods)
}

function latest(items: readonly StatusItem[], field: string): string | undefined {
  return items
    .map(({ status }) => textIn(status, field))
    .filter((time) => time !== '')
    .toSorted(compareTimes)
    .at(-1)
}

function compareTimes(a: string, b: string): number {
  return (parseTime(a) ?? 0) - (parseTime(b) ?? 0)
}

function orAbsent(list: readonly unknown[]): unknown[] | undefined {
  return list.length === 0 ? undefined : [...list]
}
