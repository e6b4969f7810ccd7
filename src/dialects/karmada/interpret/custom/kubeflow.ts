// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** Notebooks and training jobs of Kubeflow, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { compareText } from '../../../../core/text/compare-text.ts'
import { requirementsOf } from '../replicas.ts'
import { countIn, listIn, mapIn, textIn } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { hasCondition } from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'
import { componentsOf, dependenciesOfPods } from './pod-parts.ts'
import type { PodPart } from './pod-parts.ts'

/** The groups of pods of a training job, by the names of their roles. */
function partsOf(object: InterpretedObject, field: string, nameOf: (role: string) => string): PodPart[] {
  const roles = mapIn(object, 'spec', field)
  return Object.keys(roles)
    .toSorted(compareText)
    .map((role) => ({
      name: nameOf(role),
      replicas: replicasOf(mapIn(roles, role)['replicas']),
      pod: mapIn(roles, role, 'template', 'spec'),
    }))
}

/** A number, or a text of one; a role without it has one replica. */
function replicasOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 1
}

/** A job works until it has failed. */
function isWorking(object: InterpretedObject): boolean {
  return listIn(object, 'status', 'conditions').length > 0 && !hasCondition(object, 'Failed')
}

const statusesOf = (items: readonly StatusItem[]): JsonObject[] =>
  items.map(({ status }) => status).filter((status) => isObject(status))

const has = (status: unknown, type: string): boolean =>
  listIn(status, 'conditions').some(
    (condition) => textIn(condition, 'type') === type && textIn(condition, 'status') === 'True',
  )

const earliest = (statuses: readonly unknown[], field: string): string | undefined =>
  statuses
    .map((status) => textIn(status, field))
    .filter((time) => time !== '')
    .toSorted(compareText)[0]

const latest = (statuses: readonly unknown[], field: string): string | undefined =>
  statuses
    .map((status) => textIn(status, field))
    .filter((time) => time !== '')
    .toSorted(compareText)
    .at(-1)

/** The pods of each role by state, added up. */
function addRoles(statuses: readonly JsonObject[], always: readonly string[]): JsonObject {
  // Roles are names of members: `__proto__` would be the prototype of all objects.
  const total = new Map<string, Record<string, number>>()
  for (const status of statuses) {
    const roles = mapIn(status, 'replicaStatuses')
    for (const role of Object.keys(roles)) {
      const counts = total.get(role) ?? Object.fromEntries(always.map((state) => [state, 0]))
      total.set(role, counts)
      const more = mapIn(roles, role)
      for (const state of ['active', 'failed', 'succeeded']) {
        if (countIn(more, state) > 0) counts[state] = (counts[state] ?? 0) + countIn(more, state)
      }
    }
  }
  return Object.fromEntries(total)
}

const condition = (type: string, reason: string, message: string, times: JsonObject): JsonObject => ({
  type,
  status: 'True',
  ...times,
  reason,
  message,
})

const calledAt = (now: string): JsonObject => ({ lastProbeTime: now, lastTransitionTime: now })

/** The newest times of the conditions of a type. */
function timesOf(statuses: readonly JsonObject[], type: string): JsonObject {
  const same = statuses.flatMap((status) => listIn(status, 'conditions')).filter((one) => textIn(one, 'type') === type)
  return compact({
    lastTransitionTime: latest(same, 'lastTransitionTime'),
    lastUpdateTime: latest(same, 'lastUpdateTime'),
  })
}

function aggregateTensorFlow(object: InterpretedObject, items: readonly StatusItem[], now: string): InterpretedObject {
  const statuses = statusesOf(items)
  if (items.length === 0) return { ...object, status: mapIn(object['status']) }
  const failed = items.filter(({ status }) => has(status, 'Failed')).map(({ clusterName }) => clusterName)
  const isComplete = items.every(({ status }) => has(status, 'Succeeded'))
  const message = `TFJob executed failed in member clusters: ${failed.join(', ')}`
  const conditions =
    failed.length > 0
      ? [condition('Failed', 'TFJobFailed', message, calledAt(now))]
      : isComplete
        ? [condition('Succeeded', 'Completed', 'TFJob completed successfully', calledAt(now))]
        : []
  const status = compact({
    conditions,
    replicaStatuses: addRoles(statuses, []),
    startTime: earliest(statuses, 'startTime'),
    completionTime: isComplete ? latest(statuses, 'completionTime') : undefined,
  })
  return { ...object, status }
}

function aggregatePyTorch(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  const statuses = statusesOf(items)
  if (items.length === 0) return { ...object, status: mapIn(object['status']) }
  const failed = items.filter(({ status }) => has(status, 'Failed')).map(({ clusterName }) => clusterName)
  const isComplete = items.every(({ status }) => has(status, 'Succeeded'))
  const isCreated = items.every(({ status }) => has(status, 'Created'))
  const conditions: JsonObject[] = []
  const add = (type: string, message: string) =>
    conditions.push(condition(type, `PyTorchJob${type}`, message, timesOf(statuses, type)))
  if (isCreated) add('Created', 'PyTorchJob is created.')
  if (failed.length > 0) add('Failed', `PyTorchJob executed failed in member clusters: ${failed.join(', ')}`)
  else if (isComplete) add('Succeeded', 'PyTorchJob is successfully completed.')
  else if (Object.keys(timesOf(statuses, 'Running')).length > 0) add('Running', 'PyTorchJob is running.')
  const status = compact({
    conditions,
    replicaStatuses: addRoles(statuses, []),
    startTime: earliest(statuses, 'startTime'),
    completionTime: isComplete ? latest(statuses, 'completionTime') : undefined,
  })
  return { ...object, status }
}

const STATES = ['active', 'failed', 'succeeded']

const MPI_ORDER = ['Created', 'Running', 'Restarting', 'Suspended', 'Succeeded', 'Failed']

/** Conditions of a type are the last ones that are true. */
function aggregateMpi(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  const statuses = statusesOf(items)
  if (items.length === 0) return object
  if (items.length === 1) return { ...object, status: statuses[0] ?? {} }
  const byType = new Map<string, unknown>()
  for (const one of statuses.flatMap((status) => listIn(status, 'conditions'))) {
    if (textIn(one, 'status') === 'True') byType.set(textIn(one, 'type'), one)
  }
  const status = compact({
    conditions: [...byType].toSorted(([a], [b]) => MPI_ORDER.indexOf(a) - MPI_ORDER.indexOf(b)).map(([, one]) => one),
    replicaStatuses: addRoles(statuses, STATES),
    startTime: earliest(statuses, 'startTime'),
    completionTime: latest(statuses, 'completionTime'),
  })
  return { ...object, status }
}

const FATAL_WAITS = [
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'CreateContainerConfigError',
  'Unschedulable',
]

/** A notebook works while its container waits for nothing fatal, and has not ended. */
function isNotebookWorking(status: unknown): boolean {
  if (!isObject(status) || !isObject(status['containerState'])) return false
  const { terminated, waiting, running } = status['containerState']
  if (terminated !== undefined) return false
  if (waiting !== undefined) return !FATAL_WAITS.includes(textIn(waiting, 'reason'))
  return running !== undefined
}

function aggregateNotebook(object: InterpretedObject, items: readonly StatusItem[], now: string): InterpretedObject {
  const statuses = statusesOf(items)
  if (items.length === 0) return object
  if (items.length === 1) return { ...object, status: statuses[0] ?? {} }
  const failed = items.filter(({ status }) => !isNotebookWorking(status)).map(({ clusterName }) => clusterName)
  const running = statuses
    .map((status) => mapIn(status, 'containerState'))
    .filter((state) => isObject(state['running']))
  const message = `Notebook executed failed in member clusters: ${failed.join(', ')}`
  const status = {
    conditions:
      failed.length > 0
        ? [condition('Failed', 'NotebookFailed', message, calledAt(now))]
        : [condition('Ready', 'Ready', 'All notebooks are ready', calledAt(now))],
    containerState:
      failed.length > 0
        ? (statuses.map((one) => mapIn(one, 'containerState')).find((state) => state['terminated'] !== undefined) ?? {
            waiting: { reason: 'Unschedulable' },
          })
        : {
            running: compact({
              startedAt: latest(
                running.map((state) => state['running']),
                'startedAt',
              ),
            }),
          },
    readyReplicas: statuses.reduce((sum, one) => sum + countIn(one, 'readyReplicas'), 0),
  }
  return { ...object, status }
}

function trainingJob(
  field: string,
  nameOf: (role: string) => string,
  aggregate: NonNullable<CustomKind['aggregate']>,
): CustomKind {
  return {
    components: (object) => componentsOf(partsOf(object, field, nameOf)),
    dependencies: (object) =>
      dependenciesOfPods(
        object,
        partsOf(object, field, nameOf).map(({ pod }) => pod),
      ),
    healthy: isWorking,
    status: ({ status }) => status ?? {},
    aggregate,
  }
}

const lower = (role: string): string => role.toLowerCase()

/** By apiVersion and kind. */
export const KUBEFLOW_KINDS: Readonly<Record<string, CustomKind>> = {
  'kubeflow.org/v1 TFJob': trainingJob('tfReplicaSpecs', lower, aggregateTensorFlow),
  'kubeflow.org/v1 PyTorchJob': trainingJob('pytorchReplicaSpecs', lower, aggregatePyTorch),
  'kubeflow.org/v2beta1 MPIJob': trainingJob('mpiReplicaSpecs', (role) => role, aggregateMpi),
  'kubeflow.org/v1 Notebook': {
    replicas: ({ kind, metadata, spec }) => {
      const { template } = mapIn(spec)
      if (!isObject(template)) throw new Error(`${kind} ${metadata?.name}: spec.template is required`)
      return compact({ replicas: 1, requires: requirementsOf(template['spec']) })
    },
    healthy: ({ status }) => isNotebookWorking(status),
    status: ({ status }) => status ?? {},
    aggregate: aggregateNotebook,
  },
}
