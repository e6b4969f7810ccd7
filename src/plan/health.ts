/** Whether an object is well, by kstatus's rules: what the object says about itself, compared with the generation it says it about. */
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import type { UnknownObject } from '../kinds/meta.ts'

/** How one object does; the message is the cluster's own words where it has any. */
export interface Health {
  readonly state: 'Ready' | 'Progressing' | 'Failed'
  readonly message: string
}

const READY: Health = { state: 'Ready', message: '' }

/** Judges one live object. */
export function healthOf(object: UnknownObject): Health {
  if (object.metadata.deletionTimestamp !== undefined) return progressing('is being deleted')
  const status = isObject(object['status']) ? object['status'] : {}
  const generation = object.metadata.generation
  const observed = status['observedGeneration']
  if (generation !== undefined && typeof observed === 'number' && observed < generation) {
    return progressing(`its controller has seen generation ${observed} of ${generation}`)
  }
  return special(object, status) ?? byConditions(status)
}

function special(object: UnknownObject, status: JsonObject): Health | undefined {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  switch (`${object.apiVersion.split('/')[0]}/${object.kind}`) {
    case 'apps/Deployment':
      return deployment(spec, status)
    case 'apps/StatefulSet':
      return statefulSet(spec, status)
    case 'apps/DaemonSet':
      return daemonSet(status)
    case 'batch/Job':
      return job(status)
    case 'v1/Pod':
      return pod(status)
    case 'v1/PersistentVolumeClaim':
      return status['phase'] === 'Bound' ? READY : progressing('the claim is not bound yet')
    case 'v1/Namespace':
      return status['phase'] === 'Terminating' ? progressing('is being deleted') : READY
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return customResourceDefinition(status)
    default:
      return undefined
  }
}

function deployment(spec: JsonObject, status: JsonObject): Health {
  const progress = conditionOf(status, 'Progressing')
  if (progress?.['reason'] === 'ProgressDeadlineExceeded') return failed(progress, 'progress deadline exceeded')
  // A Deployment its controller has not looked at yet has no observedGeneration at all.
  if (count(status, 'observedGeneration') === 0) return progressing('its controller has not seen it yet')
  const wanted = countOr(spec, 'replicas', 1)
  const updated = count(status, 'updatedReplicas')
  if (updated < wanted) return progressing(`${updated} of ${wanted} replicas are updated`)
  const old = count(status, 'replicas') - updated
  if (old > 0) return progressing(`${old} old replicas are still there`)
  const available = count(status, 'availableReplicas')
  if (available < wanted) return progressing(`${available} of ${wanted} replicas are available`)
  const condition = conditionOf(status, 'Available')
  if (condition && condition['status'] !== 'True') return progressing(words(condition, 'it is not available'))
  return READY
}

function statefulSet(spec: JsonObject, status: JsonObject): Health {
  if (count(status, 'observedGeneration') === 0) return progressing('its controller has not seen it yet')
  const wanted = countOr(spec, 'replicas', 1)
  const ready = count(status, 'readyReplicas')
  if (ready < wanted) return progressing(`${ready} of ${wanted} replicas are ready`)
  const updating = status['updateRevision'] !== undefined && status['updateRevision'] !== status['currentRevision']
  const onDelete = isObject(spec['updateStrategy']) && spec['updateStrategy']['type'] === 'OnDelete'
  if (updating && !onDelete && count(status, 'updatedReplicas') < wanted) {
    return progressing(`${count(status, 'updatedReplicas')} of ${wanted} replicas are updated`)
  }
  return READY
}

function daemonSet(status: JsonObject): Health {
  if (count(status, 'observedGeneration') === 0) return progressing('its controller has not seen it yet')
  const wanted = count(status, 'desiredNumberScheduled')
  const updated = count(status, 'updatedNumberScheduled')
  if (updated < wanted) return progressing(`${updated} of ${wanted} pods are updated`)
  const available = count(status, 'numberAvailable')
  return available < wanted ? progressing(`${available} of ${wanted} pods are available`) : READY
}

// A Job that runs is well: waiting for its end is the business of hooks.
function job(status: JsonObject): Health {
  const failure = conditionOf(status, 'Failed')
  return failure?.['status'] === 'True' ? failed(failure, 'the job failed') : READY
}

function pod(status: JsonObject): Health {
  if (status['phase'] === 'Succeeded') return READY
  if (status['phase'] === 'Failed') return { state: 'Failed', message: words(status, 'the pod failed') }
  const ready = conditionOf(status, 'Ready')
  return ready?.['status'] === 'True' ? READY : progressing(words(ready, 'the pod is not ready'))
}

function customResourceDefinition(status: JsonObject): Health {
  const names = conditionOf(status, 'NamesAccepted')
  if (names?.['status'] === 'False') return failed(names, 'its names are not accepted')
  return conditionOf(status, 'Established')?.['status'] === 'True' ? READY : progressing('it is not established yet')
}

function byConditions(status: JsonObject): Health {
  const stalled = conditionOf(status, 'Stalled')
  if (stalled?.['status'] === 'True') return failed(stalled, 'it is stalled')
  const reconciling = conditionOf(status, 'Reconciling')
  if (reconciling?.['status'] === 'True') return progressing(words(reconciling, 'it is reconciling'))
  const ready = conditionOf(status, 'Ready')
  if (ready && ready['status'] !== 'True') return progressing(words(ready, 'it is not ready'))
  return READY
}

function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  const conditions = status['conditions']
  return Array.isArray(conditions)
    ? conditions.find((item): item is JsonObject => isObject(item) && item['type'] === type)
    : undefined
}

function count(from: JsonObject, field: string): number {
  return countOr(from, field, 0)
}

function countOr(from: JsonObject, field: string, fallback: number): number {
  const value = from[field]
  return typeof value === 'number' ? value : fallback
}

function words(condition: JsonObject | undefined, fallback: string): string {
  const message = condition?.['message']
  return typeof message === 'string' && message !== '' ? message : fallback
}

function progressing(message: string): Health {
  return { state: 'Progressing', message }
}

function failed(condition: JsonObject, fallback: string): Health {
  return { state: 'Failed', message: words(condition, fallback) }
}
