/**
 * What Kubernetes fills in for absent fields, by type, where it is one value; `defaulters.ts` has what depends on other
 * fields. Each was seen on a real kube-apiserver (`builtin.real.test.ts` compares every kind).
 */

type Values = Readonly<Record<string, unknown>>

const CONTAINER: Values = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }
const FILES: Values = { defaultMode: 420 }
const SCALE_IO: Values = { fsType: 'xfs', storageMode: 'ThinProvisioned' }
const RBD: Values = { keyring: '/etc/ceph/keyring', pool: 'rbd', user: 'admin' }
const WEBHOOK: Values = {
  matchPolicy: 'Equivalent',
  failurePolicy: 'Fail',
  timeoutSeconds: 10,
  namespaceSelector: {},
  objectSelector: {},
}
const ANY_SCOPE: Values = { scope: '*' }
const DEVICE_REQUEST: Values = { allocationMode: 'ExactCount' }

/** Values of fields by type. */
export const DEFAULTS: Readonly<Record<string, Values>> = {
  'core.v1.ContainerPort': { protocol: 'TCP' },
  'core.v1.ServicePort': { protocol: 'TCP' },
  'resource.v1.DeviceToleration': { operator: 'Equal' },
  'core.v1.PodSpec': {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
  },
  'core.v1.Container': CONTAINER,
  'core.v1.EphemeralContainer': CONTAINER,
  'core.v1.Probe': { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  'core.v1.HTTPGetAction': { path: '/', scheme: 'HTTP' },
  'core.v1.GRPCAction': { service: '' },
  'core.v1.ObjectFieldSelector': { apiVersion: 'v1' },
  'core.v1.SecretVolumeSource': FILES,
  'core.v1.ConfigMapVolumeSource': FILES,
  'core.v1.DownwardAPIVolumeSource': FILES,
  'core.v1.ProjectedVolumeSource': FILES,
  'core.v1.ServiceAccountTokenProjection': { expirationSeconds: 3600 },
  'core.v1.HostPathVolumeSource': { type: '' },
  'core.v1.ISCSIVolumeSource': { iscsiInterface: 'default' },
  'core.v1.ISCSIPersistentVolumeSource': { iscsiInterface: 'default' },
  'core.v1.RBDVolumeSource': RBD,
  'core.v1.RBDPersistentVolumeSource': RBD,
  'core.v1.ScaleIOVolumeSource': SCALE_IO,
  'core.v1.ScaleIOPersistentVolumeSource': SCALE_IO,
  'core.v1.AzureDiskVolumeSource': { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  'core.v1.ServiceSpec': { sessionAffinity: 'None', type: 'ClusterIP' },
  'core.v1.ReplicationControllerSpec': { replicas: 1 },
  'core.v1.PersistentVolumeClaimSpec': { volumeMode: 'Filesystem' },
  'core.v1.PersistentVolumeClaimStatus': { phase: 'Pending' },
  'core.v1.PersistentVolumeSpec': { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
  'core.v1.PersistentVolumeStatus': { phase: 'Pending' },
  'core.v1.EndpointPort': { protocol: 'TCP' },
  'discovery.v1.EndpointPort': { name: '', protocol: 'TCP' },
  'apps.v1.DeploymentSpec': { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  'apps.v1.DeploymentStrategy': { type: 'RollingUpdate' },
  'apps.v1.RollingUpdateDeployment': { maxUnavailable: '25%', maxSurge: '25%' },
  'apps.v1.DaemonSetSpec': { revisionHistoryLimit: 10 },
  'apps.v1.DaemonSetUpdateStrategy': { type: 'RollingUpdate' },
  'apps.v1.RollingUpdateDaemonSet': { maxUnavailable: 1, maxSurge: 0 },
  'apps.v1.StatefulSetSpec': {
    replicas: 1,
    revisionHistoryLimit: 10,
    podManagementPolicy: 'OrderedReady',
    persistentVolumeClaimRetentionPolicy: {},
  },
  'apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy': { whenDeleted: 'Retain', whenScaled: 'Retain' },
  'apps.v1.StatefulSetUpdateStrategy': { type: 'RollingUpdate' },
  'apps.v1.RollingUpdateStatefulSetStrategy': { partition: 0 },
  'apps.v1.ReplicaSetSpec': { replicas: 1 },
  'batch.v1.CronJobSpec': {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
  'autoscaling.v1.HorizontalPodAutoscalerSpec': { minReplicas: 1 },
  'autoscaling.v2.HorizontalPodAutoscalerSpec': { minReplicas: 1 },
  'networking.v1.NetworkPolicyPort': { protocol: 'TCP' },
  'networking.v1.IngressClassParametersReference': { scope: 'Cluster' },
  'scheduling.v1.PriorityClass': { preemptionPolicy: 'PreemptLowerPriority' },
  'storage.v1.StorageClass': { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  'storage.v1.CSIDriverSpec': {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  },
  'admissionregistration.v1.ValidatingWebhook': WEBHOOK,
  'admissionregistration.v1.MutatingWebhook': { ...WEBHOOK, reinvocationPolicy: 'Never' },
  'admissionregistration.v1.RuleWithOperations': ANY_SCOPE,
  'admissionregistration.v1.NamedRuleWithOperations': ANY_SCOPE,
  'admissionregistration.v1.ServiceReference': { port: 443 },
  'admissionregistration.v1.ValidatingAdmissionPolicySpec': { failurePolicy: 'Fail' },
  'admissionregistration.v1.MutatingAdmissionPolicySpec': { failurePolicy: 'Fail' },
  'admissionregistration.v1.MatchResources': {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
  },
  'admissionregistration.v1.ParamRef': {},
  'apiregistration.v1.ServiceReference': { port: 443 },
  'flowcontrol.v1.FlowSchemaSpec': { matchingPrecedence: 1000 },
  'flowcontrol.v1.LimitedPriorityLevelConfiguration': { nominalConcurrencyShares: 30, lendablePercent: 0 },
  'flowcontrol.v1.ExemptPriorityLevelConfiguration': { nominalConcurrencyShares: 0, lendablePercent: 0 },
  'flowcontrol.v1.QueuingConfiguration': { queues: 64, handSize: 8, queueLengthLimit: 50 },
  'resource.v1.ResourcePool': { generation: 0 },
  'resource.v1.ExactDeviceRequest': DEVICE_REQUEST,
  'resource.v1.DeviceSubRequest': DEVICE_REQUEST,
}

/** Types whose required fields are written although they are empty, besides every status. */
export const KEPT_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'apps.v1.ControllerRevision',
  'core.v1.DaemonEndpoint',
  'core.v1.NodeSystemInfo',
  'core.v1.LimitRangeSpec',
  'rbac.v1.ClusterRole',
  'rbac.v1.Role',
  'storage.v1.CSINodeSpec',
  'storage.v1.TokenRequest',
])
