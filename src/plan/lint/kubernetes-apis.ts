/**
 * When Kubernetes serves which of its API versions: deprecated and removed versions, and stable versions that older
 * clusters do not have yet. From Kubernetes' public deprecation guide and the lifecycle its own API types declare, up
 * to 1.37.
 */

/** The life of one kind in one API version; versions are minors of Kubernetes 1. */
export interface ApiLife {
  /** Served from this minor on. */
  readonly since: number
  readonly deprecated?: number
  /** No longer served from this minor on. */
  readonly removed?: number
  /** The apiVersion to write instead; with a kind where that changes too. */
  readonly instead?: string
}

/** A line each: apiVersion, kind, since, deprecated, removed, instead. */
const LIVES = `
v1 ComponentStatus 1.0 1.19 - -
v1 Endpoints 1.0 1.33 - discovery.k8s.io/v1 EndpointSlice
admissionregistration.k8s.io/v1 MutatingAdmissionPolicy 1.36 - - -
admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding 1.36 - - -
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration 1.16 - - -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy 1.30 - - -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding 1.30 - - -
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration 1.16 - - -
admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy 1.32 1.35 1.38 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding 1.32 1.35 1.38 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicy 1.26 1.29 1.32 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicyBinding 1.26 1.29 1.32 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy 1.34 1.37 1.40 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding 1.34 1.37 1.40 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration 1.9 1.16 1.22 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy 1.28 1.31 1.34 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicyBinding 1.28 1.31 1.34 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration 1.9 1.16 1.22 admissionregistration.k8s.io/v1
apiextensions.k8s.io/v1beta1 CustomResourceDefinition 1.7 1.16 1.22 apiextensions.k8s.io/v1
apiregistration.k8s.io/v1beta1 APIService 1.7 1.19 1.22 apiregistration.k8s.io/v1
apps/v1beta1 ControllerRevision 1.7 1.8 1.16 apps/v1
apps/v1beta1 Deployment 1.6 1.8 1.16 apps/v1
apps/v1beta1 StatefulSet 1.5 1.8 1.16 apps/v1
apps/v1beta2 ControllerRevision 1.8 1.9 1.16 apps/v1
apps/v1beta2 DaemonSet 1.8 1.9 1.16 apps/v1
apps/v1beta2 Deployment 1.8 1.9 1.16 apps/v1
apps/v1beta2 ReplicaSet 1.8 1.9 1.16 apps/v1
apps/v1beta2 StatefulSet 1.8 1.9 1.16 apps/v1
autoscaling/v2 HorizontalPodAutoscaler 1.23 - - -
autoscaling/v2beta1 HorizontalPodAutoscaler 1.8 1.22 1.25 autoscaling/v2
autoscaling/v2beta2 HorizontalPodAutoscaler 1.12 1.23 1.26 autoscaling/v2
batch/v1 CronJob 1.21 - - -
batch/v1beta1 CronJob 1.8 1.21 1.25 batch/v1
certificates.k8s.io/v1 CertificateSigningRequest 1.19 - - -
certificates.k8s.io/v1 ClusterTrustBundle 1.37 - - -
certificates.k8s.io/v1 PodCertificateRequest 1.37 - - -
certificates.k8s.io/v1alpha1 ClusterTrustBundle 1.26 1.34 1.37 certificates.k8s.io/v1
certificates.k8s.io/v1beta1 CertificateSigningRequest 1.12 1.19 1.22 certificates.k8s.io/v1
certificates.k8s.io/v1beta1 ClusterTrustBundle 1.33 1.37 1.40 certificates.k8s.io/v1
certificates.k8s.io/v1beta1 PodCertificateRequest 1.35 1.37 1.40 certificates.k8s.io/v1
coordination.k8s.io/v1alpha2 LeaseCandidate 1.32 1.35 1.38 -
coordination.k8s.io/v1beta1 Lease 1.12 1.19 1.22 coordination.k8s.io/v1
coordination.k8s.io/v1beta1 LeaseCandidate 1.33 1.36 1.39 -
discovery.k8s.io/v1 EndpointSlice 1.21 - - -
discovery.k8s.io/v1beta1 EndpointSlice 1.16 1.21 1.25 discovery.k8s.io/v1
events.k8s.io/v1 Event 1.19 - - -
events.k8s.io/v1beta1 Event 1.8 1.22 1.25 events.k8s.io/v1
extensions/v1beta1 DaemonSet 1.1 1.8 1.16 apps/v1
extensions/v1beta1 Deployment 1.1 1.8 1.16 apps/v1
extensions/v1beta1 Ingress 1.1 1.14 1.22 networking.k8s.io/v1
extensions/v1beta1 NetworkPolicy 1.3 1.9 1.16 networking.k8s.io/v1
extensions/v1beta1 PodSecurityPolicy 1.2 1.11 1.16 -
extensions/v1beta1 ReplicaSet 1.2 1.8 1.16 apps/v1
flowcontrol.apiserver.k8s.io/v1 FlowSchema 1.29 - - -
flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration 1.29 - - -
flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema 1.20 1.23 1.26 flowcontrol.apiserver.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration 1.20 1.23 1.26 flowcontrol.apiserver.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema 1.23 1.26 1.29 flowcontrol.apiserver.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration 1.23 1.26 1.29 flowcontrol.apiserver.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema 1.26 1.29 1.32 flowcontrol.apiserver.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration 1.26 1.29 1.32 flowcontrol.apiserver.k8s.io/v1
networking.k8s.io/v1 IPAddress 1.33 - - -
networking.k8s.io/v1 Ingress 1.19 - - -
networking.k8s.io/v1 IngressClass 1.19 - - -
networking.k8s.io/v1 ServiceCIDR 1.33 - - -
networking.k8s.io/v1beta1 IPAddress 1.31 1.34 1.37 networking.k8s.io/v1
networking.k8s.io/v1beta1 Ingress 1.14 1.19 1.22 networking.k8s.io/v1
networking.k8s.io/v1beta1 IngressClass 1.18 1.19 1.22 networking.k8s.io/v1
networking.k8s.io/v1beta1 ServiceCIDR 1.31 1.34 1.37 networking.k8s.io/v1
node.k8s.io/v1 RuntimeClass 1.20 - - -
node.k8s.io/v1beta1 RuntimeClass 1.13 1.22 1.25 node.k8s.io/v1
policy/v1 PodDisruptionBudget 1.21 - - -
policy/v1beta1 PodDisruptionBudget 1.5 1.21 1.25 policy/v1
policy/v1beta1 PodSecurityPolicy 1.10 1.21 1.25 -
rbac.authorization.k8s.io/v1beta1 ClusterRole 1.6 1.17 1.22 rbac.authorization.k8s.io/v1
rbac.authorization.k8s.io/v1beta1 ClusterRoleBinding 1.6 1.17 1.22 rbac.authorization.k8s.io/v1
rbac.authorization.k8s.io/v1beta1 Role 1.6 1.17 1.22 rbac.authorization.k8s.io/v1
rbac.authorization.k8s.io/v1beta1 RoleBinding 1.6 1.17 1.22 rbac.authorization.k8s.io/v1
resource.k8s.io/v1 DeviceClass 1.34 - - -
resource.k8s.io/v1 DeviceTaintRule 1.37 - - -
resource.k8s.io/v1 ResourceClaim 1.34 - - -
resource.k8s.io/v1 ResourceClaimTemplate 1.34 - - -
resource.k8s.io/v1 ResourceSlice 1.34 - - -
resource.k8s.io/v1alpha3 DeviceTaintRule 1.33 1.36 1.39 resource.k8s.io/v1
resource.k8s.io/v1beta1 DeviceClass 1.32 1.35 1.38 resource.k8s.io/v1
resource.k8s.io/v1beta1 ResourceClaim 1.32 1.35 1.38 resource.k8s.io/v1
resource.k8s.io/v1beta1 ResourceClaimTemplate 1.32 1.35 1.38 resource.k8s.io/v1
resource.k8s.io/v1beta1 ResourceSlice 1.32 1.35 1.38 resource.k8s.io/v1
resource.k8s.io/v1beta2 DeviceClass 1.33 1.36 1.39 resource.k8s.io/v1
resource.k8s.io/v1beta2 DeviceTaintRule 1.36 1.39 1.42 resource.k8s.io/v1
resource.k8s.io/v1beta2 ResourceClaim 1.33 1.36 1.39 resource.k8s.io/v1
resource.k8s.io/v1beta2 ResourceClaimTemplate 1.33 1.36 1.39 resource.k8s.io/v1
resource.k8s.io/v1beta2 ResourceSlice 1.33 1.36 1.39 resource.k8s.io/v1
scheduling.k8s.io/v1beta1 PodGroup 1.37 1.40 1.43 -
scheduling.k8s.io/v1beta1 PriorityClass 1.11 1.14 1.22 scheduling.k8s.io/v1
scheduling.k8s.io/v1beta1 Workload 1.37 1.40 1.43 -
storage.k8s.io/v1 CSIDriver 1.18 - - -
storage.k8s.io/v1 CSINode 1.17 - - -
storage.k8s.io/v1 CSIStorageCapacity 1.24 - - -
storage.k8s.io/v1 VolumeAttributesClass 1.34 - - -
storage.k8s.io/v1alpha1 CSIStorageCapacity 1.19 1.21 1.24 storage.k8s.io/v1
storage.k8s.io/v1alpha1 VolumeAttachment 1.9 1.21 1.24 storage.k8s.io/v1
storage.k8s.io/v1alpha1 VolumeAttributesClass 1.29 1.32 1.35 storage.k8s.io/v1
storage.k8s.io/v1beta1 CSIDriver 1.14 1.19 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 CSINode 1.14 1.17 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 CSIStorageCapacity 1.21 1.24 1.27 storage.k8s.io/v1
storage.k8s.io/v1beta1 StorageClass 1.4 1.19 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 VolumeAttachment 1.10 1.19 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 VolumeAttributesClass 1.31 1.34 1.37 storage.k8s.io/v1
storagemigration.k8s.io/v1 StorageVersionMigration 1.37 - - -
storagemigration.k8s.io/v1beta1 StorageVersionMigration 1.35 1.37 1.40 storagemigration.k8s.io/v1
`

const lives = new Map(
  LIVES.trim()
    .split('\n')
    .map((line) => {
      const [apiVersion = '', kind = '', since, deprecated, removed, ...instead] = line.split(' ')
      const life: ApiLife = {
        since: minorOf(since) ?? 0,
        ...optional('deprecated', minorOf(deprecated)),
        ...optional('removed', minorOf(removed)),
        ...optional('instead', instead.join(' ') === '-' ? undefined : instead.join(' ')),
      }
      return [`${apiVersion} ${kind}`, life] as const
    }),
)

function optional<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>)
}

/** The life of a kind in an API version; undefined when nothing is known to end or to have begun late. */
export function apiLife(apiVersion: string, kind: string): ApiLife | undefined {
  return lives.get(`${apiVersion} ${kind}`)
}

/** All that is known, for tests and docs. */
export const API_LIVES: ReadonlyMap<string, ApiLife> = lives

/** The minor of a version of Kubernetes like `v1.33.2+k3s1`; undefined when it is none. */
export function minorOf(version: string | undefined): number | undefined {
  const match = /^v?1\.(\d{1,3})(?:\D|$)/.exec(version ?? '')
  return match ? Number(match[1]) : undefined
}
