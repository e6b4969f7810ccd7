/**
 * What must fit together in workloads, services and what leads to them, in the words of Kubernetes' own validation.
 * Each rule is proven by what a kube-apiserver answered (`testing/fixtures/builtin-spoiled.json`).
 */
import { compareQuantities, parseQuantity } from '../../../core/text/quantity.ts'
import { ipAddressProblems } from '../../validation/metadata.ts'
import { forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { LABELS } from './value-validators.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../read-path.ts'
import { duplicateFieldErrors } from './cross-field-rule.ts'
import type { CrossFieldRule } from './cross-field-rule.ts'

/** Pods that are to run for ever; a Deployment speaks of the ReplicaSets it makes. */
function endless(kind: string): CrossFieldRule {
  return ({ template }, { path }) => {
    const errors: FieldError[] = []
    const at = `${path}.template.spec`
    const policy = textAt(template, 'spec.restartPolicy')
    if (policy !== '' && policy !== 'Always') errors.push(notSupported(`${at}.restartPolicy`, policy, ['Always']))
    if (mapAt(template, 'spec')['activeDeadlineSeconds'] !== undefined) {
      const words = `activeDeadlineSeconds in ${kind} is not Supported`
      errors.push(forbidden(`${at}.activeDeadlineSeconds`, words))
    }
    return errors
  }
}

const deployment: CrossFieldRule = (spec, place) => {
  const { path } = place
  const errors = endless('ReplicaSet')(spec, place)
  const deadline = spec['progressDeadlineSeconds']
  if (typeof deadline === 'number' && deadline >= 0 && deadline <= numberAt(spec, 'minReadySeconds')) {
    errors.push(invalid(`${path}.progressDeadlineSeconds`, deadline, 'must be greater than minReadySeconds'))
  }
  const rolling = readPath(spec, 'strategy.rollingUpdate')
  if (textAt(spec, 'strategy.type') === 'Recreate' && rolling !== undefined) {
    const words = "may not be specified when strategy `type` is 'Recreate'"
    errors.push(forbidden(`${path}.strategy.rollingUpdate`, words))
  }
  return errors
}

const isNone = (amount: unknown): boolean => Number.parseInt(String(amount), 10) === 0

const rollingDeployment: CrossFieldRule = ({ maxUnavailable, maxSurge }, { path }) =>
  isNone(maxUnavailable) && isNone(maxSurge)
    ? [invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
    : []

const rollingDaemonSet: CrossFieldRule = ({ maxUnavailable, maxSurge }, { path }) => {
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    return [required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
  }
  if (isNone(maxUnavailable) || isNone(maxSurge)) return []
  return [invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]
}

const MAX_INDEXED = 100_000

const job: CrossFieldRule = (spec, { path }) => {
  const errors: FieldError[] = []
  const isIndexed = spec['completionMode'] === 'Indexed'
  const parallelism = numberAt(spec, 'parallelism')
  if (isIndexed && parallelism > MAX_INDEXED) {
    const words = `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`
    errors.push(invalid(`${path}.parallelism`, parallelism, words))
  }
  const perIndex = spec['backoffLimitPerIndex']
  if (perIndex !== undefined && !isIndexed) {
    errors.push(invalid(`${path}.backoffLimitPerIndex`, perIndex, 'requires indexed completion mode'))
  }
  const field = `${path}.template.spec.restartPolicy`
  const policy = textAt(spec, 'template.spec.restartPolicy')
  if (!['', 'Always', 'OnFailure', 'Never'].includes(policy)) {
    errors.push(notSupported(field, policy, ['OnFailure', 'Never']))
  } else if (spec['podFailurePolicy'] !== undefined && policy === 'OnFailure') {
    errors.push(invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified'))
  }
  return errors
}

const service: CrossFieldRule = (spec, { path }) => {
  const type = textAt(spec, 'type')
  const ports = itemsAt(spec, 'ports')
  const isInside = type === 'ClusterIP' && textsAt(spec, 'externalIPs').length === 0
  const policy = textAt(spec, 'externalTrafficPolicy')
  const errors = duplicateFieldErrors(
    ports.map((port, index) => [`${path}.ports[${index}].name`, textAt(port, 'name')]),
  )
  if (type === 'ClusterIP') {
    for (const [index, port] of ports.entries()) {
      if (numberAt(port, 'nodePort') === 0) continue
      const field = `${path}.ports[${index}].nodePort`
      errors.push(forbidden(field, "may not be used when `type` is 'ClusterIP'"))
    }
  }
  if (isInside && policy !== '') {
    const words = 'may only be set for externally-accessible services'
    errors.push(invalid(`${path}.externalTrafficPolicy`, policy, words))
  }
  if (type !== 'LoadBalancer' && textsAt(spec, 'loadBalancerSourceRanges').length > 0) {
    const words = "may only be used when `type` is 'LoadBalancer'"
    errors.push(forbidden(`${path}.LoadBalancerSourceRanges`, words))
  }
  return [...errors, ...clusterAddressErrors(textAt(spec, 'clusterIP'), type, path)]
}

function clusterAddressErrors(address: string, type: string, path: string): FieldError[] {
  const field = `${path}.clusterIPs[0]`
  if (address === '') return []
  if (address !== 'None') return ipAddressProblems(address).map((problem) => invalid(field, address, problem))
  if (type !== 'NodePort' && type !== 'LoadBalancer') return []
  return [invalid(field, address, `may not be set to 'None' for ${type} services`)]
}

const backend: CrossFieldRule = (object, { path }) => {
  const port = mapAt(object, 'service.port')
  if (object['service'] !== undefined && object['resource'] !== undefined) {
    return [invalid(path, '', 'cannot set both resource and service backends')]
  }
  if (textAt(port, 'name') === '' || numberAt(port, 'number') === 0) return []
  return [invalid(path, '', 'cannot set both port name & port number')]
}

const NOT_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F']

const ingressPath: CrossFieldRule = (object, { path }) => {
  const text = textAt(object, 'path')
  if (!['Exact', 'Prefix'].includes(textAt(object, 'pathType')) || text === '') return []
  const field = `${path}.path`
  if (!text.startsWith('/')) return [invalid(field, text, 'must be an absolute path')]
  return NOT_IN_PATHS.filter((part) => text.includes(part)).map((part) =>
    invalid(field, text, `must not contain '${part}'`),
  )
}

const peer: CrossFieldRule = (object, { path }) =>
  object['ipBlock'] !== undefined && (object['podSelector'] ?? object['namespaceSelector']) !== undefined
    ? [forbidden(path, 'may not specify both ipBlock and another peer')]
    : []

const autoscaler: CrossFieldRule = (spec, { path }) => {
  const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas')]
  if (max >= min || max < 1) return []
  return [invalid(`${path}.maxReplicas`, max, 'must be greater than or equal to `minReplicas`')]
}

const template: CrossFieldRule = ({ metadata }, { path }) => [...LABELS(mapAt(metadata, 'labels'), `${path}.labels`)]

const NOTHING = parseQuantity('0')!

const claim: CrossFieldRule = (spec, { path }) => {
  const told = textAt(mapAt(spec, 'resources.requests'), 'storage')
  const size = parseQuantity(told)
  if (!size || compareQuantities(size, NOTHING) > 0) return []
  return [invalid(`${path}.resources[storage]`, told, 'must be greater than zero')]
}

/** By type. */
export const WORKLOAD_RULES: Readonly<Record<string, CrossFieldRule>> = {
  'core.v1.PodTemplateSpec': template,
  'core.v1.PersistentVolumeClaimSpec': claim,
  'core.v1.ReplicationControllerSpec': endless('ReplicationController'),
  'apps.v1.ReplicaSetSpec': endless('ReplicaSet'),
  'apps.v1.DaemonSetSpec': endless('DaemonSet'),
  'apps.v1.StatefulSetSpec': endless('StatefulSet'),
  'apps.v1.DeploymentSpec': deployment,
  'apps.v1.RollingUpdateDeployment': rollingDeployment,
  'apps.v1.RollingUpdateDaemonSet': rollingDaemonSet,
  'batch.v1.JobSpec': job,
  'core.v1.ServiceSpec': service,
  'networking.v1.IngressBackend': backend,
  'networking.v1.HTTPIngressPath': ingressPath,
  'networking.v1.NetworkPolicyPeer': peer,
  'autoscaling.v2.HorizontalPodAutoscalerSpec': autoscaler,
}
