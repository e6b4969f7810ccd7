/**
 * What must fit together in a pod and in the templates of pods, in the words of Kubernetes' own validation. Each rule
 * is proven by what a kube-apiserver answered (`testing/fixtures/builtin-spoiled.json`).
 */
import type { JsonObject } from '../../../core/json.ts'
import { canonicalQuantity, compareQuantities, parseQuantity } from '../../../core/text/quantity.ts'
import { forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { itemsAt, mapAt, numberAt, textAt } from '../read-path.ts'
import { mountErrors } from './volume-mount-rules.ts'
import { duplicateFieldErrors } from './cross-field-rule.ts'
import type { CrossFieldRule } from './cross-field-rule.ts'

const podSpec: CrossFieldRule = (spec, { path, above }) => {
  const volumes = itemsAt(spec, 'volumes')
  const byName = new Map(volumes.map((volume) => [textAt(volume, 'name'), volume]))
  // Each of these becomes a volume of the pods of a StatefulSet.
  for (const claim of itemsAt(above[1], 'volumeClaimTemplates')) {
    byName.set(textAt(claim, 'metadata.name'), { persistentVolumeClaim: {} })
  }
  const [running, first, debugging] = ['containers', 'initContainers', 'ephemeralContainers'].map((list) =>
    itemsAt(spec, list).map((container, index) => ({ container, at: `${path}.${list}[${index}]` })),
  ) as [Placed[], Placed[], Placed[]]
  const named = [...running, ...first]
  return [
    ...duplicateFieldErrors(volumes.map((volume, index) => [`${path}.volumes[${index}].name`, textAt(volume, 'name')])),
    ...duplicateFieldErrors(named.map(({ container, at }) => [`${at}.name`, textAt(container, 'name')])),
    ...[...named, ...debugging].flatMap(({ container, at }) => mountErrors(container, byName, at)),
    // Containers run side by side, init containers in order.
    ...[running, ...first.map((one) => [one])].flatMap((together) => hostPortErrors(together, spec)),
    ...first.flatMap(({ container, at }) => initErrors(container, at)),
    ...(spec['hostPID'] === true && spec['shareProcessNamespace'] === true ? [sharedTwice(path)] : []),
  ]
}

interface Placed {
  readonly container: JsonObject
  readonly at: string
}

function sharedTwice(path: string): FieldError {
  const words = 'ShareProcessNamespace and HostPID cannot both be enabled'
  return invalid(`${path}.securityContext.shareProcessNamespace`, true, words)
}

function hostPortErrors(containers: readonly Placed[], spec: JsonObject): FieldError[] {
  const ports = containers.flatMap(({ container, at }) =>
    itemsAt(container, 'ports').flatMap((port, index) =>
      numberAt(port, 'hostPort') === 0 ? [] : [{ port, at: `${at}.ports[${index}].hostPort` }],
    ),
  )
  const idOf = (port: JsonObject) => `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${textAt(port, 'hostPort')}`
  const words = 'must match `containerPort` when `hostNetwork` is true'
  return [
    ...duplicateFieldErrors(ports.map(({ port, at }) => [at, idOf(port)])),
    ...ports.flatMap(({ port, at }) =>
      spec['hostNetwork'] === true && port['hostPort'] !== port['containerPort']
        ? [invalid(at, port['hostPort'], words)]
        : [],
    ),
  ]
}

const ENDLESS_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

function initErrors(container: JsonObject, path: string): FieldError[] {
  if (container['restartPolicy'] === 'Always') return []
  return ENDLESS_ONLY.filter((field) => container[field] !== undefined).map((field) =>
    forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
  )
}

const container: CrossFieldRule = (object, { path }) => {
  const ports = itemsAt(object, 'ports')
  const errors = duplicateFieldErrors(
    ports.map((port, index) => [`${path}.ports[${index}].name`, textAt(port, 'name')]),
  )
  for (const probe of ['livenessProbe', 'startupProbe']) {
    const threshold = numberAt(object, `${probe}.successThreshold`)
    if (threshold > 1) errors.push(invalid(`${path}.${probe}.successThreshold`, threshold, 'must be 1'))
  }
  const grace = mapAt(object, 'readinessProbe')['terminationGracePeriodSeconds']
  if (grace !== undefined) {
    const field = `${path}.readinessProbe.terminationGracePeriodSeconds`
    errors.push(invalid(field, grace, 'must not be set for readinessProbes'))
  }
  return [...errors, ...resourceErrors(mapAt(object, 'resources'), `${path}.resources`)]
}

/** What is asked for must fit into its limit; what is no part of every node is had whole. */
function resourceErrors(resources: JsonObject, path: string): FieldError[] {
  const limits = mapAt(resources, 'limits')
  const fitting = Object.entries(mapAt(resources, 'requests')).flatMap(([name, amount]): FieldError[] => {
    const isShared = !name.includes('/') && !name.startsWith('hugepages-')
    const told = String(limits[name])
    if (limits[name] === undefined) {
      return isShared ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
    }
    const order = compareAmounts(amount, told)
    if (order === 0 || (isShared && order < 0)) return []
    const words = isShared ? 'must be less than or equal to' : 'must be equal to'
    return [invalid(`${path}.requests`, String(amount), `${words} ${name} limit of ${told}`)]
  })
  return [...amountErrors(resources, 'limits', path), ...amountErrors(resources, 'requests', path), ...fitting]
}

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage']

function amountErrors(resources: JsonObject, list: 'limits' | 'requests', path: string): FieldError[] {
  return Object.entries(mapAt(resources, list)).flatMap(([name, amount]) => {
    const field = `${path}.${list}[${name}]`
    const errors: FieldError[] = []
    if (!name.includes('/') && !RESOURCES.includes(name) && !name.startsWith('hugepages-')) {
      errors.push(invalid(field, name, 'must be a standard resource type or fully qualified'))
      errors.push(invalid(field, name, 'must be a standard resource for containers'))
    }
    const told = canonicalQuantity(String(amount)) ?? ''
    if (compareAmounts(amount, '0') < 0) errors.push(invalid(field, told, 'must be greater than or equal to 0'))
    if (name.includes('/') && /[.mun]/.test(told)) errors.push(invalid(field, told, 'must be an integer'))
    return errors
  })
}

function compareAmounts(one: unknown, other: unknown): number {
  const [a, b] = [one, other].map((amount) => parseQuantity(String(amount)))
  return a && b ? compareQuantities(a, b) : 0
}

/** Of several alternative fields at most one may be set; the second in this order is reported. */
function oneOf(kinds: readonly string[], detail: string): CrossFieldRule {
  return (object, { path }) =>
    kinds
      .filter((kind) => object[kind] !== undefined && object[kind] !== null)
      .slice(1)
      .map((kind) => forbidden(`${path}.${kind}`, detail))
}

const VOLUME_SOURCES =
  `emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker persistentVolumeClaim rbd cinder
  cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk storageos
  projected scaleIO csi ephemeral image`.split(/\s+/)

const oneHandler = oneOf(['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'], 'may not specify more than 1 handler type')

const PROJECTIONS = [
  'secret',
  'downwardAPI',
  'configMap',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
]

const projection: CrossFieldRule = (source, { path }) =>
  PROJECTIONS.filter((kind) => source[kind] !== undefined).length > 1
    ? [forbidden(path, 'may not specify more than 1 volume type per source')]
    : []

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/** A pod has them, and a variable cannot say them. */
const OTHER_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]
const isPartOf = /^metadata\.(annotations|labels)\['.*'\]$/

const ENV_RESOURCES = ['limits', 'requests'].flatMap((side) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${side}.${name}`),
)

const variable: CrossFieldRule = (object, { path }) => {
  const from = object['valueFrom'] === undefined ? undefined : mapAt(object, 'valueFrom')
  if (!from) return []
  const field = `${path}.valueFrom`
  const count = Object.keys(from).length
  if (count === 0) return []
  const errors: FieldError[] = []
  if (from['fieldRef'] !== undefined) errors.push(...fieldErrors(textAt(from, 'fieldRef.fieldPath'), field))
  const resource = textAt(from, 'resourceFieldRef.resource')
  if (resource !== '' && !ENV_RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
    errors.push(notSupported(`${field}.resourceFieldRef.resource`, resource, ENV_RESOURCES))
  }
  if (textAt(object, 'value') !== '') {
    errors.push(invalid(field, '', 'may not be specified when `value` is not empty'))
  } else if (count > 1) {
    errors.push(invalid(field, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

function fieldErrors(name: string, path: string): FieldError[] {
  const field = `${path}.fieldRef.fieldPath`
  if (name === '') return [required(field)]
  if (ENV_FIELDS.includes(name) || isPartOf.test(name) || name === 'spec.host') return []
  if (OTHER_FIELDS.includes(name)) return [notSupported(field, name, ENV_FIELDS)]
  return [invalid(field, name, `error converting fieldPath: field label not supported: ${name}`)]
}

const variables: CrossFieldRule = (source, { path }) =>
  source['configMapRef'] !== undefined && source['secretRef'] !== undefined
    ? [invalid(path.slice(0, path.lastIndexOf('[')), '', 'may not have more than one field specified at a time')]
    : []

const toleration: CrossFieldRule = (object, { path }) => {
  const errors: FieldError[] = []
  const field = `${path}.operator`
  const [operator, value, effect] = ['operator', 'value', 'effect'].map((name) => textAt(object, name)) as [
    string,
    string,
    string,
  ]
  if (textAt(object, 'key') === '' && operator !== 'Exists') {
    const words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalid(field, operator, words))
  }
  if (object['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
  }
  if (operator === 'Exists' && value !== '') {
    errors.push(invalid(field, value, "value must be empty when `operator` is 'Exists'"))
  } else if (!['', 'Exists', 'Equal'].includes(operator)) {
    errors.push(notSupported(field, operator, ['Equal', 'Exists']))
  }
  return errors
}

const spread: CrossFieldRule = (object, { path }) =>
  object['minDomains'] !== undefined && object['whenUnsatisfiable'] === 'ScheduleAnyway'
    ? [
        invalid(
          `${path}.minDomains`,
          object['minDomains'],
          'can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
        ),
      ]
    : []

/** A pod without a service account cannot have a token of one. Templates are exempt. */
const pod: CrossFieldRule = (object) => {
  if (textAt(object, 'spec.serviceAccountName') !== '') return []
  return itemsAt(object, 'spec.volumes').flatMap((volume, v) =>
    itemsAt(volume, 'projected.sources').flatMap((source, s) =>
      source['serviceAccountToken'] === undefined
        ? []
        : [
            forbidden(
              `spec.volumes[${v}].projected.sources[${s}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  )
}

/** By type. */
export const POD_RULES: Readonly<Record<string, CrossFieldRule>> = {
  'core.v1.Pod': pod,
  'core.v1.PodSpec': podSpec,
  'core.v1.Container': container,
  'core.v1.EphemeralContainer': container,
  'core.v1.Volume': oneOf(VOLUME_SOURCES, 'may not specify more than 1 volume type'),
  'core.v1.VolumeProjection': projection,
  'core.v1.EnvVar': variable,
  'core.v1.EnvFromSource': variables,
  'core.v1.Probe': oneHandler,
  'core.v1.LifecycleHandler': oneHandler,
  'core.v1.Toleration': toleration,
  'core.v1.TopologySpreadConstraint': spread,
}
