/**
 * What Kubernetes fills in for absent fields depending on other fields; each runs after the plain values of
 * `defaults.ts`.
 */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../meta.ts'
import { defaultPod, defaultPodSpec } from './default-pod.ts'
import { readPath, itemsAt, mapAt, textAt } from '../read-path.ts'

type Defaulter = (object: UnknownObject) => void

function specOf(object: UnknownObject): JsonObject {
  return isObject(object['spec']) ? object['spec'] : {}
}

function template(path: string): Defaulter {
  return (object) => defaultPodSpec(readPath(object, path))
}

/** Sets the parameters of the default update strategy if the strategy is the default. */
function updates(field: string): Defaulter {
  return (object) => {
    const strategy = mapAt(object, `spec.${field}`)
    if (strategy['type'] !== 'RollingUpdate' || strategy['rollingUpdate'] !== undefined) return
    strategy['rollingUpdate'] = { ...ROLLING[object.kind] }
  }
}

const ROLLING: Readonly<Record<string, JsonObject>> = {
  Deployment: { maxUnavailable: '25%', maxSurge: '25%' },
  DaemonSet: { maxUnavailable: 1, maxSurge: 0 },
  StatefulSet: { partition: 0 },
}

const POD_TEMPLATE = template('spec.template.spec')

function all(...defaulters: readonly Defaulter[]): Defaulter {
  return (object) => {
    for (const fill of defaulters) fill(object)
  }
}

/**
 * An object without labels takes the labels of its template; nonsense in place of metadata is left for validation to
 * name.
 */
function labelsOfTemplate(object: UnknownObject): void {
  const labels = mapAt(object, 'spec.template.metadata.labels')
  const metadata = mapAt(object, 'metadata')
  if (Object.keys(metadata['labels'] ?? {}).length === 0 && Object.keys(labels).length > 0) {
    metadata['labels'] = { ...labels }
  }
}

/** A replication controller takes labels and selector from its template. */
function replicationController(object: UnknownObject): void {
  const labels = mapAt(object, 'spec.template.metadata.labels')
  const spec = specOf(object)
  if (Object.keys(mapAt(spec, 'selector')).length === 0 && Object.keys(labels).length > 0) {
    spec['selector'] = { ...labels }
  }
  labelsOfTemplate(object)
}

function job(object: UnknownObject): void {
  const spec = specOf(object)
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1
  spec['parallelism'] ??= 1
  spec['completionMode'] ??= 'NonIndexed'
  spec['suspend'] ??= false
  spec['manualSelector'] ??= false
  spec['backoffLimit'] ??= spec['backoffLimitPerIndex'] === undefined ? 6 : 2 ** 31 - 1
  spec['podReplacementPolicy'] ??= spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed'
  labelsOfTemplate(object)
  for (const rule of itemsAt(spec, 'podFailurePolicy.rules')) {
    for (const pattern of itemsAt(rule, 'onPodConditions')) pattern['status'] ??= 'True'
  }
}

function service(object: UnknownObject): void {
  const spec = specOf(object)
  const type = textAt(spec, 'type')
  for (const port of itemsAt(spec, 'ports')) {
    const target = port['targetPort']
    if (target === undefined || target === 0 || target === '') port['targetPort'] = port['port']
  }
  const isOutside = type === 'ClusterIP' && Array.isArray(spec['externalIPs']) && spec['externalIPs'].length > 0
  if (type === 'NodePort' || type === 'LoadBalancer' || isOutside) spec['externalTrafficPolicy'] ??= 'Cluster'
  if (type !== 'ExternalName') spec['internalTrafficPolicy'] ??= 'Cluster'
  if (type === 'LoadBalancer') spec['allocateLoadBalancerNodePorts'] ??= true
  if (spec['sessionAffinity'] === 'ClientIP') spec['sessionAffinityConfig'] ??= { clientIP: { timeoutSeconds: 10_800 } }
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig']
  if (type === 'LoadBalancer') {
    for (const ingress of itemsAt(object, 'status.loadBalancer.ingress')) if (ingress['ip']) ingress['ipMode'] ??= 'VIP'
  }
}

function limitRange(object: UnknownObject): void {
  for (const limit of itemsAt(object, 'spec.limits')) {
    if (limit['type'] !== 'Container') continue
    const given = { ...mapAt(limit, 'max'), ...mapAt(limit, 'default') }
    const requests = { ...mapAt(limit, 'min'), ...given, ...mapAt(limit, 'defaultRequest') }
    if (Object.keys(given).length > 0) limit['default'] = given
    if (Object.keys(requests).length > 0) limit['defaultRequest'] = requests
  }
}

function networkPolicy(object: UnknownObject): void {
  const spec = specOf(object)
  if (Array.isArray(spec['policyTypes']) && spec['policyTypes'].length > 0) return
  spec['policyTypes'] = itemsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

const DEFAULT_METRIC = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}

function autoscaler(object: UnknownObject): void {
  const spec = specOf(object)
  if (itemsAt(spec, 'metrics').length === 0) spec['metrics'] = [structuredClone(DEFAULT_METRIC)]
  const { behavior } = spec
  if (!isObject(behavior)) return
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 }
  behavior['scaleUp'] = {
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
    stabilizationWindowSeconds: 0,
    ...mapAt(behavior, 'scaleUp'),
  }
  behavior['scaleDown'] = { selectPolicy: 'Max', policies: [{ ...percent }], ...mapAt(behavior, 'scaleDown') }
}

function deviceRequests(path: string): Defaulter {
  return (object) => {
    for (const request of itemsAt(object, `${path}.devices.requests`)) {
      const alternatives = [mapAt(request, 'exactly'), ...itemsAt(request, 'firstAvailable')]
      for (const wanted of alternatives) if (wanted['allocationMode'] === 'ExactCount') wanted['count'] ??= 1
    }
  }
}

/** The value that one of several fields must have. */
const DEFAULT_SUBJECT_GROUP = 'rbac.authorization.k8s.io'

function roleBinding(object: UnknownObject): void {
  const role = mapAt(object, 'roleRef')
  if (!role['apiGroup'] && object['roleRef'] !== undefined) role['apiGroup'] = DEFAULT_SUBJECT_GROUP
  for (const subject of itemsAt(object, 'subjects')) {
    if (!subject['apiGroup'] && (subject['kind'] === 'User' || subject['kind'] === 'Group')) {
      subject['apiGroup'] = DEFAULT_SUBJECT_GROUP
    }
  }
}

/** The old field and the first of the new fields are the same. */
function node(object: UnknownObject): void {
  const spec = specOf(object)
  const [first] = Array.isArray(spec['podCIDRs']) ? (spec['podCIDRs'] as unknown[]) : []
  if (first !== undefined) spec['podCIDR'] = first
  else if (spec['podCIDR']) spec['podCIDRs'] = [spec['podCIDR']]
}

/** By apiVersion and kind. */
export const DEFAULTERS: Readonly<Record<string, Defaulter>> = {
  'v1 Node': node,
  'v1 Pod': defaultPod,
  'v1 PodTemplate': template('template.spec'),
  'v1 ReplicationController': all(POD_TEMPLATE, replicationController),
  'v1 Service': service,
  'v1 LimitRange': limitRange,
  'apps/v1 Deployment': all(POD_TEMPLATE, updates('strategy')),
  'apps/v1 DaemonSet': all(POD_TEMPLATE, updates('updateStrategy')),
  'apps/v1 StatefulSet': all(POD_TEMPLATE, updates('updateStrategy'), claimTemplates),
  'apps/v1 ReplicaSet': POD_TEMPLATE,
  'batch/v1 Job': all(POD_TEMPLATE, job),
  'batch/v1 CronJob': template('spec.jobTemplate.spec.template.spec'),
  'autoscaling/v2 HorizontalPodAutoscaler': autoscaler,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicy,
  'resource.k8s.io/v1 ResourceClaim': deviceRequests('spec'),
  'resource.k8s.io/v1 ResourceClaimTemplate': deviceRequests('spec.spec'),
  'rbac.authorization.k8s.io/v1 RoleBinding': roleBinding,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': roleBinding,
}

function claimTemplates(object: UnknownObject): void {
  for (const claim of itemsAt(object, 'spec.volumeClaimTemplates')) {
    claim['apiVersion'] ??= 'v1'
    claim['kind'] ??= 'PersistentVolumeClaim'
  }
}
