/**
 * What Kubernetes' own validation asks for although the schema does not, or in other words than it, as far as that is a
 * matter of presence: each is proven by what a kube-apiserver answered when the field was left out
 * (`testing/fixtures/builtin-missed.json`).
 */

import { subdomainProblems } from '../../../core/text/name-validation.ts'

/** One of some fields of a type must be there. */
export interface RequiredField {
  /** Paths below the object. */
  readonly oneOf: readonly string[]
  /**
   * What the answer names: a path below the object, the `object` itself, the `list` it is in, or its `parent`; the
   * first path unless told.
   */
  readonly names?: string
  /** The words after `Required value`. */
  readonly detail?: string
  /** It is called an invalid value, this one, and not a required one. */
  readonly invalid?: '' | null
  /** Asked only where a field has one of these values. */
  readonly where?: readonly [field: string, ...values: string[]]
  /** Not asked where one of these paths has this value. */
  readonly unless?: readonly (readonly [path: string, value: string])[]
  /** A value that is as good as none. */
  readonly nor?: string
  /** Asked of the items of this list, when there are several. */
  readonly ofSeveral?: string
}

const each = (...fields: readonly string[]): readonly RequiredField[] => fields.map((field) => ({ oneOf: [field] }))

const CONTAINER = each('name', 'image')
const KEY_OF_OBJECT: readonly RequiredField[] = [
  { oneOf: ['name'], invalid: '', detail: subdomainProblems('')[0]! },
  ...each('key'),
]
const RULE = each('operations', 'apiGroups', 'apiVersions', 'resources')
const NAMED_PORTS: RequiredField = { ofSeveral: 'ports', oneOf: ['name'] }
const HANDLER = { names: 'object', detail: 'must specify a handler type' } as const

const VOLUME_SOURCES =
  `hostPath nfs csi local iscsi fc cephfs rbd cinder glusterfs awsElasticBlockStore gcePersistentDisk azureDisk azureFile
  vsphereVolume portworxVolume quobyte flexVolume flocker photonPersistentDisk scaleIO storageos`.split(/\s+/)

/** An autoscaler's target, in each of its versions. */
const TARGET: readonly RequiredField[] = [
  {
    oneOf: ['scaleTargetRef.apiVersion'],
    invalid: '',
    detail: 'apiVersion must specify API group',
    unless: [['scaleTargetRef.kind', 'ReplicationController']],
  },
]

/** By type. */
export const REQUIRED_FIELDS: Readonly<Record<string, readonly RequiredField[]>> = {
  'core.v1.PodSpec': [
    ...each('containers'),
    { oneOf: ['dnsConfig'], where: ['dnsPolicy', 'None'], detail: 'must provide `dnsConfig` when `dnsPolicy` is None' },
  ],
  'core.v1.Container': CONTAINER,
  'core.v1.EphemeralContainer': CONTAINER,
  'core.v1.ContainerPort': each('containerPort'),
  'core.v1.EnvVar': each('name'),
  'core.v1.EnvVarSource': [
    {
      oneOf: ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'],
      names: 'object',
      invalid: '',
      detail: 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    },
  ],
  'core.v1.ConfigMapKeySelector': KEY_OF_OBJECT,
  'core.v1.SecretKeySelector': KEY_OF_OBJECT,
  'core.v1.Volume': each('name'),
  'core.v1.ConfigMapVolumeSource': each('name'),
  'core.v1.ConfigMapProjection': each('name'),
  'core.v1.SecretVolumeSource': each('secretName'),
  'core.v1.SecretProjection': each('name'),
  'core.v1.PersistentVolumeClaimVolumeSource': each('claimName'),
  'core.v1.HostPathVolumeSource': each('path'),
  'core.v1.NFSVolumeSource': each('server', 'path'),
  'core.v1.CSIVolumeSource': each('driver'),
  'core.v1.KeyToPath': each('key', 'path'),
  'core.v1.SeccompProfile': [
    {
      oneOf: ['localhostProfile'],
      where: ['type', 'Localhost'],
      detail: 'must be set when seccomp type is Localhost',
    },
  ],
  'core.v1.NodeSelector': [{ oneOf: ['nodeSelectorTerms'], detail: 'must have at least one node selector term' }],
  'core.v1.NodeSelectorRequirement': [
    {
      oneOf: ['values'],
      where: ['operator', 'In', 'NotIn'],
      detail: "must be specified when `operator` is 'In' or 'NotIn'",
    },
  ],
  'core.v1.PodAffinityTerm': [{ oneOf: ['topologyKey'], detail: 'can not be empty' }],
  'core.v1.EnvFromSource': [
    {
      oneOf: ['configMapRef', 'secretRef'],
      names: 'list',
      invalid: '',
      detail: 'must specify one of: `configMapRef` or `secretRef`',
    },
  ],
  'core.v1.ConfigMapEnvSource': each('name'),
  'core.v1.SecretEnvSource': each('name'),
  'core.v1.Probe': [{ oneOf: ['exec', 'httpGet', 'tcpSocket', 'grpc'], ...HANDLER }],
  'core.v1.ExecAction': each('command'),
  'core.v1.LifecycleHandler': [{ oneOf: ['exec', 'httpGet', 'tcpSocket', 'sleep'], ...HANDLER }],
  'core.v1.TopologySpreadConstraint': [{ oneOf: ['topologyKey'], detail: 'can not be empty' }],
  'core.v1.EndpointSubset': [
    {
      oneOf: ['addresses', 'notReadyAddresses'],
      names: 'object',
      detail: 'must specify `addresses` or `notReadyAddresses`',
    },
    NAMED_PORTS,
  ],
  'core.v1.ReplicationControllerSpec': each('selector', 'template'),
  'core.v1.ServiceSpec': [
    {
      oneOf: ['ports'],
      unless: [
        ['type', 'ExternalName'],
        ['clusterIP', 'None'],
      ],
    },
    NAMED_PORTS,
    { oneOf: ['externalName'], where: ['type', 'ExternalName'] },
  ],
  'core.v1.PersistentVolumeSpec': [
    ...each('accessModes', 'capacity'),
    { oneOf: VOLUME_SOURCES, names: 'object', detail: 'must specify a volume type' },
  ],
  'core.v1.PersistentVolumeClaimSpec': [
    { oneOf: ['accessModes'], detail: 'at least 1 access mode is required' },
    { oneOf: ['resources.requests.storage'], names: 'resources[storage]' },
  ],
  'apps.v1.ControllerRevision': [{ oneOf: ['data'], detail: 'data is mandatory' }],
  'batch.v1.JobSpec': [
    { oneOf: ['template.spec.restartPolicy'], nor: 'Always', detail: 'valid values: "OnFailure", "Never"' },
  ],
  'batch.v1.CronJobSpec': each('schedule'),
  'autoscaling.v1.HorizontalPodAutoscalerSpec': TARGET,
  'autoscaling.v2.HorizontalPodAutoscalerSpec': TARGET,
  'autoscaling.v2.MetricSpec': ['Object', 'Pods', 'Resource', 'ContainerResource', 'External'].map((type) => ({
    oneOf: [`${type[0]!.toLowerCase()}${type.slice(1)}`],
    where: ['type', type] as const,
    detail: 'must populate information for the given metric source',
  })),
  'networking.v1.IngressClassSpec': each('controller'),
  'networking.v1.IngressSpec': [
    {
      oneOf: ['defaultBackend', 'rules'],
      names: 'object',
      invalid: null,
      detail: 'either `defaultBackend` or `rules` must be specified',
    },
  ],
  'networking.v1.HTTPIngressRuleValue': each('paths'),
  'networking.v1.NetworkPolicyPeer': [
    { oneOf: ['podSelector', 'namespaceSelector', 'ipBlock'], names: 'object', detail: 'must specify a peer' },
  ],
  'networking.v1.HTTPIngressPath': [
    { oneOf: ['pathType'], detail: 'pathType must be specified' },
    { oneOf: ['path'], invalid: '', detail: 'must be an absolute path', where: ['pathType', 'Exact', 'Prefix'] },
  ],
  'networking.v1.IngressBackend': [
    {
      oneOf: ['service', 'resource'],
      names: 'object',
      invalid: '',
      detail: 'resource or service backend is required',
    },
  ],
  'networking.v1.IngressServiceBackend': [
    { oneOf: ['port.name', 'port.number'], names: 'parent', detail: 'port name or number is required' },
  ],
  'networking.v1.ServiceCIDRSpec': [{ oneOf: ['cidrs'], detail: 'at least one CIDR required' }],
  'admissionregistration.v1.WebhookClientConfig': [
    { oneOf: ['service', 'url'], names: 'object', detail: 'exactly one of url or service is required' },
  ],
  'admissionregistration.v1.RuleWithOperations': RULE,
  'admissionregistration.v1.NamedRuleWithOperations': RULE,
  'admissionregistration.v1.Validation': [{ oneOf: ['expression'], detail: 'expression is not specified' }],
  'admissionregistration.v1.ParamKind': each('apiVersion', 'kind'),
  'certificates.v1.CertificateSigningRequestSpec': each('usages'),
  'discovery.v1.Endpoint': [{ oneOf: ['addresses'], detail: 'must contain at least 1 address' }],
  'flowcontrol.v1.PriorityLevelConfigurationReference': [
    { oneOf: ['name'], detail: 'must reference a priority level' },
  ],
  'flowcontrol.v1.PriorityLevelConfigurationSpec': [
    { oneOf: ['limited'], where: ['type', 'Limited'], detail: 'must not be empty when type is Limited' },
  ],
  'flowcontrol.v1.LimitResponse': [
    {
      oneOf: ['queuing'],
      where: ['type', 'Queue'],
      detail: 'must not be empty if limited.limitResponse.type is Limited',
    },
  ],
  'resource.v1.ResourceSliceSpec': [
    {
      oneOf: ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'],
      names: 'object',
      detail: 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
    },
  ],
  'resource.v1.DeviceSelector': each('cel'),
  'resource.v1.DeviceRequest': [
    {
      oneOf: ['exactly', 'firstAvailable'],
      names: 'object',
      detail: 'exactly one of `exactly` or `firstAvailable` is required',
    },
  ],
  'storage.v1.VolumeAttachmentSource': [
    {
      oneOf: ['inlineVolumeSpec', 'persistentVolumeName'],
      names: 'object',
      detail: 'must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    },
  ],
  'storage.v1.VolumeAttributesClass': [{ oneOf: ['parameters'], detail: 'must contain at least one key/value pair' }],
}
