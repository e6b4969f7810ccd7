// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** The workloads of OpenKruise, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { DependentObject } from '../dependencies.ts'
import { requirementsOf } from '../replicas.ts'
import type { InterpretedReplicas } from '../replicas.ts'
import { countIn, listIn, mapIn, replicasIn, textIn, withField } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { generationOf, isObservedEverywhere, lastOf, reflectFields, withStatus } from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'
import { dependenciesOfPods } from './pod-parts.ts'

/** A workload whose counters are added up. */
interface CountedKind {
  readonly counters: readonly string[]
  /** Texts of which the last one counts; empty where no cluster has one. */
  readonly texts: readonly string[]
  /** Further fields that are reported, and not added up. */
  readonly reported?: readonly string[]
}

const podSpec = (object: InterpretedObject): unknown => mapIn(object, 'spec', 'template')['spec']

/** The template must be there: the interpreters of Karmada fail without it. */
function templateOf(object: InterpretedObject): unknown {
  const { template } = mapIn(object['spec'])
  if (!isObject(template)) throw new Error(`${object.kind} ${object.metadata?.name}: spec.template is required`)
  return podSpec(object)
}

function replicasOf(object: InterpretedObject, replicas: number): InterpretedReplicas {
  return compact({ replicas, requires: requirementsOf(templateOf(object)) })
}

function countedKind({ counters, texts, reported = [] }: CountedKind): CustomKind {
  return {
    aggregate: (object, items) => aggregate(object, items, counters, texts),
    status: (object) => reflectFields(object, [...counters, ...texts, ...reported, 'observedGeneration']),
    dependencies: (object) => dependenciesOfPods(object, [templateOf(object)]),
  }
}

function aggregate(
  object: InterpretedObject,
  items: readonly StatusItem[],
  counters: readonly string[],
  texts: readonly string[],
): InterpretedObject {
  const old = mapIn(object['status'])
  const isObserved = items.length === 0 || isObservedEverywhere(object, items)
  const sum = (field: string): number => items.reduce((total, { status }) => total + countIn(status, field), 0)
  const status: JsonObject = {
    ...old,
    ...Object.fromEntries(counters.map((field) => [field, sum(field)])),
    ...Object.fromEntries(texts.map((field) => [field, lastOf(items, field) ?? ''])),
    observedGeneration: isObserved ? generationOf(object) : countIn(old, 'observedGeneration'),
  }
  return withStatus(object, status)
}

const isObserved = ({ metadata, status }: InterpretedObject): boolean =>
  countIn(status, 'observedGeneration') === countIn(metadata, 'generation')

/** Available pods are all updated, and there are enough of them. */
function isRolledOut(object: InterpretedObject): boolean {
  const [updated, available] = [
    countIn(object['status'], 'updatedReplicas'),
    countIn(object['status'], 'availableReplicas'),
  ]
  return isObserved(object) && updated >= (replicasIn(object) ?? 1) && available >= updated
}

/** The interpreter of Karmada fails where the counters of a status that is up to date are absent. */
function isUnitedRolledOut(object: InterpretedObject): boolean {
  const { updatedReplicas, availableReplicas } = mapIn(object['status'])
  if (isObserved(object) && (updatedReplicas === undefined || availableReplicas === undefined)) {
    throw new Error(`UnitedDeployment ${object.metadata?.name}: the status has no counters`)
  }
  return isRolledOut(object)
}

const scaled: Pick<CustomKind, 'replicas' | 'revise' | 'healthy'> = {
  replicas: (object) => replicasOf(object, replicasIn(object) ?? 1),
  revise: (object, replicas) => withField(object, ['spec', 'replicas'], replicas),
  healthy: isRolledOut,
}

const CLONE_SET = countedKind({
  counters: [
    'availableReplicas',
    'expectedUpdatedReplicas',
    'readyReplicas',
    'replicas',
    'updatedReadyReplicas',
    'updatedReplicas',
  ],
  texts: ['currentRevision', 'labelSelector', 'updateRevision'],
})
const STATEFUL_SET = countedKind({
  counters: [
    'availableReplicas',
    'currentReplicas',
    'readyReplicas',
    'replicas',
    'updatedReadyReplicas',
    'updatedReplicas',
  ],
  texts: ['currentRevision', 'updateRevision'],
  reported: ['labelSelector'],
})
const DAEMON_SET = countedKind({
  counters: [
    'currentNumberScheduled',
    'desiredNumberScheduled',
    'numberAvailable',
    'numberMisscheduled',
    'numberReady',
    'numberUnavailable',
    'updatedNumberScheduled',
  ],
  texts: ['daemonSetHash'],
})
const UNITED = countedKind({
  counters: ['availableReplicas', 'readyReplicas', 'replicas', 'unavailableReplicas', 'updatedReplicas'],
  texts: [],
  reported: ['conditions'],
})

function aggregateBroadcastJob(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  if (items.length === 0) return object
  const sum = (field: string): number => items.reduce((total, { status }) => total + countIn(status, field), 0)
  const has = (type: string) => (item: StatusItem) =>
    listIn(item.status, 'conditions').some(
      (condition) => textIn(condition, 'type') === type && textIn(condition, 'status') === 'True',
    )
  const failed = items.filter(has('Failed')).map(({ clusterName }) => clusterName)
  const isComplete = items.every(has('Complete'))
  const conditions =
    failed.length > 0
      ? [
          {
            type: 'Failed',
            status: 'True',
            reason: 'JobFailed',
            message: `Job executed failed in member clusters: ${failed.join(', ')}`,
          },
        ]
      : isComplete
        ? [{ type: 'Completed', status: 'True', reason: 'Completed', message: 'Job completed' }]
        : []
  const status = {
    active: sum('active'),
    conditions,
    desired: sum('desired'),
    failed: sum('failed'),
    phase: lastOf(items, 'phase') ?? '',
    succeeded: sum('succeeded'),
  }
  return { ...object, status }
}

function aggregateCronJob(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  const status = compact({
    active: items.flatMap(({ status: one }) => listIn(one, 'active')),
    type: lastOf(items, 'type') ?? '',
    lastScheduleTime: lastOf(items, 'lastScheduleTime'),
  })
  return { ...object, status }
}

/** The interpreter of Karmada fails for pods that name nothing. */
function broadcastJobDependencies(object: InterpretedObject): readonly DependentObject[] {
  const found = dependenciesOfPods(object, [templateOf(object)])
  if (found.length > 0) return found
  throw new Error(`BroadcastJob ${object.metadata?.name}: the pods name no objects`)
}

/** The job template of an AdvancedCronJob, which is a Job or a BroadcastJob. */
function cronJobDependencies(object: InterpretedObject): readonly DependentObject[] {
  const { template } = mapIn(object['spec'])
  if (!isObject(template)) throw new Error(`AdvancedCronJob ${object.metadata?.name}: spec.template is required`)
  const pods = ['jobTemplate', 'broadcastJobTemplate'].map((field) =>
    mapIn(template, field, 'spec', 'template', 'spec'),
  )
  return dependenciesOfPods(object, pods)
}

/** By apiVersion and kind. */
export const KRUISE_KINDS: Readonly<Record<string, CustomKind>> = {
  'apps.kruise.io/v1alpha1 AdvancedCronJob': { aggregate: aggregateCronJob, dependencies: cronJobDependencies },
  'apps.kruise.io/v1alpha1 BroadcastJob': {
    replicas: (object) => {
      const { parallelism } = mapIn(object['spec'])
      return replicasOf(object, typeof parallelism === 'number' ? parallelism : 1)
    },
    revise: (object, replicas) => withField(object, ['spec', 'parallelism'], replicas),
    aggregate: aggregateBroadcastJob,
    dependencies: broadcastJobDependencies,
    status: ({ status }) => status ?? {},
    healthy: ({ status }) =>
      countIn(status, 'failed') === 0 &&
      countIn(status, 'desired') <= countIn(status, 'active') + countIn(status, 'succeeded') &&
      countIn(status, 'desired') > 0,
  },
  'apps.kruise.io/v1alpha1 CloneSet': { ...CLONE_SET, ...scaled },
  'apps.kruise.io/v1beta1 StatefulSet': { ...STATEFUL_SET, ...scaled },
  'apps.kruise.io/v1alpha1 UnitedDeployment': { ...UNITED, ...scaled, healthy: isUnitedRolledOut },
  'apps.kruise.io/v1alpha1 DaemonSet': {
    ...DAEMON_SET,
    healthy: (object) => {
      const count = (field: string): number => countIn(object['status'], field)
      const updated = count('updatedNumberScheduled')
      return isObserved(object) && updated >= count('desiredNumberScheduled') && count('numberAvailable') >= updated
    },
  },
  'apps.kruise.io/v1alpha1 SidecarSet': {
    replicas: () => ({ replicas: 0 }),
    dependencies: (object) => dependenciesOfPods(object, [object['spec']]),
    status: ({ status }) =>
      isObject(status)
        ? Object.fromEntries(
            ['matchedPods', 'readyPods', 'updatedPods'].map((field) => [field, countIn(status, field)]),
          )
        : {},
    healthy: ({ status }) =>
      isObject(status) && [0, countIn(status, 'updatedPods')].includes(countIn(status, 'matchedPods')),
  },
}
