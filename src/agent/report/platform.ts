/**
 * The platform of a cluster, guessed from its version and its nodes. A claim: it can narrow a selection, never grant a
 * right.
 */

/** The fields of a node that tell its platform. */
export interface NodeFacts {
  readonly providerId: string
  readonly labels: Readonly<Record<string, string>>
}

// Distributions name themselves in the version.
const BY_VERSION: readonly (readonly [RegExp, string])[] = [
  [/-gke\./, 'GKE'],
  [/-eks-/, 'EKS'],
  [/\+k3s/, 'K3s'],
  [/\+rke2/, 'RKE2'],
  [/\+k0s/, 'k0s'],
  [/-aliyun/, 'ACK'],
  [/-tke/, 'TKE'],
  [/\+vmware/, 'Tanzu'],
]

// Managed services and distributions put labels on their nodes.
const BY_LABEL: readonly (readonly [string, string])[] = [
  ['node.openshift.io/os_id', 'OpenShift'],
  ['eks.amazonaws.com/nodegroup', 'EKS'],
  ['eks.amazonaws.com/compute-type', 'EKS'],
  ['cloud.google.com/gke-nodepool', 'GKE'],
  ['kubernetes.azure.com/cluster', 'AKS'],
  ['doks.digitalocean.com/node-pool', 'DOKS'],
  ['lke.linode.com/pool-id', 'LKE'],
  ['minikube.k8s.io/name', 'minikube'],
  ['microk8s.io/cluster', 'MicroK8s'],
]

const BY_PROVIDER: Readonly<Record<string, string>> = {
  aws: 'AWS',
  gce: 'GCP',
  azure: 'Azure',
  openstack: 'OpenStack',
  vsphere: 'vSphere',
  digitalocean: 'DigitalOcean',
  linode: 'Linode',
  hcloud: 'Hetzner',
  ibm: 'IBM',
  ibmcloud: 'IBM',
  oci: 'OCI',
  equinixmetal: 'EquinixMetal',
  kind: 'kind',
  k3s: 'K3s',
  kwok: 'kwok',
  metal3: 'Metal3',
  talos: 'Talos',
}

/** A name like `EKS`, `K3s` or `vSphere`; `Other` when no rule matches. */
export function platformOf(version: string | undefined, nodes: readonly NodeFacts[]): string {
  const labelled = BY_LABEL.find(([label]) => nodes.some(({ labels }) => Object.hasOwn(labels, label)))
  if (labelled) return labelled[1]
  const versioned = BY_VERSION.find(([pattern]) => version !== undefined && pattern.test(version))
  if (versioned) return versioned[1]
  for (const { providerId } of nodes) {
    const provider = /^([a-z0-9-]+):\/\//.exec(providerId)?.[1] ?? ''
    if (Object.hasOwn(BY_PROVIDER, provider)) return BY_PROVIDER[provider]!
  }
  return 'Other'
}
