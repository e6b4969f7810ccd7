import { meetsRequirement } from '../../core/text/label-selector.ts'
import type { LabelRequirement } from '../../core/text/label-selector.ts'
import { parseTime } from '../../core/time/time.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { computeQosClass } from '../workloads/pod-qos.ts'
import { addAmounts, countOf, readAmounts } from './amounts.ts'
import type { Amount, Amounts } from './amounts.ts'
import { isPodLevelResource, podAmounts } from './pod-amounts.ts'

/** What an object uses of a quota, and which quotas count it. */

/** A type of objects, as quotas name it. */
export interface CountedType {
  readonly group: string
  readonly plural: string
}

/** A selector of objects by what they are, as `spec.scopes` and `spec.scopeSelector` have them. */
export interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** An object as quotas see it. */
export interface ObjectUsage {
  readonly type: CountedType
  readonly usage: Amounts
  /** What it has under the name of a scope; absent: the scope does not select objects of its type. */
  readonly traits: ReadonlyMap<string, readonly string[]>
}

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const
const POD_NAMES: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
])
const SERVICE_NAMES: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.loadbalancers',
  'services.nodeports',
])
const CLAIM_NAMES = ['persistentvolumeclaims', 'requests.storage']
const CLASS_SUFFIX = '.storageclass.storage.k8s.io/'
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/'
const DEVICES = '.deviceclass.resource.k8s.io/devices'
/** The most devices that a claim can be given for one request: who asks for all of a kind is held to it. */
const MOST_DEVICES = 32
/** Types that were counted under their own name before all could be. */
const OLD_NAMES: ReadonlySet<string> = new Set(['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets'])
const ONE = countOf(1)

/** The name under which objects of a type are counted. */
function countName({ group, plural }: CountedType): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`
}

/** Which of the names of a quota are about objects of a type. */
export function resourceNamesForType(type: CountedType, names: Iterable<string>): string[] {
  return [...names].filter((name) => isAbout(type, name)).sort()
}

function isAbout(type: CountedType, name: string): boolean {
  if (name === countName(type)) return true
  if (isDeviceClaims(type)) return name.length > DEVICES.length && name.endsWith(DEVICES)
  if (type.group !== '') return false
  if (type.plural === 'pods') {
    if (POD_NAMES.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-')) return true
    return name.startsWith('requests.') && isExtended(name.slice('requests.'.length))
  }
  if (type.plural === 'services') return SERVICE_NAMES.has(name)
  if (type.plural === 'persistentvolumeclaims') {
    return CLAIM_NAMES.some((known) => name === known || name.endsWith(CLASS_SUFFIX + known))
  }
  return OLD_NAMES.has(type.plural) && name === type.plural
}

/** Resources that Kubernetes does not know by itself, like devices. */
function isExtended(name: string): boolean {
  return name.startsWith(DEVICE_CLASS) || (name.includes('/') && !name.includes('kubernetes.io/'))
}

/** Measures an object. */
export function measureUsage(type: CountedType, object: UnknownObject, now: number): ObjectUsage {
  const traits = new Map<string, readonly string[]>()
  const usage = new Map<string, Amount>([[countName(type), ONE]])
  if (type.group === '' && type.plural === 'pods') {
    for (const [scope, has] of podTraits(object)) traits.set(scope, has)
    return { type, traits, usage: isOver(object, now) ? usage : addAmounts(usage, podUsage(object)) }
  }
  if (type.group === '' && type.plural === 'services') addService(usage, object)
  else if (type.group === '' && type.plural === 'persistentvolumeclaims') {
    addClaim(usage, object)
    const wanted = textAt(object, 'spec.volumeAttributesClassName')
    const has = textAt(object, 'status.currentVolumeAttributesClassName')
    const target = textAt(object, 'status.modifyVolumeStatus.targetVolumeAttributesClassName')
    traits.set(
      'VolumeAttributesClass',
      [...new Set([wanted, has, target])].filter((name) => name !== ''),
    )
  } else if (isDeviceClaims(type)) addDevices(usage, object)
  else if (type.group === '' && OLD_NAMES.has(type.plural)) usage.set(type.plural, ONE)
  return { type, usage, traits }
}

function isDeviceClaims({ group, plural }: CountedType): boolean {
  return group === 'resource.k8s.io' && plural === 'resourceclaims'
}

/** Devices by their class; of requests that may be met in several ways, the most that each class would give. */
function addDevices(usage: Map<string, Amount>, claim: UnknownObject): void {
  for (const request of itemsAt(claim, 'spec.devices.requests')) {
    const ways = itemsAt(request, 'firstAvailable')
    const most = new Map<string, number>()
    for (const way of ways.length > 0 ? ways : [mapAt(request, 'exactly')]) {
      const name = textAt(way, 'deviceClassName')
      if (name === '') continue
      const count = textAt(way, 'allocationMode') === 'All' ? MOST_DEVICES : numberAt(way, 'count')
      most.set(name + DEVICES, Math.max(count, most.get(name + DEVICES) ?? 0))
    }
    for (const [name, count] of most) {
      const more = new Map([[name, countOf(count)]])
      for (const [total, amount] of addAmounts(usage, more)) usage.set(total, amount)
    }
  }
}

/** A pod that has ended uses only its object count. A pod past its deletion deadline is not counted. */
function isOver(pod: UnknownObject, now: number): boolean {
  const phase = textAt(pod, 'status.phase')
  if (phase === 'Failed' || phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > (parseTime(deletionTimestamp) ?? now) + deletionGracePeriodSeconds * 1000
}

function podUsage(pod: UnknownObject): Amounts {
  const options = { given: true, overhead: true }
  return computeUsage(podAmounts(pod, 'requests', options), podAmounts(pod, 'limits', options))
}

/** Requests and limits under the names that quotas have for them. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map<string, Amount>([['pods', ONE]])
  for (const [name, amount] of requests) {
    const isCompute = (COMPUTE as readonly string[]).includes(name) || name.startsWith('hugepages-')
    if (isCompute) usage.set(name, amount)
    if (isCompute || isExtended(name)) usage.set(`requests.${name}`, amount)
  }
  for (const name of COMPUTE) {
    const limit = limits.get(name)
    if (limit) usage.set(`limits.${name}`, limit)
  }
  return usage
}

function addService(usage: Map<string, Amount>, service: UnknownObject): void {
  const type = textAt(service, 'spec.type')
  const ports = itemsAt(service, 'spec.ports')
  const isBalanced = type === 'LoadBalancer'
  const givesNone = isBalanced && readPath(service, 'spec.allocateLoadBalancerNodePorts') === false
  const counted = givesNone ? ports.filter((port) => numberAt(port, 'nodePort') !== 0) : ports
  usage.set('services', ONE)
  usage.set('services.loadbalancers', countOf(isBalanced ? 1 : 0))
  usage.set('services.nodeports', countOf(isBalanced || type === 'NodePort' ? counted.length : 0))
}

const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class'

function addClaim(usage: Map<string, Amount>, claim: UnknownObject): void {
  const storageClass = claim.metadata.annotations?.[OLD_CLASS] ?? textAt(claim, 'spec.storageClassName')
  const add = (name: string, amount: Amount) => {
    usage.set(name, amount)
    if (storageClass !== '') usage.set(storageClass + CLASS_SUFFIX + name, amount)
  }
  add('persistentvolumeclaims', ONE)
  const wanted = readAmounts(mapAt(claim, 'spec.resources.requests')).get('storage')
  if (!wanted) return
  const allocated = readAmounts(mapAt(claim, 'status.allocatedResources')).get('storage')
  add('requests.storage', wholeOf(allocated && allocated.nano > wanted.nano ? allocated : wanted))
}

function wholeOf({ nano, form }: Amount): Amount {
  const rest = nano % 1_000_000_000n
  return rest > 0n ? { nano: nano - rest + 1_000_000_000n, form } : { nano, form }
}

function podTraits(pod: UnknownObject): [string, readonly string[]][] {
  const yes = (is: boolean): readonly string[] => (is ? [''] : [])
  const isTerminating =
    readPath(pod, 'spec.activeDeadlineSeconds') !== undefined && numberAt(pod, 'spec.activeDeadlineSeconds') >= 0
  const isBestEffort = computeQosClass(mapAt(pod, 'spec')) === 'BestEffort'
  const priority = textAt(pod, 'spec.priorityClassName')
  return [
    ['Terminating', yes(isTerminating)],
    ['NotTerminating', yes(!isTerminating)],
    ['BestEffort', yes(isBestEffort)],
    ['NotBestEffort', yes(!isBestEffort)],
    ['PriorityClass', priority === '' ? [] : [priority]],
    ['CrossNamespacePodAffinity', yes(crossesNamespaces(pod))],
  ]
}

function crossesNamespaces(pod: UnknownObject): boolean {
  return ['podAffinity', 'podAntiAffinity'].some((affinity) => {
    const under = `spec.affinity.${affinity}`
    const preferred = itemsAt(pod, `${under}.preferredDuringSchedulingIgnoredDuringExecution`)
    const terms = [
      ...itemsAt(pod, `${under}.requiredDuringSchedulingIgnoredDuringExecution`),
      ...preferred.map((weighted) => mapAt(weighted, 'podAffinityTerm')),
    ]
    return terms.some((term) => textsAt(term, 'namespaces').length > 0 || term['namespaceSelector'] !== undefined)
  })
}

/** Whether every scope of a quota selects an object. */
export function isInScopes(scopes: readonly Scope[], { traits }: ObjectUsage): boolean {
  return scopes.every((scope) => {
    const has = traits.get(scope.scopeName)
    if (!has) return false
    const isNamed = scope.scopeName === 'PriorityClass' || scope.scopeName === 'VolumeAttributesClass'
    if (!isNamed || scope.operator === 'Exists') return has.length > 0
    const requirement = {
      key: scope.scopeName,
      operator: scope.operator,
      values: scope.values ?? [],
    } as LabelRequirement
    if (has.length === 0) return meetsRequirement({}, requirement)
    return has.some((value) => meetsRequirement({ [scope.scopeName]: value }, requirement))
  })
}

/** The scopes of a quota. */
export function scopesOf(quota: UnknownObject): Scope[] {
  return [
    ...textsAt(quota, 'spec.scopes').map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(itemsAt(quota, 'spec.scopeSelector.matchExpressions') as unknown as Scope[]),
  ]
}

/** What quotas of these names want every container of a pod to say, and who does not say it. */
export function missingResourcesMessage(pod: UnknownObject, names: readonly string[]): string | undefined {
  const wholePod = ['requests', 'limits'].flatMap((side) => Object.keys(mapAt(pod, `spec.resources.${side}`)))
  if (wholePod.some(isPodLevelResource)) return undefined
  const wanted = names.filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name)).sort()
  const containers = [...itemsAt(pod, 'spec.containers'), ...itemsAt(pod, 'spec.initContainers')]
  const missing = wanted.flatMap((name) => {
    const silent = containers.filter((container) => {
      const requests = readAmounts(mapAt(container, 'resources.requests'))
      return !computeUsage(requests, readAmounts(mapAt(container, 'resources.limits'))).has(name)
    })
    const who = [...new Set(silent.map((container) => textAt(container, 'name')))].sort()
    return who.length === 0 ? [] : [`${name} for: ${who.join(',')}`]
  })
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`
}
