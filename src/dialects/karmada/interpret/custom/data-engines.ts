// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** Applications of Spark and deployments of Flink, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { compareText } from '../../../../core/text/compare-text.ts'
import { compareQuantities, parseQuantity } from '../../../../core/text/quantity.ts'
import { requirementsOf } from '../replicas.ts'
import type { InterpretedReplicas, ReplicaRequirements } from '../replicas.ts'
import { countIn, mapIn, textIn } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { lastOf } from './custom-kind.ts'
import type { Component, CustomKind } from './custom-kind.ts'

const MEBI = 1_048_576
const LEAST_OVERHEAD_MIB = 384
const UNITS: Readonly<Record<string, number>> = { '': 1 / MEBI, b: 1 / MEBI, k: 1 / 1024, m: 1, g: 1024, t: MEBI }

/** Memory as Spark writes it (`512m`, `1g`), in mebibytes; 1 GiB where it is absent. */
function mebibytes(text: string): number {
  const match = /^(\d{1,12})([kmgtb]?)(i?b?)$/.exec(text.toLowerCase().slice(0, 32))
  return match ? Number(match[1]) * UNITS[match[2]!]! : 1024
}

/** The memory of a pod of Spark: a share of it, or at least 384 MiB, is for what is not the Java heap. */
function sparkMemory(role: JsonObject, spec: JsonObject): string {
  const memory = mebibytes(textIn(role, 'memory'))
  const told = textIn(spec, 'memoryOverheadFactor')
  const isPlain = /^\d{1,3}(\.\d{1,6})?$/.test(told)
  const isJvm = ['Java', 'Scala'].includes(textIn(spec, 'type'))
  const factor = isPlain ? Number(told) : isJvm ? 0.1 : 0.4
  const explicit = textIn(role, 'memoryOverhead')
  const overhead = explicit === '' ? Math.max(LEAST_OVERHEAD_MIB, memory * factor) : mebibytes(explicit)
  return `${Math.round((memory + overhead) * MEBI * 1000)}m`
}

function sparkComponents({ spec }: InterpretedObject): Component[] {
  return ['driver', 'executor'].map((name) => {
    const role = mapIn(spec, name)
    const { cores, coreRequest, instances } = role
    const cpu = typeof coreRequest === 'string' ? coreRequest : typeof cores === 'number' ? String(cores) : '1'
    const { nodeClaim } = requirementsOf(role) ?? {}
    const gpu = textIn(role, 'gpu', 'name')
    const replicaRequirements: ReplicaRequirements = compact({
      nodeClaim,
      resourceRequest: {
        cpu,
        memory: sparkMemory(role, mapIn(spec)),
        ...(gpu !== '' && { [gpu]: String(countIn(mapIn(role, 'gpu'), 'quantity')) }),
      },
    })
    return { name, replicas: name === 'executor' && typeof instances === 'number' ? instances : 1, replicaRequirements }
  })
}

const SPARK_STATES = ['FAILED', 'RUNNING', 'SUBMITTED', 'COMPLETED']
const SPARK_WORKING = ['COMPLETED', 'RUNNING', 'SUBMITTED']

function aggregateSpark(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  if (items.length === 0) return object
  const statuses = items.map(({ status }) => mapIn(status))
  if (items.length === 1) return { ...object, status: statuses[0] }
  const sum = (field: string): number => statuses.reduce((total, status) => total + countIn(status, field), 0)
  const latest = (field: string): string =>
    statuses
      .map((status) => textIn(status, field))
      .toSorted(compareText)
      .at(-1)!
  const states = statuses.map((status) => textIn(status, 'applicationState', 'state'))
  // The interpreter of Karmada fails for a state that it does not know.
  const isUnknown = statuses.some(
    (one, index) => isObject(one['applicationState']) && !SPARK_STATES.includes(states[index]!),
  )
  if (isUnknown) throw new Error(`SparkApplication ${object.metadata?.name}: a cluster reports no known state`)
  const state = SPARK_STATES.find((one) => states.includes(one))
  const status = {
    ...(state !== undefined && { applicationState: { state } }),
    executionAttempts: sum('executionAttempts'),
    executorState: Object.fromEntries(statuses.flatMap((one) => Object.entries(mapIn(one, 'executorState')))),
    lastSubmissionAttemptTime: latest('lastSubmissionAttemptTime'),
    submissionAttempts: sum('submissionAttempts'),
    terminationTime: latest('terminationTime'),
  }
  return { ...object, status }
}

/** Replicas of the task manager: as told, or as many as the slots of a job take. */
function taskManagers({ spec }: InterpretedObject): number {
  const { replicas } = mapIn(spec, 'taskManager')
  if (typeof replicas === 'number') return replicas
  const parallelism = countIn(mapIn(spec, 'job'), 'parallelism')
  const told = String(mapIn(spec, 'flinkConfiguration')['taskmanager.numberOfTaskSlots'])
  const slots = /^[1-9]\d{0,5}$/.test(told) ? Number(told) : 1
  return Math.max(1, Math.ceil(parallelism / slots))
}

const jobManagers = ({ spec }: InterpretedObject): number => {
  const { replicas } = mapIn(spec, 'jobManager')
  return typeof replicas === 'number' ? replicas : 1
}

function resourcesOf(manager: unknown): Record<string, string> {
  const { cpu, memory } = mapIn(manager, 'resource')
  const told = Object.entries({ cpu, memory }).filter(([, value]) => ['number', 'string'].includes(typeof value))
  return Object.fromEntries(told.map(([name, value]) => [name, String(value)]))
}

/** Requirements with the priority of the pods, which Karmada passes on to quotas. */
interface FlinkRequirements extends ReplicaRequirements {
  readonly namespace?: string
  readonly priorityClassName?: string
}

function flinkComponents(object: InterpretedObject): Component[] {
  const { spec } = object
  const pod = mapIn(spec, 'podTemplate', 'spec')
  const { nodeClaim } = requirementsOf(pod) ?? {}
  const priorityClassName = textIn(pod, 'priorityClassName') || undefined
  const component = (name: string, replicas: number, manager: unknown): Component => {
    const replicaRequirements: FlinkRequirements = compact({
      nodeClaim,
      resourceRequest: resourcesOf(manager),
      priorityClassName,
    })
    return { name, replicas, replicaRequirements }
  }
  return [
    component('jobmanager', jobManagers(object), mapIn(spec, 'jobManager')),
    component('taskmanager', taskManagers(object), mapIn(spec, 'taskManager')),
  ]
}

/** All pods are taken to need what the larger manager needs. */
function flinkReplicas(object: InterpretedObject): InterpretedReplicas {
  const { spec, metadata } = object
  const most = new Map<string, string>()
  for (const manager of [mapIn(spec, 'jobManager'), mapIn(spec, 'taskManager')]) {
    for (const [name, amount] of Object.entries(resourcesOf(manager))) {
      const [present, more] = [parseQuantity(most.get(name) ?? '-1'), parseQuantity(amount)]
      if (present && more && compareQuantities(present, more) < 0) most.set(name, amount)
    }
  }
  const pod = mapIn(spec, 'podTemplate', 'spec')
  const requires: FlinkRequirements = compact({
    nodeClaim: requirementsOf(pod)?.nodeClaim,
    resourceRequest: Object.fromEntries(most),
    namespace: metadata?.namespace,
    priorityClassName: textIn(pod, 'priorityClassName') || undefined,
  })
  return { replicas: jobManagers(object) + taskManagers(object), requires }
}

const UNDECIDED = ['CREATED', 'INITIALIZING', 'RECONCILING']
/** Errors of a start that the controller of Flink tries again by itself. */
const TRANSIENT = ['ImagePullBackOff', 'ErrImagePull']

function isFlinkWorking({ status }: InterpretedObject): boolean {
  const state = textIn(status, 'jobStatus', 'state')
  if (state === 'RUNNING' || state === 'FINISHED') return true
  if (UNDECIDED.includes(state)) return TRANSIENT.includes(textIn(status, 'error'))
  const isSession = mapIn(status)['jobStatus'] === undefined
  return (
    isSession &&
    textIn(status, 'jobManagerDeploymentStatus') === 'READY' &&
    textIn(status, 'lifecycleState') === 'STABLE'
  )
}

const FLINK_TEXTS = ['error', 'jobManagerDeploymentStatus', 'lifecycleState']

function aggregateFlink(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  const told = (field: string): unknown =>
    items
      .map(({ status }) => mapIn(status)[field])
      .filter((value) => isObject(value) && Object.keys(value).length > 0)
      .at(-1)
  const status = compact({
    ...Object.fromEntries(FLINK_TEXTS.map((field) => [field, lastOf(items, field) ?? ''])),
    observedGeneration: items.reduce((most, { status: one }) => Math.max(most, countIn(one, 'observedGeneration')), 0),
    clusterInfo: told('clusterInfo'),
    jobStatus: told('jobStatus'),
    reconciliationStatus: told('reconciliationStatus'),
    taskManager: told('taskManager'),
  })
  return { ...object, status }
}

/** By apiVersion and kind. */
export const DATA_ENGINE_KINDS: Readonly<Record<string, CustomKind>> = {
  'sparkoperator.k8s.io/v1beta2 SparkApplication': {
    components: sparkComponents,
    aggregate: aggregateSpark,
    status: ({ status }) => status ?? {},
    healthy: (object) => SPARK_WORKING.includes(textIn(object, 'status', 'applicationState', 'state')),
  },
  'flink.apache.org/v1beta1 FlinkDeployment': {
    replicas: flinkReplicas,
    components: flinkComponents,
    aggregate: aggregateFlink,
    status: ({ status }) => status ?? {},
    healthy: isFlinkWorking,
  },
}
