/** Health of an object by the rules of kstatus: its status, if the status is of the present generation. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { conditionOf, conditionMessage } from './conditions.ts'
import { knownHealth } from './known-crds.ts'

/** Health of an object; the message is from the object's own status where it has one. */
export interface Health {
  readonly state: 'Ready' | 'Progressing' | 'Failed'
  readonly message: string
  /** The object's controller has not seen the present generation yet, so its status is of an older one. */
  readonly isStale?: true
}

const READY: Health = { state: 'Ready', message: '' }

export function healthOf(object: UnknownObject): Health {
  if (object.metadata.deletionTimestamp !== undefined) return progressing('is being deleted')
  const status = isObject(object['status']) ? object['status'] : {}
  const generation = object.metadata.generation
  const observed = status['observedGeneration']
  if (generation !== undefined && typeof observed === 'number' && observed < generation) {
    return stale(`its controller has seen generation ${observed} of ${generation}`)
  }
  return special(object, status) ?? knownHealth(object, status) ?? byConditions(status)
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
    case 'apps/ReplicaSet':
    case 'v1/ReplicationController':
      return replicas(spec, status)
    case 'batch/Job':
      return job(spec, status)
    case 'v1/Pod':
      return pod(spec, status)
    case 'v1/PersistentVolumeClaim':
      return claim(status)
    case 'v1/Service':
      return service(spec, status)
    case 'policy/PodDisruptionBudget':
      return budget(status)
    case 'apiregistration.k8s.io/APIService':
      return apiService(status)
    case 'v1/Namespace':
      return status['phase'] === 'Terminating' ? progressing('is being deleted') : READY
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return customResourceDefinition(status)
    default:
      return undefined
  }
}

function deployment(spec: JsonObject, status: JsonObject): Health {
  // A paused Deployment does not change until it is resumed.
  if (spec['paused'] === true && count(status, 'observedGeneration') > 0) return READY
  const progress = conditionOf(status, 'Progressing')
  if (progress?.['reason'] === 'ProgressDeadlineExceeded') return failed(progress, 'progress deadline exceeded')
  // A Deployment that its controller has not seen yet has no observedGeneration.
  if (count(status, 'observedGeneration') === 0) return stale('its controller has not seen the object yet')
  const wanted = countOr(spec, 'replicas', 1)
  const updated = count(status, 'updatedReplicas')
  if (updated < wanted) return progressing(`${updated} of ${wanted} replicas are updated`)
  const old = count(status, 'replicas') - updated
  if (old > 0) return progressing(`${old} old ${old === 1 ? 'replica is' : 'replicas are'} still running`)
  const available = count(status, 'availableReplicas')
  if (available < wanted) return progressing(`${available} of ${wanted} replicas are available`)
  const condition = conditionOf(status, 'Available')
  if (condition && condition['status'] !== 'True')
    return progressing(conditionMessage(condition, 'it is not available'))
  return READY
}

function statefulSet(spec: JsonObject, status: JsonObject): Health {
  if (count(status, 'observedGeneration') === 0) return stale('its controller has not seen the object yet')
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
  if (count(status, 'observedGeneration') === 0) return stale('its controller has not seen the object yet')
  const wanted = count(status, 'desiredNumberScheduled')
  const updated = count(status, 'updatedNumberScheduled')
  if (updated < wanted) return progressing(`${updated} of ${wanted} pods are updated`)
  const available = count(status, 'numberAvailable')
  return available < wanted ? progressing(`${available} of ${wanted} pods are available`) : READY
}

// A running or suspended Job is healthy; only hooks wait for the end of a Job.
function job(spec: JsonObject, status: JsonObject): Health {
  const failure = conditionOf(status, 'Failed')
  if (failure?.['status'] === 'True') return failed(failure, 'the job failed')
  if (spec['suspend'] === true || conditionOf(status, 'Complete')?.['status'] === 'True') return READY
  return status['startTime'] === undefined ? progressing('the job has not started yet') : READY
}

function pod(spec: JsonObject, status: JsonObject): Health {
  if (status['phase'] === 'Succeeded') return READY
  if (status['phase'] === 'Failed') return { state: 'Failed', message: conditionMessage(status, 'the pod failed') }
  const ready = conditionOf(status, 'Ready')
  if (ready?.['status'] === 'True') return READY
  return stuckContainer(spec, status) ?? progressing(conditionMessage(ready, 'the pod is not ready'))
}

// A container that the kubelet retries with back-off, with the kubelet's message.
function stuckContainer(spec: JsonObject, status: JsonObject): Health | undefined {
  if ((spec['restartPolicy'] ?? 'Always') !== 'Always') return undefined
  for (const list of [status['initContainerStatuses'], status['containerStatuses']]) {
    for (const container of Array.isArray(list) ? list.filter(isObject) : []) {
      const state = isObject(container['state']) ? container['state'] : {}
      const waiting = isObject(state['waiting']) ? state['waiting'] : {}
      const reason = typeof waiting['reason'] === 'string' ? waiting['reason'] : ''
      if (!/^Err|Error$|BackOff$/.test(reason)) continue
      return {
        state: 'Failed',
        message: `container ${String(container['name'])}: ${conditionMessage(waiting, reason)}`,
      }
    }
  }
  return undefined
}

function replicas(spec: JsonObject, status: JsonObject): Health {
  const failure = conditionOf(status, 'ReplicaFailure')
  if (failure?.['status'] === 'True') return failed(failure, 'its pods cannot be created')
  const wanted = countOr(spec, 'replicas', 1)
  const available = count(status, 'availableReplicas')
  return available < wanted ? progressing(`${available} of ${wanted} replicas are available`) : READY
}

function claim(status: JsonObject): Health {
  if (status['phase'] === 'Lost') return { state: 'Failed', message: 'the volume of the claim is lost' }
  return status['phase'] === 'Bound' ? READY : progressing('the claim is not bound yet')
}

function service(spec: JsonObject, status: JsonObject): Health {
  if (spec['type'] !== 'LoadBalancer') return READY
  const balancer = isObject(status['loadBalancer']) ? status['loadBalancer'] : {}
  const addresses = balancer['ingress']
  return Array.isArray(addresses) && addresses.length > 0 ? READY : progressing('its load balancer has no address yet')
}

function budget(status: JsonObject): Health {
  const [healthy, wanted] = [count(status, 'currentHealthy'), count(status, 'desiredHealthy')]
  return healthy < wanted ? progressing(`${healthy} of ${wanted} pods it protects are healthy`) : READY
}

function apiService(status: JsonObject): Health {
  const available = conditionOf(status, 'Available')
  return available?.['status'] === 'True' ? READY : progressing(conditionMessage(available, 'it is not available yet'))
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
  if (reconciling?.['status'] === 'True') return progressing(conditionMessage(reconciling, 'it is reconciling'))
  const ready = conditionOf(status, 'Ready')
  if (ready && ready['status'] !== 'True') return progressing(conditionMessage(ready, 'it is not ready'))
  return READY
}

function count(from: JsonObject, field: string): number {
  return countOr(from, field, 0)
}

function countOr(from: JsonObject, field: string, fallback: number): number {
  const value = from[field]
  return typeof value === 'number' ? value : fallback
}

function stale(message: string): Health {
  return { state: 'Progressing', message, isStale: true }
}

function progressing(message: string): Health {
  return { state: 'Progressing', message }
}

function failed(condition: JsonObject, fallback: string): Health {
  return { state: 'Failed', message: conditionMessage(condition, fallback) }
}
