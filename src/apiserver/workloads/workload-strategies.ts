import { compact } from '../../core/compact.ts'
import { sha256 } from '../../core/bytes.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readPath, itemsAt, mapAt, textAt, textsAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forbidden, invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { decisionErrors } from '../strategies/certificate-approval.ts'
import { claimErrors, jobErrors } from './immutable-specs.ts'
import { podErrors } from './pod-errors.ts'
import { computeQosClass } from './pod-qos.ts'
import { selectorErrors } from './selector-errors.ts'
import type { Strategy } from '../strategies/strategy.ts'

/** What a kube-apiserver gives pods, jobs and services besides defaults: addresses, selectors, first states. */

function specOf(object: UnknownObject): JsonObject {
  if (!isObject(object['spec'])) object['spec'] = {}
  return object['spec'] as JsonObject
}

/** Fields the server gave once and a later write does not mention. */
function keepGiven(object: UnknownObject, old: UnknownObject, fields: readonly string[]): void {
  const spec = specOf(object)
  for (const field of fields) {
    const before = readPath(old, `spec.${field}`)
    if (spec[field] === undefined && before !== undefined) spec[field] = structuredClone(before)
  }
}

const pod: Strategy = {
  complete(object, old) {
    if (!old) object['status'] = { phase: 'Pending', qosClass: computeQosClass(specOf(object)) }
  },
  validate: podErrors,
}

const JOB_LABELS = ['batch.kubernetes.io/job-name', 'job-name'] as const
const CONTROLLER_LABELS = ['batch.kubernetes.io/controller-uid', 'controller-uid'] as const

const job: Strategy = {
  validate: jobErrors,
  complete(object, old) {
    if (old) return keepGiven(object, old, ['selector'])
    const spec = specOf(object)
    if (spec['manualSelector'] === true) return
    const { name, uid } = object.metadata
    const template = mapAt(spec, 'template')
    const metadata = isObject(template['metadata']) ? template['metadata'] : {}
    const given = [
      ...CONTROLLER_LABELS.map((label) => [label, uid!] as const),
      ...JOB_LABELS.map((label) => [label, name] as const),
    ]
    // Labels that the Job copied from its template are the same object, so that the Job gets these labels, too.
    if (jsonEqual(object.metadata.labels, metadata['labels'])) {
      object.metadata.labels = { ...object.metadata.labels, ...Object.fromEntries(given) }
    }
    template['metadata'] = { ...metadata, labels: { ...mapAt(metadata, 'labels'), ...Object.fromEntries(given) } }
    spec['selector'] ??= { matchLabels: { [CONTROLLER_LABELS[0]]: uid } }
  },
}

/** Service addresses: 10.96.0.0/12, as most clusters have them. */
const FIRST_ADDRESS = 0x0a60_0000
const ADDRESSES = 2 ** 20 - 512
const FIRST_NODE_PORT = 30_000
const NODE_PORTS = 2768

const autoscaler: Strategy = {
  // As autoscaling/v2, an autoscaler without a metric gets a default; a client of autoscaling/v1 did not set it.
  complete(object) {
    const others = object.metadata.annotations?.['autoscaling.alpha.kubernetes.io/metrics']
    if (object.apiVersion === 'autoscaling/v1' && !others) specOf(object)['targetCPUUtilizationPercentage'] ??= 80
  },
}

const service: Strategy = {
  validate(object, old) {
    const [next, before] = [textAt(object, 'spec.clusterIP'), old && textAt(old, 'spec.clusterIP')]
    // A Service that becomes a mere name gives its address up.
    if (!before || !next || next === before) return []
    return [invalid('spec.clusterIPs[0]', [next], 'may not change once set')]
  },
  complete(object, old) {
    const spec = specOf(object)
    const type = textAt(spec, 'type')
    // A policy about traffic from outside goes with the last way in.
    const policy = old && textAt(old, 'spec.externalTrafficPolicy')
    if (policy && policy === spec['externalTrafficPolicy'] && !isOutside(spec)) delete spec['externalTrafficPolicy']
    if (old && type !== 'NodePort' && type !== 'LoadBalancer') giveNodePortsUp(spec, old)
    if (type === 'ExternalName') return
    if (old) keepGiven(object, old, ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort'])
    spec['clusterIP'] ||= textsAt(spec, 'clusterIPs')[0] ?? addressOf(object)
    if (textsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [spec['clusterIP']]
    // The addresses of endpoints without a selector are not known yet.
    const isForeign = spec['clusterIP'] === 'None' && Object.keys(mapAt(spec, 'selector')).length === 0
    if (textsAt(spec, 'ipFamilies').length === 0) spec['ipFamilies'] = isForeign ? ['IPv4', 'IPv6'] : ['IPv4']
    spec['ipFamilyPolicy'] ??= isForeign ? 'RequireDualStack' : 'SingleStack'
    const wantsPorts =
      type === 'NodePort' || (type === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)
    if (!wantsPorts) return
    for (const port of itemsAt(spec, 'ports')) {
      if (!port['nodePort']) port['nodePort'] = oldNodePort(old, port) ?? nodePortOf(object, port)
    }
  },
}

function isOutside(spec: JsonObject): boolean {
  const type = textAt(spec, 'type')
  return type === 'NodePort' || type === 'LoadBalancer' || textsAt(spec, 'externalIPs').length > 0
}

/** Node ports are removed with the type that needed them, unless the request sets other ports. */
function giveNodePortsUp(spec: JsonObject, old: UnknownObject): void {
  const before = new Set(itemsAt(old, 'spec.ports').map((port) => port['nodePort']))
  const ports = itemsAt(spec, 'ports')
  if (!ports.every((port) => before.has(port['nodePort']) || !port['nodePort'])) return
  for (const port of ports) delete port['nodePort']
}

function oldNodePort(old: UnknownObject | undefined, port: JsonObject): unknown {
  const same = itemsAt(old, 'spec.ports').find(
    (it) => it['port'] === port['port'] && it['protocol'] === port['protocol'],
  )
  return same?.['nodePort']
}

/** An address that follows from the service's name, so that it is the same wherever the service is made. */
function addressOf({ metadata }: UnknownObject): string {
  const address = FIRST_ADDRESS + 256 + (numberOf(`${metadata.namespace}/${metadata.name}`) % ADDRESSES)
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

function nodePortOf({ metadata }: UnknownObject, port: JsonObject): number {
  const id = `${metadata.namespace}/${metadata.name}/${textAt(port, 'port')}/${textAt(port, 'protocol')}`
  return FIRST_NODE_PORT + (numberOf(id) % NODE_PORTS)
}

function numberOf(text: string): number {
  return new DataView(sha256(text).buffer).getUint32(0)
}

const volume: Strategy = {
  complete(object, old) {
    if (old) return
    object['status'] = { ...mapAt(object, 'status'), lastPhaseTransitionTime: object.metadata.creationTimestamp }
  },
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

/** How often the template of a DaemonSet was changed, which older versions had as a field. */
function withTemplateGeneration({ metadata }: UnknownObject, old: UnknownObject | undefined, more = 0): void {
  const count = Number(old?.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1) + more
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(count) }
}

const daemonSet: Strategy = {
  prepare: withTemplateGeneration,
  keep: withTemplateGeneration,
  complete(object, old) {
    if (old && !jsonEqual(readPath(object, 'spec.template'), readPath(old, 'spec.template')))
      withTemplateGeneration(object, old, 1)
  },
}

/** A local API is available at once; an embedded cluster has no controller for remote APIs. */
const apiService: Strategy = {
  complete(object, old) {
    if (old || readPath(object, 'spec.service') !== undefined) return
    const condition = {
      type: 'Available',
      status: 'True',
      lastTransitionTime: object.metadata.creationTimestamp,
      reason: 'Local',
      message: 'Local APIServices are always available',
    }
    object['status'] = { conditions: [condition] }
  },
}

/** A machine that registers itself says at once what it has. */
const node: Strategy = { createsStatus: true }

const certificateRequest: Strategy = {
  validate: decisionErrors,
  complete(object, old, caller) {
    // The request and its author never change: the request may be approved already.
    // A kube-apiserver does not record the owners of these fields; the request itself names its author.
    for (const entry of object.metadata.managedFields ?? []) delete entry.fieldsV1?.['f:spec']
    const entries = object.metadata.managedFields?.filter(({ fieldsV1 }) => Object.keys(fieldsV1 ?? {}).length > 0)
    if (entries?.length) object.metadata.managedFields = entries
    else delete object.metadata.managedFields
    if (old) {
      object['spec'] = structuredClone(old['spec'])
      return
    }
    const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = specOf(object)
    object['spec'] = compact({
      ...asked,
      username: caller.user,
      groups: [...caller.groups],
      uid: caller.uid,
      ...compact({ extra: caller.extra === undefined ? undefined : structuredClone(caller.extra) }),
    })
  },
}

/** What of a StatefulSet may change; the rest is in the names and volumes of its pods. */
const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

function statefulSetErrors(object: UnknownObject, old: UnknownObject | undefined): FieldError[] {
  const fixed = (of: UnknownObject) =>
    Object.fromEntries(Object.entries(mapAt(of, 'spec')).filter(([field]) => !CHANGEABLE.includes(field)))
  if (!old || jsonEqual(fixed(object), fixed(old))) return selectorErrors('statefulset')(object, undefined)
  const [last, ...others] = CHANGEABLE.map((field) => `'${field}'`).reverse()
  const allowed = `${others.reverse().join(', ')} and ${last}`
  return [forbidden('spec', `updates to statefulset spec for fields other than ${allowed} are forbidden`)]
}

/** By group and kind. */
export const WORKLOAD_STRATEGIES: Readonly<Record<string, Strategy>> = {
  '/Node': node,
  'autoscaling/HorizontalPodAutoscaler': autoscaler,
  '/Pod': pod,
  '/Service': service,
  '/PersistentVolume': volume,
  '/PersistentVolumeClaim': { validate: claimErrors },
  'apiregistration.k8s.io/APIService': apiService,
  'apps/DaemonSet': { ...daemonSet, validate: selectorErrors('daemonset') },
  'apps/Deployment': { validate: selectorErrors('deployment') },
  'apps/ReplicaSet': { validate: selectorErrors('deployment') },
  'apps/StatefulSet': { validate: statefulSetErrors },
  'batch/Job': job,
  'certificates.k8s.io/CertificateSigningRequest': certificateRequest,
}
