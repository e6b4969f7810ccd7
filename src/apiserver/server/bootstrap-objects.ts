import { formatTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** What a kube-apiserver makes on its own, besides namespaces and roles. */

type Fields = Pick<UnknownObject, 'metadata'> & Record<string, unknown>

/** An object that is there from the start, where its kind is served. */
export interface BootstrapObject {
  readonly group: string
  readonly plural: string
  readonly object: Fields
}

const HTTPS = { name: 'https', protocol: 'TCP' }
const SERVICE = { name: 'kubernetes', namespace: 'default' }
/** Where an embedded cluster has its API: simulated, as its nodes and the addresses of its pods are. */
const API = { address: '10.0.0.1', port: 6443 }

const API_SERVICE: readonly BootstrapObject[] = [
  {
    group: '',
    plural: 'services',
    object: {
      metadata: { ...SERVICE, labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        clusterIP: '10.96.0.1',
        clusterIPs: ['10.96.0.1'],
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ ...HTTPS, port: 443, targetPort: API.port }],
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    group: '',
    plural: 'endpoints',
    object: {
      metadata: { ...SERVICE, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: API.address }], ports: [{ ...HTTPS, port: API.port }] }],
    },
  },
  {
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    object: {
      metadata: { ...SERVICE, generation: 1, labels: { 'kubernetes.io/service-name': SERVICE.name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [API.address], conditions: { ready: true } }],
      ports: [{ ...HTTPS, port: API.port }],
    },
  },
]

/** The classes of pods without which a cluster does not work. */
const SYSTEM_CLASSES = [
  {
    metadata: { name: 'system-node-critical', generation: 1 },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
    preemptionPolicy: 'PreemptLowerPriority',
  },
  {
    metadata: { name: 'system-cluster-critical', generation: 1 },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    preemptionPolicy: 'PreemptLowerPriority',
  },
]

/** Whether a PriorityClass always exists. */
export function isSystemClass(name: string): boolean {
  return SYSTEM_CLASSES.some(({ metadata }) => metadata.name === name)
}

/**
 * The Service by which everything inside a cluster finds its API, where that is, and the addresses of Services, as new
 * ones.
 */
export function kubernetesService(nowMs: number): BootstrapObject[] {
  const addresses = { group: 'networking.k8s.io', plural: 'servicecidrs', object: serviceAddresses(nowMs) }
  return [...structuredClone(API_SERVICE), addresses]
}

/** All objects that are there from the start, as new objects. */
export function bootstrapObjects(nowMs: number): BootstrapObject[] {
  const scheduling = { group: 'scheduling.k8s.io', plural: 'priorityclasses' }
  return [...kubernetesService(nowMs), ...structuredClone(SYSTEM_CLASSES.map((object) => ({ ...scheduling, object })))]
}

/** Where addresses of Services come from. */
function serviceAddresses(nowMs: number): Fields {
  const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready' }
  return {
    metadata: { name: 'kubernetes' },
    spec: { cidrs: ['10.96.0.0/12'] },
    status: { conditions: [{ ...ready, lastTransitionTime: formatTime(nowMs) }] },
  }
}
