// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** The kinds of Ray, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { addQuantities, formatQuantity, parseQuantity, quantityForm } from '../../../../core/text/quantity.ts'
import { countIn, listIn, mapIn, textIn, withField } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { hasCondition } from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'
import { componentsOf, dependenciesOfPods, largestRequirements } from './pod-parts.ts'
import type { PodPart } from './pod-parts.ts'

/** The head and the groups of workers. */
function partsOf(cluster: unknown): PodPart[] {
  const { headGroupSpec } = mapIn(cluster)
  const head: PodPart[] =
    headGroupSpec === undefined
      ? []
      : [{ name: 'ray-head', replicas: 1, pod: mapIn(headGroupSpec, 'template', 'spec') }]
  const workers = listIn(cluster, 'workerGroupSpecs').map((group, index) => ({
    name: textIn(group, 'groupName') || `worker-${index + 1}`,
    replicas: countIn(group, 'replicas'),
    pod: mapIn(group, 'template', 'spec'),
  }))
  return [...head, ...workers]
}

const CLUSTER_OF_JOB = ['spec', 'rayClusterSpec']
const CLUSTER_OF_SERVICE = ['spec', 'rayClusterConfig']

const podsOf = (cluster: unknown): unknown[] => partsOf(cluster).map(({ pod }) => pod)

/** States by weight: of several clusters, the first state counts that one of them has. */
const JOB_STATES = ['FAILED', 'RUNNING', 'PENDING', 'STOPPED', 'SUCCEEDED']
const DEPLOYMENT_STATES = [
  'Failed',
  'ValidationFailed',
  'Retrying',
  'Suspended',
  'Suspending',
  'Running',
  'Waiting',
  'Initializing',
  'Complete',
]

function aggregateCluster(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  if (items.length <= 1) return aggregateOne(object, items)
  const statuses = items.map(({ status }) => mapIn(status))
  const sum = (field: string): number => statuses.reduce((total, status) => total + countIn(status, field), 0)
  const first = (field: string): unknown => statuses.map((status) => status[field]).find((value) => value !== undefined)
  const counters = ['available', 'desired', 'max', 'min', 'ready'].map((word) => `${word}WorkerReplicas`)
  const resources = ['desiredCPU', 'desiredGPU', 'desiredMemory', 'desiredTPU']
  const status: JsonObject = compact({
    ...Object.fromEntries(counters.map((field) => [field, sum(field)])),
    ...Object.fromEntries(resources.map((field) => [field, sumOf(statuses.map((one) => one[field]))])),
    conditions: statuses.flatMap((one) => listIn(one, 'conditions')),
    endpoints: first('endpoints'),
    head: first('head'),
    lastUpdateTime:
      statuses
        .map((one) => textIn(one, 'lastUpdateTime'))
        .toSorted()
        .at(-1) || undefined,
    state: first('state'),
    stateTransitionTimes: first('stateTransitionTimes'),
  })
  return withStatusOnly(object, status)
}

function sumOf(values: readonly unknown[]): string {
  const texts = values.filter((value) => typeof value === 'string')
  const amounts = texts.map((text) => parseQuantity(text)).filter((amount) => amount !== undefined)
  return formatQuantity(addQuantities(...amounts), quantityForm(texts[0] ?? '0'))
}

function aggregateJob(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  if (items.length <= 1) return aggregateOne(object, items)
  const statuses = items.map(({ status }) => mapIn(status))
  const worst = (field: string, order: readonly string[]): JsonObject | undefined => {
    const state = order.find((one) => statuses.some((status) => status[field] === one))
    return state === undefined ? undefined : statuses.find((status) => status[field] === state)
  }
  const job = worst('jobStatus', JOB_STATES)
  const deployment = worst('jobDeploymentStatus', DEPLOYMENT_STATES)
  const status = compact({
    jobStatus: job?.['jobStatus'],
    jobDeploymentStatus: deployment?.['jobDeploymentStatus'],
    message: deployment?.['message'],
    reason: deployment?.['reason'],
  })
  return withStatusOnly(object, status)
}

/** The status of one cluster is the status of the object. */
function aggregateOne(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  return items.length === 0 ? object : withStatusOnly(object, items[0]!.status)
}

/** The interpreters of Karmada for Ray answer with an object that has no spec; only its status is used. */
function withStatusOnly({ apiVersion, kind, metadata }: InterpretedObject, status: unknown): InterpretedObject {
  return { apiVersion, kind, metadata, status }
}

/** All pods but the head are workers: each group gets its share of them, and the last one what is left. */
function reviseWorkers(object: InterpretedObject, replicas: number): InterpretedObject {
  const path = [...CLUSTER_OF_SERVICE, 'workerGroupSpecs']
  const groups = listIn(object, ...path)
  if (groups.length === 0) return object
  const workers = Math.max(0, replicas - 1)
  const total = groups.reduce<number>((sum, group) => sum + countIn(group, 'replicas'), 0)
  const shares = groups.map((group) => (total === 0 ? 0 : Math.floor((workers * countIn(group, 'replicas')) / total)))
  shares[shares.length - 1]! += workers - shares.reduce((sum, share) => sum + share, 0)
  const revised = groups.map((group, index) => ({ ...mapIn(group), replicas: shares[index] }))
  return withField(object, path, revised)
}

/** By apiVersion and kind. */
export const RAY_KINDS: Readonly<Record<string, CustomKind>> = {
  'ray.io/v1 RayCluster': {
    components: ({ spec }) => componentsOf(partsOf(spec)),
    aggregate: aggregateCluster,
    healthy: (object) => hasCondition(object, 'HeadPodReady') && hasCondition(object, 'RayClusterProvisioned'),
  },
  'ray.io/v1 RayJob': {
    components: (object) => componentsOf(partsOf(mapIn(object, ...CLUSTER_OF_JOB))),
    dependencies: (object) =>
      dependenciesOfPods(object, [
        ...podsOf(mapIn(object, ...CLUSTER_OF_JOB)),
        mapIn(object, 'spec', 'submitterPodTemplate', 'spec'),
      ]),
    aggregate: aggregateJob,
    healthy: ({ status }) => {
      const [job, deployment] = [textIn(status, 'jobStatus'), textIn(status, 'jobDeploymentStatus')]
      const isFailed = job === 'FAILED' || deployment === 'Failed' || deployment === 'ValidationFailed'
      return !isFailed && (deployment === 'Running' || deployment === 'Complete')
    },
  },
  'ray.io/v1 RayService': {
    replicas: (object) => {
      const parts = partsOf(mapIn(object, ...CLUSTER_OF_SERVICE))
      return compact({
        replicas: parts.reduce((total, { replicas }) => total + replicas, 0),
        requires: largestRequirements(parts),
      })
    },
    revise: reviseWorkers,
    dependencies: (object) => dependenciesOfPods(object, podsOf(mapIn(object, ...CLUSTER_OF_SERVICE))),
    aggregate: aggregateOne,
    healthy: (object) => hasCondition(object, 'Ready'),
  },
}
