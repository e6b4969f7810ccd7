/**
 * The EndpointSlices of a Service, as the endpointslice controller keeps them: who answers behind it. Pure, as
 * `children.ts`.
 */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { child } from './children.ts'
import type { ChildrenRule, Step } from './children.ts'

/** Addresses and ports behind a Service. */
export const EndpointSlice = builtinKind<UnknownObject>('discovery.k8s.io/v1', 'EndpointSlice')

/** Kubernetes' own limit for a slice. */
const MOST_ENDPOINTS = 100
const MANAGED = {
  'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
}

/** Slices for the ports that pods answer on; pods that name their ports differently are in slices of their own. */
export const serviceSlices: ChildrenRule = (service, { matching, slices, suffix }) => {
  const selector = mapAt(service, 'spec.selector')
  if (Object.keys(selector).length === 0 || textAt(service, 'spec.type') === 'ExternalName') return []
  const wanted = contentsOf(service, matching(selector))
  const left = [...slices]
  const steps: Step[] = []
  for (const content of wanted) {
    const index = left.findIndex((slice) => jsonEqual(slice['ports'] ?? null, content.ports))
    const [same] = left.splice(index === -1 ? 0 : index, 1)
    if (!same) steps.push({ do: 'make', kind: EndpointSlice, object: sliceOf(service, content, suffix()) })
    else if (
      !jsonEqual(same['ports'] ?? null, content.ports) ||
      !jsonEqual(same['endpoints'] ?? null, content.endpoints)
    )
      steps.push({ do: 'change', kind: EndpointSlice, object: same, body: { ...content } })
  }
  return [...steps, ...left.map((object): Step => ({ do: 'drop', kind: EndpointSlice, object }))]
}

interface Content {
  readonly endpoints: JsonObject[] | null
  readonly ports: JsonObject[] | null
}

function contentsOf(service: UnknownObject, pods: readonly UnknownObject[]): Content[] {
  const isForNotReady = readPath(service, 'spec.publishNotReadyAddresses') === true
  const groups: { readonly ports: JsonObject[]; readonly endpoints: JsonObject[] }[] = []
  for (const pod of pods) {
    const ip = textAt(pod, 'status.podIP')
    if (ip === '' || ['Succeeded', 'Failed'].includes(textAt(pod, 'status.phase'))) continue
    const ports = portsOf(service, pod)
    const isLeaving = pod.metadata.deletionTimestamp !== undefined
    const serving = itemsAt(pod, 'status.conditions').some((it) => it['type'] === 'Ready' && it['status'] === 'True')
    const { name, namespace = '', uid = '' } = pod.metadata
    const node = textAt(pod, 'spec.nodeName')
    const host = textAt(pod, 'spec.subdomain') === service.metadata.name ? textAt(pod, 'spec.hostname') : ''
    const endpoint: JsonObject = compact({
      addresses: [ip],
      conditions: { ready: isForNotReady || (serving && !isLeaving), serving, terminating: isLeaving },
      hostname: host === '' ? undefined : host,
      targetRef: { kind: 'Pod', namespace, name, uid },
      nodeName: node === '' ? undefined : node,
    })
    const group = groups.find((one) => jsonEqual(one.ports, ports) && one.endpoints.length < MOST_ENDPOINTS)
    if (group) group.endpoints.push(endpoint)
    else groups.push({ ports, endpoints: [endpoint] })
  }
  // A Service without pods has one empty slice.
  return groups.length > 0 ? groups : [{ endpoints: null, ports: null }]
}

function portsOf(service: UnknownObject, pod: UnknownObject): JsonObject[] {
  const named = itemsAt(pod, 'spec.containers').flatMap((container) => itemsAt(container, 'ports'))
  return itemsAt(service, 'spec.ports').flatMap((port) => {
    const target = readPath(port, 'targetPort') ?? port['port']
    const protocol = textAt(port, 'protocol', 'TCP')
    const found = named.find((one) => one['name'] === target && textAt(one, 'protocol', 'TCP') === protocol)
    const number = typeof target === 'number' ? target : numberAt(found, 'containerPort')
    const appProtocol = textAt(port, 'appProtocol')
    return number === 0
      ? []
      : [
          compact({
            name: textAt(port, 'name'),
            port: number,
            protocol,
            appProtocol: appProtocol === '' ? undefined : appProtocol,
          }),
        ]
  })
}

function sliceOf(service: UnknownObject, { endpoints, ports }: Content, suffix: string): UnknownObject {
  const { name } = service.metadata
  const isHeadless = textAt(service, 'spec.clusterIP') === 'None'
  const labels = {
    ...service.metadata.labels,
    ...MANAGED,
    'kubernetes.io/service-name': name,
    ...compact({ 'service.kubernetes.io/headless': isHeadless ? '' : undefined }),
  }
  return child(service, EndpointSlice, {
    metadata: { name: `${name}-${suffix}`, generateName: `${name}-`, labels },
    addressType: textsAt(service, 'spec.ipFamilies')[0] ?? 'IPv4',
    endpoints,
    ports,
  })
}
