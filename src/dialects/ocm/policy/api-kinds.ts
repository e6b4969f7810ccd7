// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** The kinds that the dry run of a policy knows, and the reader of a file with others. */
import { isObject } from '../../../core/json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'

/** A kind of an API. */
export interface ApiKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

// A plural follows its kind where it is not the kind in lower case with an s; `*` has no namespace.
const BUILT_IN = `
v1: Binding ComponentStatus*componentstatuses ConfigMap Endpoints:endpoints Event LimitRange Namespace* Node*
v1: PersistentVolume* PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service
v1: ServiceAccount
admissionregistration.k8s.io/v1: MutatingWebhookConfiguration* ValidatingWebhookConfiguration*
apiextensions.k8s.io/v1: CustomResourceDefinition*
apiregistration.k8s.io/v1: APIService*
apps/v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
authentication.k8s.io/v1: SelfSubjectReview* TokenReview*
authorization.k8s.io/v1: LocalSubjectAccessReview SelfSubjectAccessReview* SelfSubjectRulesReview*
authorization.k8s.io/v1: SubjectAccessReview*
autoscaling/v1: HorizontalPodAutoscaler
autoscaling/v2: HorizontalPodAutoscaler
batch/v1: CronJob Job
certificates.k8s.io/v1: CertificateSigningRequest*
coordination.k8s.io/v1: Lease
discovery.k8s.io/v1: EndpointSlice
events.k8s.io/v1: Event
flowcontrol.apiserver.k8s.io/v1: FlowSchema* PriorityLevelConfiguration*
flowcontrol.apiserver.k8s.io/v1beta3: FlowSchema* PriorityLevelConfiguration*
networking.k8s.io/v1: Ingress:ingresses IngressClass*ingressclasses NetworkPolicy:networkpolicies
node.k8s.io/v1: RuntimeClass*runtimeclasses
policy/v1: PodDisruptionBudget
rbac.authorization.k8s.io/v1: ClusterRole* ClusterRoleBinding* Role RoleBinding
scheduling.k8s.io/v1: PriorityClass*priorityclasses
storage.k8s.io/v1: CSIDriver* CSINode* CSIStorageCapacity:csistoragecapacities StorageClass*storageclasses
storage.k8s.io/v1: VolumeAttachment*
`

// Each dry run knows its own kinds besides.
const OWN = 'policy.open-cluster-management.io/v1: Policy:policies ConfigurationPolicy:configurationpolicies'

function kindsOf(table: string): ApiKind[] {
  return table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [apiVersion = '', kinds = ''] = line.split(': ')
      const [version = '', group = ''] = apiVersion.split('/').reverse()
      return kinds.split(' ').map((word) => {
        const [kind = '', plural = ''] = word.split(/[:*]/)
        return { group, version, kind, plural: plural || `${kind.toLowerCase()}s`, namespaced: !word.includes('*') }
      })
    })
}

/** Kinds of Kubernetes and kinds of policies. */
export function builtInKinds(): ApiKind[] {
  return kindsOf(`${BUILT_IN}${OWN}`)
}

/** Kinds of a file of mappings and kinds of policies. */
export function readMappings(text: string): ApiKind[] {
  const { value } = readFirstYaml(text, { duplicateKeys: 'last' })
  const list = Array.isArray(value) ? value.filter(isObject) : []
  const textOf = (field: unknown): string => (typeof field === 'string' ? field : '')
  return [
    ...list.map((entry) => ({
      group: textOf(entry['group']),
      version: textOf(entry['version']),
      kind: textOf(entry['kind']),
      plural: textOf(entry['plural']),
      namespaced: entry['scope'] === 'namespace',
    })),
    ...kindsOf(OWN),
  ]
}
