// Tested by src/dialects/flux/recorded.contract.test.ts.
/**
 * Status of an object in the words of kstatus, the library with which Flux, kpt and others decide whether an object is
 * reconciled: the health profile `kstatus`.
 */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** What kstatus says of an object. */
export interface KStatus {
  readonly status: 'Current' | 'InProgress' | 'Failed' | 'Terminating'
  readonly message: string
  /** The condition that stands for the status: Reconciling while in progress, Stalled after a failure. */
  readonly conditions: readonly KStatusCondition[]
}

/** A condition as kstatus derives it. */
export interface KStatusCondition {
  readonly type: 'Reconciling' | 'Stalled'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

/** A status that kstatus cannot read, for example an unknown phase. */
export class KStatusError extends Error {
  override readonly name = 'KStatusError'
}

interface Condition {
  readonly type?: unknown
  readonly status?: unknown
  readonly reason?: unknown
  readonly message?: unknown
}

/** The spec, status and conditions of an object, with missing parts as empty objects. */
interface Parts {
  readonly spec: JsonObject
  readonly status: JsonObject
  readonly conditions: readonly Condition[]
}

/** Says how far the controllers of an object are; throws KStatusError. */
export function kstatus(object: UnknownObject): KStatus {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const status = isObject(object['status']) ? object['status'] : {}
  const parts = { spec, status, conditions: conditionsOf(status) }
  return generic(object, parts) ?? KINDS[groupKind(object)]?.(parts) ?? byReadyCondition(parts)
}

function conditionsOf(status: JsonObject): Condition[] {
  const { conditions = [] } = status
  if (conditions === null) return []
  if (!Array.isArray(conditions)) throw new KStatusError('status.conditions is not a list')
  return conditions.filter(isObject)
}

function groupKind({ apiVersion, kind }: UnknownObject): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? kind : `${apiVersion.slice(0, slash)}/${kind}`
}

function generic({ metadata, kind }: UnknownObject, { status, conditions }: Parts): KStatus | undefined {
  if (metadata.deletionTimestamp !== undefined) {
    return { status: 'Terminating', message: 'Resource scheduled for deletion', conditions: [] }
  }
  const { generation } = metadata
  const observed = status['observedGeneration']
  if (generation !== undefined && typeof observed === 'number' && observed !== generation) {
    return inProgress(
      'LatestGenerationNotObserved',
      `${kind} generation is ${generation}, but latest observed generation is ${observed}`,
    )
  }
  for (const { type, status: value, reason, message } of conditions) {
    if (value !== 'True') continue
    if (type === 'Reconciling') return inProgress(text(reason), text(message))
    if (type === 'Stalled') return failed(text(reason), text(message))
  }
  return undefined
}

function byReadyCondition({ conditions }: Parts): KStatus {
  for (const { type, status, reason, message } of conditions) {
    if (type !== 'Ready') continue
    if (status === 'True') return current('Resource is Ready')
    if (status === 'False' || status === 'Unknown') return inProgress(text(reason), text(message))
  }
  return current('Resource is current')
}

const KINDS: Readonly<Record<string, (parts: Parts) => KStatus>> = {
  Service: service,
  Pod: pod,
  Secret: alwaysReady,
  ConfigMap: alwaysReady,
  PersistentVolumeClaim: volumeClaim,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'extensions/DaemonSet': daemonSet,
  'apps/Deployment': deployment,
  'extensions/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'extensions/ReplicaSet': replicaSet,
  'policy/PodDisruptionBudget': () => current('AllowedDisruptions has been computed.'),
  'batch/CronJob': alwaysReady,
  'batch/Job': job,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinition,
}

function alwaysReady(): KStatus {
  return current('Resource is always ready')
}

function service({ spec }: Parts): KStatus {
  if (spec['type'] === 'LoadBalancer' && text(spec['clusterIP']) === '') {
    return inProgress('NoIPAssigned', 'ClusterIP not set. Service type: LoadBalancer')
  }
  return current('Service is ready')
}

function volumeClaim({ status }: Parts): KStatus {
  const phase = text(status['phase']) || 'unknown'
  return phase === 'Bound' ? current('PVC is Bound') : inProgress('NotBound', `PVC is not Bound. phase: ${phase}`)
}

function pod({ status, conditions }: Parts): KStatus {
  const phase = text(status['phase'])
  switch (phase) {
    case 'Succeeded':
      return current('Pod has completed successfully')
    case 'Failed':
      return current('Pod has completed, but not successfully')
    case 'Running': {
      if (hasCondition(conditions, 'Ready', 'True')) return current('Pod is Ready')
      const looping = containersWaiting(status, 'CrashLoopBackOff')
      if (looping.length > 0) {
        return failed('ContainerCrashLooping', `Containers in CrashLoop state: ${looping.join(',')}`)
      }
      return inProgress('PodRunningNotReady', 'Pod is running but is not Ready')
    }
    case 'Pending': {
      const scheduled = conditions.find(({ type }) => type === 'PodScheduled')
      if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
        return failed('PodUnschedulable', 'Pod could not be scheduled')
      }
      return inProgress('PodPending', 'Pod is in the Pending phase')
    }
    case '':
      return inProgress('PodHasNoPhase', 'Pod phase not available')
    default:
      throw new KStatusError(`unknown phase ${phase}`)
  }
}

function containersWaiting(status: JsonObject, reason: string): string[] {
  const all = Array.isArray(status['containerStatuses']) ? (status['containerStatuses'] as unknown[]) : []
  return all.filter(isObject).flatMap(({ name, state }) => {
    const waiting = isObject(state) ? state['waiting'] : undefined
    return isObject(waiting) && waiting['reason'] === reason ? [text(name)] : []
  })
}

function deployment({ spec, status, conditions }: Parts): KStatus {
  // Without a deadline the condition Progressing says nothing.
  const hasDeadline = integer(spec['progressDeadlineSeconds'], MAX_INT32) !== MAX_INT32
  const progressing = conditions.find(({ type }) => type === 'Progressing')
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    return {
      ...failed('ProgressDeadlineExceeded', text(progressing.message)),
      message: 'Progress deadline exceeded',
    }
  }
  const isComplete = progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable'
  const wanted = integer(spec['replicas'], 1)
  const replicas = integer(status['replicas'])
  const updated = integer(status['updatedReplicas'])
  const available = integer(status['availableReplicas'])
  const ready = integer(status['readyReplicas'])
  if (wanted > replicas) return inProgress('LessReplicas', `Replicas: ${replicas}/${wanted}`)
  if (wanted > updated) return inProgress('LessUpdated', `Updated: ${updated}/${wanted}`)
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  if (updated > available) return inProgress('LessAvailable', `Available: ${available}/${updated}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (hasDeadline && !isComplete) return inProgress('ReplicaSetNotAvailable', 'ReplicaSet not Available')
  if (!hasCondition(conditions, 'Available', 'True')) {
    return inProgress('DeploymentNotAvailable', 'Deployment not Available')
  }
  return current(`Deployment is available. Replicas: ${replicas}`)
}

function replicaSet({ spec, status, conditions }: Parts): KStatus {
  if (hasCondition(conditions, 'ReplicaFailure', 'True')) {
    return inProgress('ReplicaFailure', 'Replica Failure condition. Check Pods')
  }
  const wanted = integer(spec['replicas'], 1)
  const labelled = integer(status['fullyLabeledReplicas'])
  const available = integer(status['availableReplicas'])
  const ready = integer(status['readyReplicas'])
  const replicas = integer(status['replicas'])
  if (wanted > labelled) return inProgress('LessLabelled', `Labelled: ${labelled}/${wanted}`)
  if (wanted > available) return inProgress('LessAvailable', `Available: ${available}/${wanted}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  return current(`ReplicaSet is available. Replicas: ${replicas}`)
}

function statefulSet({ spec, status }: Parts): KStatus {
  const strategy = isObject(spec['updateStrategy']) ? spec['updateStrategy'] : {}
  if (strategy['type'] === 'OnDelete') return current('StatefulSet is using the ondelete update strategy')
  const rolling = isObject(strategy['rollingUpdate']) ? strategy['rollingUpdate'] : {}
  const partition = integer(rolling['partition'], -1)
  const wanted = integer(spec['replicas'], 1)
  const replicas = integer(status['replicas'])
  const ready = integer(status['readyReplicas'])
  const updated = integer(status['updatedReplicas'])
  const now = integer(status['currentReplicas'])
  if (wanted > replicas) return inProgress('LessReplicas', `Replicas: ${replicas}/${wanted}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  if (partition !== -1) {
    const due = wanted - partition
    if (updated < due) return inProgress('PartitionRollout', `updated: ${updated}/${due}`)
    return current(`Partition rollout complete. updated: ${updated}`)
  }
  if (wanted > now) return inProgress('LessCurrent', `current: ${now}/${wanted}`)
  if (text(status['currentRevision']) !== text(status['updateRevision'])) {
    return inProgress('RevisionMismatch', 'Waiting for updated revision to match current')
  }
  return current(`All replicas scheduled as expected. Replicas: ${replicas}`)
}

function daemonSet({ status }: Parts): KStatus {
  if (typeof status['observedGeneration'] !== 'number') {
    return inProgress('NoObservedGeneration', 'DaemonSet status.observedGeneration not found')
  }
  const desired = integer(status['desiredNumberScheduled'], -1)
  if (desired === -1) return inProgress('NoDesiredNumber', 'DaemonSet status.desiredNumberScheduled not found')
  const steps = [
    ['currentNumberScheduled', 'Current'],
    ['updatedNumberScheduled', 'Updated'],
    ['numberAvailable', 'Available'],
    ['numberReady', 'Ready'],
  ] as const
  for (const [field, word] of steps) {
    const count = integer(status[field])
    if (desired > count) return inProgress(`Less${word}`, `${word}: ${count}/${desired}`)
  }
  return current(`All replicas scheduled as expected. Replicas: ${desired}`)
}

function job({ spec, status, conditions }: Parts): KStatus {
  if (spec['suspend'] === true) return current('Job is suspended')
  const parallelism = integer(spec['parallelism'], 1)
  const completions = integer(spec['completions'], parallelism)
  const succeeded = integer(status['succeeded'])
  const active = integer(status['active'])
  const failures = integer(status['failed'])
  for (const { type, status: value } of conditions) {
    if (value !== 'True') continue
    if (type === 'Complete') return current(`Job Completed. succeeded: ${succeeded}/${completions}`)
    if (type === 'Failed') return failed('JobFailed', `Job Failed. failed: ${failures}/${completions}`)
  }
  if (text(status['startTime']) === '') {
    return inProgress('JobNotStarted', `Job not started. active: ${active}/${parallelism}`)
  }
  return inProgress('JobInProgress', `Job in progress. success:${succeeded}, active: ${active}, failed: ${failures}`)
}

function customResourceDefinition({ conditions }: Parts): KStatus {
  for (const { type, status, reason, message } of conditions) {
    if (type === 'NamesAccepted' && status === 'False') return failed(text(reason), text(message))
    if (type !== 'Established') continue
    if (status === 'False' && reason !== 'Installing') return failed(text(reason), text(message))
    if (status === 'True') return current('CRD is established')
  }
  return inProgress('Installing', 'Install in progress')
}

const MAX_INT32 = 2 ** 31 - 1

function integer(value: unknown, missing = 0): number {
  return typeof value === 'number' ? value : missing
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function hasCondition(conditions: readonly Condition[], type: string, status: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === status)
}

function current(message: string): KStatus {
  return { status: 'Current', message, conditions: [] }
}

function inProgress(reason: string, message: string): KStatus {
  return { status: 'InProgress', message, conditions: [{ type: 'Reconciling', status: 'True', reason, message }] }
}

function failed(reason: string, message: string): KStatus {
  return { status: 'Failed', message, conditions: [{ type: 'Stalled', status: 'True', reason, message }] }
}
