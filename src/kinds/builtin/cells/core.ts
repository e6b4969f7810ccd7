import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../meta.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../read-path.ts'
import { EVENT_CELLS } from './event.ts'
import { POD_CELLS } from './pod.ts'
import {
  containers,
  count,
  CREATED,
  firstOf,
  hasCondition,
  images,
  labels,
  NONE,
  number,
  text,
  UNKNOWN,
  UNSET,
} from './cell-makers.ts'
import type { CellMaker, Cells } from './cell-makers.ts'

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

function modesOf(object: UnknownObject, path: string): string {
  const modes = textsAt(object, path)
  return Object.entries(MODES)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

const phase: CellMaker = (object) =>
  object.metadata.deletionTimestamp ? 'Terminating' : textAt(object, 'status.phase')

/** What a claim has got counts only once it is bound. */
function whenBound(cell: CellMaker): CellMaker {
  return (claim, now) => (textAt(claim, 'spec.volumeName') === '' ? '' : cell(claim, now))
}

function classOf(object: UnknownObject): string {
  return (
    object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec.storageClassName')
  )
}

function claimOf(volume: UnknownObject): string {
  const claim = mapAt(volume, 'spec.claimRef')
  return readPath(volume, 'spec.claimRef') === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`
}

function nodeStatus(node: UnknownObject): string {
  const ready = itemsAt(node, 'status.conditions').find((it) => it['type'] === 'Ready')
  const state = ready === undefined ? 'Unknown' : hasCondition(node, 'Ready') ? 'Ready' : 'NotReady'
  return readPath(node, 'spec.unschedulable') === true ? `${state},SchedulingDisabled` : state
}

function nodeRoles(node: UnknownObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) return [key.slice(prefix.length)]
    return key === 'kubernetes.io/role' && value !== '' ? [value] : []
  })
  return roles.length === 0 ? NONE : [...new Set(roles)].sort().join(',')
}

function nodeAddress(type: string): CellMaker {
  return (node) => {
    const found = itemsAt(node, 'status.addresses').find((address) => address['type'] === type)
    return textAt(found, 'address', NONE)
  }
}

function kernelOf(node: UnknownObject): string {
  const architecture = textAt(node, 'status.nodeInfo.architecture')
  const kernel = textAt(node, 'status.nodeInfo.kernelVersion', UNKNOWN)
  return architecture === '' ? kernel : `${kernel} (${architecture})`
}

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}

function endpointsOf(object: UnknownObject): string {
  const subsets = itemsAt(object, 'subsets')
  if (subsets.length === 0) return NONE
  return firstOf(
    subsets.flatMap((subset) => {
      const ips = itemsAt(subset, 'addresses').map((address) => textAt(address, 'ip'))
      const ports = itemsAt(subset, 'ports')
      return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => hostPort(ip, numberAt(port, 'port'))))
    }),
  )
}

function externalOf(service: UnknownObject): string {
  const given = textsAt(service, 'spec.externalIPs')
  switch (textAt(service, 'spec.type')) {
    case 'LoadBalancer': {
      const balancers = itemsAt(service, 'status.loadBalancer.ingress').map(
        (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
      )
      return [...new Set(balancers.filter((address) => address !== ''))].concat(given).join(',') || '<pending>'
    }
    case 'ExternalName':
      return textAt(service, 'spec.externalName')
    default:
      return given.join(',') || NONE
  }
}

function portText(port: JsonObject): string {
  const node = numberAt(port, 'nodePort')
  return `${textAt(port, 'port')}${node > 0 ? `:${node}` : ''}/${textAt(port, 'protocol')}`
}

function quotas(wanted: (name: string) => boolean): CellMaker {
  return (quota) =>
    Object.entries(mapAt(quota, 'status.hard'))
      .filter(([name]) => wanted(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name]) => `${name}: ${amountOf(quota, 'used', name)}/${amountOf(quota, 'hard', name)}`)
      .join(', ')
}

// Names of resources have dots, so that they are no path.
function amountOf(quota: UnknownObject, part: string, name: string): string {
  return textAt({ amount: mapAt(quota, `status.${part}`)[name] }, 'amount', '0')
}

const isLimit = (name: string): boolean => name.startsWith('limits')

/** The cells of the core group. */
export const CORE_CELLS: Readonly<Record<string, Cells>> = {
  '/ConfigMap': { Data: count('data', 'binaryData') },
  '/Endpoints': { Endpoints: endpointsOf },
  '/Event': EVENT_CELLS,
  '/LimitRange': { 'Created At': CREATED },
  '/Namespace': { Status: text('status.phase') },
  '/Node': {
    Status: nodeStatus,
    Roles: nodeRoles,
    Version: text('status.nodeInfo.kubeletVersion'),
    'Internal-IP': nodeAddress('InternalIP'),
    'External-IP': nodeAddress('ExternalIP'),
    'OS-Image': text('status.nodeInfo.osImage', UNKNOWN),
    'Kernel-Version': kernelOf,
    'Container-Runtime': text('status.nodeInfo.containerRuntimeVersion', UNKNOWN),
  },
  '/PersistentVolumeClaim': {
    Status: phase,
    Volume: text('spec.volumeName'),
    Capacity: whenBound(text('status.capacity.storage', '0')),
    'Access Modes': whenBound((claim) => modesOf(claim, 'status.accessModes')),
    StorageClass: classOf,
    VolumeAttributesClass: text('spec.volumeAttributesClassName', UNSET),
    VolumeMode: text('spec.volumeMode', UNSET),
  },
  '/PersistentVolume': {
    Capacity: text('spec.capacity.storage'),
    'Access Modes': (volume) => modesOf(volume, 'spec.accessModes'),
    'Reclaim Policy': text('spec.persistentVolumeReclaimPolicy'),
    Status: phase,
    Claim: claimOf,
    StorageClass: classOf,
    VolumeAttributesClass: text('spec.volumeAttributesClassName', UNSET),
    Reason: text('status.reason'),
    VolumeMode: text('spec.volumeMode', UNSET),
  },
  '/Pod': POD_CELLS,
  '/PodTemplate': {
    Containers: containers('template.spec'),
    Images: images('template.spec'),
    'Pod Labels': labels('template.metadata.labels'),
  },
  '/ReplicationController': {
    Desired: number('spec.replicas'),
    Current: number('status.replicas'),
    Ready: number('status.readyReplicas'),
    Containers: containers('spec.template.spec'),
    Images: images('spec.template.spec'),
    Selector: labels('spec.selector'),
  },
  '/ResourceQuota': { Request: quotas((name) => !isLimit(name)), Limit: quotas(isLimit) },
  '/Secret': { Type: text('type'), Data: count('data') },
  '/ServiceAccount': {},
  '/Service': {
    Type: text('spec.type'),
    'Cluster-IP': (service) => textsAt(service, 'spec.clusterIPs')[0] ?? NONE,
    'External-IP': externalOf,
    'Port(s)': (service) => itemsAt(service, 'spec.ports').map(portText).join(',') || NONE,
    Selector: labels('spec.selector'),
  },
}
