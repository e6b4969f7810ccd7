/** Names of objects: group, version, kind, name and namespace. */

/** The type of an object; empty parts match all values where a type selects. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** An object's name in full. */
export interface ResourceId extends Gvk {
  readonly name: string
  readonly namespace: string
  /** Known only of current names; past names carry a mark in their namespace instead. */
  readonly clusterScoped: boolean
}

// Cluster-scoped built-in kinds by apiVersion. Source: the Kubernetes API 1.21, as Kustomize knows it;
// kinds of later versions (and custom kinds) count as namespaced. Confirmed against the binary by
// tables.oracle.test.ts.
const CLUSTER_SCOPED = new Set(
  `admissionregistration.k8s.io/v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
apiextensions.k8s.io/v1 CustomResourceDefinition
apiextensions.k8s.io/v1beta1 CustomResourceDefinition
apiregistration.k8s.io/v1 APIService
apiregistration.k8s.io/v1beta1 APIService
certificates.k8s.io/v1 CertificateSigningRequest
certificates.k8s.io/v1beta1 CertificateSigningRequest
flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema PriorityLevelConfiguration
networking.k8s.io/v1 IngressClass
networking.k8s.io/v1beta1 IngressClass
node.k8s.io/v1 RuntimeClass
node.k8s.io/v1beta1 RuntimeClass
policy/v1beta1 PodSecurityPolicy
rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding
rbac.authorization.k8s.io/v1beta1 ClusterRole ClusterRoleBinding
scheduling.k8s.io/v1 PriorityClass
scheduling.k8s.io/v1beta1 PriorityClass
storage.k8s.io/v1 CSIDriver CSINode StorageClass VolumeAttachment
storage.k8s.io/v1beta1 CSIDriver CSINode StorageClass VolumeAttachment
v1 ComponentStatus Namespace Node NodeProxyOptions PersistentVolume`
    .split('\n')
    .flatMap((line) => {
      const [apiVersion, ...kinds] = line.split(' ')
      return kinds.map((kind) => `${apiVersion} ${kind}`)
    }),
)

/** Whether a type is known to live outside namespaces. */
export function isClusterScoped(gvk: Gvk): boolean {
  return CLUSTER_SCOPED.has(`${apiVersionOf(gvk)} ${gvk.kind}`)
}

/** `group/version`, or the version alone. */
export function apiVersionOf({ group, version }: Gvk): string {
  return group === '' ? version : `${group}/${version}`
}

/** Splits an apiVersion at its first slash. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Whether two types are equal. */
export function sameGvk(a: Gvk, b: Gvk): boolean {
  return a.kind === b.kind && a.version === b.version && a.group === b.group
}

/** Returns true if a selector matches a type. */
export function isSelectedBy(gvk: Gvk, selector: Gvk): boolean {
  return (
    (selector.kind === '' || selector.kind === gvk.kind) &&
    (selector.version === '' || selector.version === gvk.version) &&
    (selector.group === '' || selector.group === gvk.group)
  )
}

/** The namespace for comparisons: never empty. */
export function effectiveNamespace({ clusterScoped, namespace }: ResourceId): string {
  if (clusterScoped) return NOT_A_NAMESPACE
  return namespace === '' ? 'default' : namespace
}

/** The effective namespace of what has none. */
export const NOT_A_NAMESPACE = '_non_namespaceable_'

/** Whether two names are the same, also by namespace. */
export function sameId(a: ResourceId, b: ResourceId): boolean {
  return a.name === b.name && sameGvk(a, b) && effectiveNamespace(a) === effectiveNamespace(b)
}

/** `Kind.version.group`, with marks for what is empty. */
export function gvkText({ group, version, kind }: Gvk): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}`
}

/** `Kind.version.group/name.namespace`, with marks for what is empty. */
export function idText(id: ResourceId): string {
  return `${gvkText(id)}/${id.name || '[noName]'}.${id.namespace || '[noNs]'}`
}

/** As Go prints the struct with `%#v`. */
export function idGoSyntax(id: ResourceId): string {
  const text = (value: string): string => JSON.stringify(value)
  return (
    `resid.ResId{Gvk:resid.Gvk{Group:${text(id.group)}, Version:${text(id.version)}, Kind:${text(id.kind)}, ` +
    `isClusterScoped:${id.clusterScoped}}, Name:${text(id.name)}, Namespace:${text(id.namespace)}}`
  )
}
