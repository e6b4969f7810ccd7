import { humanAge } from '../../../core/time/time.ts'
import type { UnknownObject } from '../../meta.ts'
import { eventToCore } from '../versions/event-versions.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../read-path.ts'
import { EVENT_CELLS } from './event.ts'
import { count, CREATED, firstOf, flag, NONE, number, selector, text, UNSET } from './cell-makers.ts'
import type { CellMaker, Cells } from './cell-makers.ts'

function paramKind(policy: UnknownObject): string {
  const kind = mapAt(policy, 'spec.paramKind')
  const version = textAt(kind, 'apiVersion')
  if (readPath(policy, 'spec.paramKind') === undefined) return UNSET
  return version === '' ? textAt(kind, 'kind') : `${version}/${textAt(kind, 'kind')}`
}

function paramRef(binding: UnknownObject): string {
  if (readPath(binding, 'spec.paramRef') === undefined) return UNSET
  const namespace = textAt(binding, 'spec.paramRef.namespace')
  const name = textAt(binding, 'spec.paramRef.name')
  return namespace === '' ? name : `${namespace}/${name}`
}

const BINDING: Cells = { PolicyName: text('spec.policyName'), ParamRef: paramRef }

function serviceOf(api: UnknownObject): string {
  if (readPath(api, 'spec.service') === undefined) return 'Local'
  return `${textAt(api, 'spec.service.namespace')}/${textAt(api, 'spec.service.name')}`
}

function availability(api: UnknownObject): string {
  const found = itemsAt(api, 'status.conditions').find((it) => it['type'] === 'Available')
  if (!found) return 'Unknown'
  return found['status'] === 'True' ? 'True' : `${textAt(found, 'status')} (${textAt(found, 'reason')})`
}

function requestState(request: UnknownObject): string {
  const types = itemsAt(request, 'status.conditions').map((it) => textAt(it, 'type'))
  const state = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending'
  return [
    state,
    ...(types.includes('Failed') ? ['Failed'] : []),
    ...(textAt(request, 'status.certificate') ? ['Issued'] : []),
  ].join(',')
}

function requestedDuration(request: UnknownObject): string {
  const seconds = readPath(request, 'spec.expirationSeconds')
  return typeof seconds === 'number' ? humanAge(seconds * 1000) : NONE
}

function slicePorts(slice: UnknownObject): string {
  const ports = itemsAt(slice, 'ports')
  return ports.length === 0 ? UNSET : firstOf(ports.map((port) => textAt(port, 'port') || textAt(port, 'name', '*')))
}

function sliceEndpoints(slice: UnknownObject): string {
  const endpoints = itemsAt(slice, 'endpoints')
  return endpoints.length === 0
    ? UNSET
    : firstOf(endpoints.flatMap((endpoint) => textsAt(endpoint, 'addresses').slice(0, 1)))
}

function queuing(field: string): CellMaker {
  return (level) =>
    readPath(level, 'spec.limited.limitResponse.queuing') === undefined
      ? NONE
      : numberAt(level, `spec.limited.limitResponse.queuing.${field}`)
}

function parametersOf(ingressClass: UnknownObject): string {
  const parameters = mapAt(ingressClass, 'spec.parameters')
  if (readPath(ingressClass, 'spec.parameters') === undefined) return NONE
  const group = textAt(parameters, 'apiGroup')
  return `${textAt(parameters, 'kind')}${group === '' ? '' : `.${group}`}/${textAt(parameters, 'name')}`
}

function hostsOf(ingress: UnknownObject): string {
  const hosts = itemsAt(ingress, 'spec.rules')
    .map((rule) => textAt(rule, 'host'))
    .filter((host) => host !== '')
  return hosts.length === 0 ? '*' : firstOf(hosts)
}

function addressOf(ingress: UnknownObject): string {
  const addresses = itemsAt(ingress, 'status.loadBalancer.ingress').map(
    (it) => textAt(it, 'ip') || textAt(it, 'hostname'),
  )
  return addresses.filter((address) => address !== '').join(',')
}

function parentOf(address: UnknownObject): string {
  const parent = mapAt(address, 'spec.parentRef')
  if (readPath(address, 'spec.parentRef') === undefined) return NONE
  const group = textAt(parent, 'group')
  const words = [
    `${textAt(parent, 'resource')}${group === '' ? '' : `.${group}`}`,
    textAt(parent, 'namespace'),
    textAt(parent, 'name'),
  ]
  return words.filter((word) => word !== '').join('/')
}

function amount(path: string): CellMaker {
  return text(path, 'N/A')
}

function subjectsOf(kind: string): CellMaker {
  return (binding) =>
    itemsAt(binding, 'subjects')
      .filter((subject) => subject['kind'] === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
          : textAt(subject, 'name'),
      )
      .join(', ')
}

const ROLE_BINDING: Cells = {
  Role: (it) => `${textAt(it, 'roleRef.kind')}/${textAt(it, 'roleRef.name')}`,
  Users: subjectsOf('User'),
  Groups: subjectsOf('Group'),
  ServiceAccounts: subjectsOf('ServiceAccount'),
}

function claimState(claim: UnknownObject): string {
  const deleted = claim.metadata.deletionTimestamp !== undefined
  if (readPath(claim, 'status.allocation') === undefined) return deleted ? 'deleted' : 'pending'
  const reserved = itemsAt(claim, 'status.reservedFor').length > 0
  return [...(deleted ? ['deleted'] : []), 'allocated', ...(reserved ? ['reserved'] : [])].join(',')
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

function markedDefault(object: UnknownObject): string {
  const isDefault = object.metadata.annotations?.[DEFAULT_CLASS] === 'true'
  return isDefault ? `${object.metadata.name} (default)` : object.metadata.name
}

const events = Object.fromEntries(
  Object.entries(EVENT_CELLS).map(([name, cell]): [string, CellMaker] => [
    name,
    (event, now) => cell(eventToCore(event), now),
  ]),
)

/** The cells of what a cluster is governed and connected by. */
export const CLUSTER_CELLS: Readonly<Record<string, Cells>> = {
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { Mutations: count('spec.mutations'), ParamKind: paramKind },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': BINDING,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': { Webhooks: count('webhooks') },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': {
    Validations: count('spec.validations'),
    ParamKind: paramKind,
  },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': BINDING,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': { Webhooks: count('webhooks') },
  'apiextensions.k8s.io/CustomResourceDefinition': { 'Created At': CREATED },
  'apiregistration.k8s.io/APIService': { Service: serviceOf, Available: availability },
  'certificates.k8s.io/CertificateSigningRequest': {
    SignerName: text('spec.signerName', NONE),
    Requestor: text('spec.username'),
    RequestedDuration: requestedDuration,
    Condition: requestState,
  },
  'coordination.k8s.io/Lease': { Holder: text('spec.holderIdentity') },
  'discovery.k8s.io/EndpointSlice': { AddressType: text('addressType'), Ports: slicePorts, Endpoints: sliceEndpoints },
  'events.k8s.io/Event': events,
  'flowcontrol.apiserver.k8s.io/FlowSchema': {
    PriorityLevel: text('spec.priorityLevelConfiguration.name'),
    MatchingPrecedence: number('spec.matchingPrecedence'),
    DistinguisherMethod: text('spec.distinguisherMethod.type', NONE),
    MissingPL: (schema) =>
      textAt(
        itemsAt(schema, 'status.conditions').find((it) => it['type'] === 'Dangling'),
        'status',
        '?',
      ),
  },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': {
    Type: text('spec.type'),
    NominalConcurrencyShares: (level) => {
      const shares = readPath(level, 'spec.limited.nominalConcurrencyShares')
      return typeof shares === 'number' ? shares : NONE
    },
    Queues: queuing('queues'),
    HandSize: queuing('handSize'),
    QueueLengthLimit: queuing('queueLengthLimit'),
  },
  'networking.k8s.io/IngressClass': { Controller: text('spec.controller'), Parameters: parametersOf },
  'networking.k8s.io/Ingress': {
    Class: text('spec.ingressClassName', NONE),
    Hosts: hostsOf,
    Address: addressOf,
    Ports: (ingress) => (itemsAt(ingress, 'spec.tls').length > 0 ? '80, 443' : '80'),
  },
  'networking.k8s.io/IPAddress': { ParentRef: parentOf },
  'networking.k8s.io/NetworkPolicy': { 'Pod-Selector': selector('spec.podSelector') },
  'networking.k8s.io/ServiceCIDR': { CIDRs: (it) => textsAt(it, 'spec.cidrs').join(',') },
  'node.k8s.io/RuntimeClass': { Handler: text('handler') },
  'policy/PodDisruptionBudget': {
    'Min Available': amount('spec.minAvailable'),
    'Max Unavailable': amount('spec.maxUnavailable'),
    'Allowed Disruptions': number('status.disruptionsAllowed'),
  },
  'rbac.authorization.k8s.io/ClusterRole': { 'Created At': CREATED },
  'rbac.authorization.k8s.io/ClusterRoleBinding': ROLE_BINDING,
  'rbac.authorization.k8s.io/Role': { 'Created At': CREATED },
  'rbac.authorization.k8s.io/RoleBinding': ROLE_BINDING,
  'resource.k8s.io/DeviceClass': {},
  'resource.k8s.io/ResourceClaim': { State: claimState },
  'resource.k8s.io/ResourceClaimTemplate': {},
  'resource.k8s.io/ResourceSlice': {
    Node: text('spec.nodeName'),
    Driver: text('spec.driver'),
    Pool: text('spec.pool.name'),
  },
  'scheduling.k8s.io/PriorityClass': {
    Value: number('value'),
    'Global-Default': flag('globalDefault'),
    PreemptionPolicy: text('preemptionPolicy'),
  },
  'storage.k8s.io/CSIDriver': {
    AttachRequired: flag('spec.attachRequired'),
    PodInfoOnMount: flag('spec.podInfoOnMount'),
    StorageCapacity: flag('spec.storageCapacity'),
    TokenRequests: (driver) =>
      itemsAt(driver, 'spec.tokenRequests')
        .map((it) => textAt(it, 'audience'))
        .join(',') || UNSET,
    RequiresRepublish: flag('spec.requiresRepublish'),
    Modes: (driver) => textsAt(driver, 'spec.volumeLifecycleModes').join(',') || NONE,
  },
  'storage.k8s.io/CSINode': { Drivers: count('spec.drivers') },
  'storage.k8s.io/CSIStorageCapacity': { 'Created At': CREATED },
  'storage.k8s.io/StorageClass': {
    Name: markedDefault,
    Provisioner: text('provisioner'),
    ReclaimPolicy: text('reclaimPolicy', 'Delete'),
    VolumeBindingMode: text('volumeBindingMode', 'Immediate'),
    AllowVolumeExpansion: flag('allowVolumeExpansion'),
  },
  'storage.k8s.io/VolumeAttachment': {
    Attacher: text('spec.attacher'),
    PV: text('spec.source.persistentVolumeName'),
    Node: text('spec.nodeName'),
    Attached: flag('status.attached'),
  },
  'storage.k8s.io/VolumeAttributesClass': { DriverName: text('driverName') },
}
