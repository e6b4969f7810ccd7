// Tested by src/plan/health/argo/argo-health.test.ts
/** Health of kinds of Kubernetes where Argo CD judges otherwise than the native profile, and of its Rollout. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { KindHealth } from './custom-kinds.ts'
import { countOf, textOf } from './verdict.ts'
import type { ArgoVerdict, Parts } from './verdict.ts'

const healthy = (message = ''): ArgoVerdict => ({ status: 'Healthy', message })
const progressing = (message = ''): ArgoVerdict => ({ status: 'Progressing', message })
const degraded = (message = ''): ArgoVerdict => ({ status: 'Degraded', message })

const job: KindHealth = ({ conditions }) => {
  const find = (wanted: string) => conditions.find(({ type }) => type === wanted)
  const [failed, complete, suspended] = ['Failed', 'Complete', 'Suspended'].map(find)
  if (failed) return degraded(textOf(failed['message']))
  // As in Argo CD, any condition of a suspension counts as an end.
  if (suspended?.['status'] === 'True') return { status: 'Suspended', message: textOf(suspended['message']) }
  const ended = complete ?? suspended
  return ended ? healthy(textOf(ended['message'])) : progressing()
}

const STUCK = /^Err|Error$|BackOff$/

const pod: KindHealth = ({ metadata, spec, status, conditions }) => {
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {}
  const isLongRunning =
    (spec['restartPolicy'] ?? 'Always') === 'Always' ||
    annotations['argocd.argoproj.io/ignore-restart-policy'] === 'true'
  const message = textOf(status['message'])
  const containers = objectsOf(status['containerStatuses'])
  if (isLongRunning) {
    const stuck = containers
      .map(({ state }) => partOf(partOf(state), 'waiting'))
      .filter(({ reason }) => STUCK.test(textOf(reason)))
    if (stuck.length > 0) return degraded(stuck.map((one) => textOf(one['message'])).join(', '))
  }
  switch (status['phase']) {
    case 'Pending':
      return progressing(message)
    case 'Succeeded':
      return healthy(message)
    case 'Failed':
      return degraded(message || failureOf([...objectsOf(status['initContainerStatuses']), ...containers]))
    case 'Running':
      if (!isLongRunning) return progressing(message)
      if (conditions.some((one) => one['type'] === 'Ready' && one['status'] === 'True')) return healthy(message)
      return containers.some(({ lastState }) => isObject(partOf(lastState)['terminated']))
        ? degraded(message)
        : progressing(message)
    default:
      return { status: 'Unknown', message }
  }
}

function failureOf(containers: readonly JsonObject[]): string {
  for (const { name, state } of containers) {
    const { message, reason, exitCode } = partOf(partOf(state), 'terminated')
    if (textOf(message) !== '') return textOf(message)
    if (reason === 'OOMKilled') return 'OOMKilled'
    if (countOf(exitCode) !== 0) return `container "${textOf(name)}" failed with exit code ${countOf(exitCode)}`
  }
  return ''
}

const statefulSet: KindHealth = ({ metadata, spec, status }) => {
  const observed = countOf(status['observedGeneration'])
  if (observed === 0 || countOf(metadata['generation']) > observed) {
    return progressing('Waiting for statefulset spec update to be observed...')
  }
  const { replicas } = spec
  const wanted = typeof replicas === 'number' ? replicas : undefined
  const ready = countOf(status['readyReplicas'])
  if (wanted !== undefined && ready < wanted) return progressing(`Waiting for ${wanted - ready} pods to be ready...`)
  const { type, rollingUpdate } = partOf(spec['updateStrategy'])
  const updated = countOf(status['updatedReplicas'])
  if (type === 'RollingUpdate' && isObject(rollingUpdate)) {
    const target = (wanted ?? 0) - countOf(rollingUpdate['partition'])
    if (wanted === undefined || rollingUpdate['partition'] === undefined || updated >= target) {
      return healthy(`partitioned roll out complete: ${updated} new pods have been updated...`)
    }
    return progressing(
      `Waiting for partitioned roll out to finish: ${updated} out of ${target} new pods have been updated...`,
    )
  }
  if (type === 'OnDelete') return healthy(`statefulset has ${ready} ready pods`)
  const revision = textOf(status['updateRevision'])
  if (revision !== textOf(status['currentRevision'])) {
    return progressing(`waiting for statefulset rolling update to complete ${updated} pods at revision ${revision}...`)
  }
  return healthy()
}

const ingress: KindHealth = ({ status }) =>
  objectsOf(partOf(status['loadBalancer'])['ingress']).length > 0 ? healthy() : progressing()

const FAILED_SCALING: Readonly<Record<string, readonly string[]>> = {
  AbleToScale: ['FailedGetScale', 'FailedUpdateScale'],
  ScalingActive: [
    'FailedGetResourceMetric',
    'FailedGetObjectMetric',
    'FailedGetPodsMetric',
    'FailedGetExternalMetric',
    'FailedComputeMetricsReplicas',
    'InvalidSelector',
  ],
}

const autoscaler: KindHealth = ({ conditions }) => {
  const failed = conditions.find(({ type, reason }) => FAILED_SCALING[textOf(type)]?.includes(textOf(reason)))
  if (failed) return degraded(textOf(failed['message']))
  const able = conditions.find(
    (one) => ['AbleToScale', 'ScalingLimited'].includes(textOf(one['type'])) && one['status'] === 'True',
  )
  return able ? healthy(textOf(able['message'])) : progressing('Waiting to Autoscale')
}

const cronJob: KindHealth = ({ spec, status, hasStatus }) => {
  if (spec['suspend'] === true) return healthy('CronJob is Suspended')
  if (!hasStatus) return progressing('Waiting for CronJob')
  const [scheduled, succeeded] = [textOf(status['lastScheduleTime']), textOf(status['lastSuccessfulTime'])]
  if (scheduled === '') return healthy('CronJob has not been scheduled yet')
  if (succeeded === '') return healthy('The CronJob never completed successfully. It may not be healthy')
  if (objectsOf(status['active']).length > 0) {
    return healthy('The job is running. Its last execution may not have been successful')
  }
  return succeeded < scheduled
    ? degraded('CronJob has not completed its last execution successfully')
    : healthy('CronJob has completed its last execution successfully')
}

const budget: KindHealth = ({ conditions }) => {
  const failed = conditions.find(({ status, reason }) => status === 'False' && reason !== 'InsufficientPods')
  if (failed) return degraded(`PodDisruptionBudget has ${textOf(failed['reason'])}`)
  const last = conditions.at(-1)
  return last ? healthy(`PodDisruptionBudget has ${textOf(last['reason'])}`) : progressing('Waiting for status')
}

const definition: KindHealth = ({ conditions }) => {
  if (conditions.length === 0) return progressing('Status conditions not found')
  const find = (type: string, status: string) =>
    conditions.find((one) => one['type'] === type && one['status'] === status)
  const leaving = find('Terminating', 'True')
  if (leaving) return progressing(`CRD is terminating: ${textOf(leaving['message'])}`)
  const refused = find('NamesAccepted', 'False')
  if (refused) return degraded(`CRD names have not been accepted: ${textOf(refused['message'])}`)
  const violated = find('NonStructuralSchema', 'True')
  if (violated) return degraded(`Schema violations found: ${textOf(violated['message'])}`)
  if (find('Established', 'True')) return healthy('CRD is healthy')
  return conditions.some(({ type, reason }) => type === 'Established' && reason === 'Installing')
    ? progressing('CRD is being installed')
    : degraded('CRD is not established')
}

const FAILED_ROLLOUT = ['RolloutAborted', 'ProgressDeadlineExceeded']

const rollout: KindHealth = (parts) => {
  const { metadata, spec, status, conditions, hasStatus } = parts
  const observed = Number(textOf(status['observedGeneration']) || (status['observedGeneration'] ?? Number.NaN))
  const isObserved = hasStatus && !(observed < countOf(metadata['generation']))
  if (!isObserved || !isWorkloadObserved(parts)) return progressing('Waiting for rollout spec update to be observed')
  const phase = textOf(status['phase'])
  const message = textOf(status['message'])
  if (phase === 'Paused') return { status: 'Suspended', message }
  if (phase === 'Healthy' || phase === 'Degraded' || phase === 'Progressing') return { status: phase, message }
  if (phase !== '') return { status: 'Unknown', message: message || `its phase is ${phase}` }
  const failed = conditions.find(
    ({ type, reason }) => type === 'InvalidSpec' || (type === 'Progressing' && FAILED_ROLLOUT.includes(textOf(reason))),
  )
  if (failed) return degraded(textOf(failed['message']))
  if (spec['paused'] === true || objectsOf(status['pauseConditions']).length > 0) {
    return { status: 'Suspended', message: 'Rollout is paused' }
  }
  return replicasOfRollout(parts)
}

function isWorkloadObserved({ metadata, spec, status }: Parts): boolean {
  const { annotations } = metadata
  if (spec['workloadRef'] === undefined || !isObject(annotations)) return true
  const number = (value: unknown): string => (typeof value === 'number' ? String(value) : textOf(value))
  return number(annotations['rollout.argoproj.io/workload-generation']) === number(status['workloadObservedGeneration'])
}

/** A Rollout of a version that writes no phase. */
function replicasOfRollout({ spec, status }: Parts): ArgoVerdict {
  const hash = textOf(status['currentPodHash'])
  if (hash === '') return progressing('Waiting for rollout to finish: status has not been reconciled.')
  const wanted = typeof spec['replicas'] === 'number' ? spec['replicas'] : 1
  const [all, updated, available] = ['replicas', 'updatedReplicas', 'availableReplicas'].map((field) =>
    countOf(status[field]),
  )
  if (updated! < wanted) return progressing('Waiting for roll out to finish: More replicas need to be updated')
  if (available! < updated!) {
    return progressing('Waiting for roll out to finish: updated replicas are still becoming available')
  }
  const stable = textOf(status['stableRS']) || textOf(partOf(status['canary'])['stableRS'])
  const { blueGreen, canary } = partOf(spec['strategy'])
  if (blueGreen !== undefined) {
    if (textOf(partOf(status['blueGreen'])['activeSelector']) !== hash)
      return progressing('active service cutover pending')
    if (stable !== '' && stable !== hash) return progressing('waiting for analysis to complete')
  } else if (canary !== undefined) {
    if (all! > updated!) return progressing('Waiting for roll out to finish: old replicas are pending termination')
    if (stable !== hash) return progressing('Waiting for rollout to finish steps')
  }
  return healthy()
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function partOf(value: unknown, field?: string): JsonObject {
  const part = field === undefined ? value : isObject(value) ? value[field] : undefined
  return isObject(part) ? part : {}
}

/** Health by group and kind; the group of core kinds is empty. */
export const BUILT_IN_KINDS: Readonly<Record<string, KindHealth>> = {
  '/Pod': pod,
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
  'apps/StatefulSet': statefulSet,
  'argoproj.io/Rollout': rollout,
  'autoscaling/HorizontalPodAutoscaler': autoscaler,
  'batch/CronJob': cronJob,
  'batch/Job': job,
  'extensions/Ingress': ingress,
  'networking.k8s.io/Ingress': ingress,
  'policy/PodDisruptionBudget': budget,
}
