/** Which lists are merged by key: the table of the built-in kinds, or a schema that a kustomization brings. */
import { KustomizeError } from './kustomize-error.ts'
import { isRecord } from './records.ts'

/** What is known about one value of a type. */
export interface MergeSchema {
  field(name: string): MergeSchema | undefined
  elements(): MergeSchema | undefined
  /** `merge`, `replace`, `retainKeys`, `merge,retainKeys`, or nothing. */
  readonly strategy: string
  readonly keys: readonly string[]
}

/** Finds the schema of a kind. */
export interface MergeSchemas {
  of(apiVersion: string, kind: string): MergeSchema | undefined
}

/**
 * Types and their merged lists. `field=key` is a list merged by that key, `field=a+b` by several, `field=` a list of
 * plain values that is merged, `field>Type` leads to a type, `field*Type` to a list of it, and both may be combined.
 * Source: the patchStrategy and patchMergeKey marks of the Kubernetes API 1.21, as Kustomize knows them (its schema is
 * frozen there: later kinds and fields have no keys). Confirmed against the binary by tables.oracle.test.ts.
 */
const TYPES = `
Meta: finalizers= ownerReferences=uid
Container: env=name ports=containerPort+protocol volumeDevices=devicePath volumeMounts=mountPath
EphemeralContainer: env=name volumeDevices=devicePath volumeMounts=mountPath
PodSpec: containers=name*Container initContainers=name*Container ephemeralContainers=name*EphemeralContainer hostAliases=ip imagePullSecrets=name topologySpreadConstraints=topologyKey+whenUnsatisfiable volumes=name
PodTemplate: metadata>Meta spec>PodSpec
WithTemplate: template>PodTemplate
Claim: metadata>Meta status>Conditions
StatefulSpec: template>PodTemplate volumeClaimTemplates*Claim
JobTemplate: metadata>Meta spec>WithTemplate
CronSpec: jobTemplate>JobTemplate
Conditions: conditions=type
ServiceSpec: ports=port+protocol
ServiceStatus: conditions=type
PodStatus: conditions=type podIPs=ip
NodeSpec: podCIDRs=
NodeStatus: addresses=type conditions=type
DriversSpec: drivers=name
Plain: metadata>Meta
Workload: metadata>Meta spec>WithTemplate status>Conditions
Stateful: metadata>Meta spec>StatefulSpec status>Conditions
Cron: metadata>Meta spec>CronSpec
Pod: metadata>Meta spec>PodSpec status>PodStatus
Template: metadata>Meta template>PodTemplate
Service: metadata>Meta spec>ServiceSpec status>ServiceStatus
ServiceAccount: metadata>Meta secrets=name
Node: metadata>Meta spec>NodeSpec status>NodeStatus
CSINode: metadata>Meta spec>DriversSpec
Webhooks: metadata>Meta webhooks=name
WithConditions: metadata>Meta status>Conditions
ComponentStatus: metadata>Meta conditions=type
Kustomization: configMapGenerator=name secretGenerator=name
`

const KINDS = `
apps/v1 Deployment=Workload DaemonSet=Workload ReplicaSet=Workload StatefulSet=Stateful ControllerRevision=Plain
batch/v1 Job=Workload CronJob=Cron
batch/v1beta1 CronJob=Cron
v1 Pod=Pod PodTemplate=Template ReplicationController=Workload Service=Service ServiceAccount=ServiceAccount Node=Node Namespace=WithConditions PersistentVolumeClaim=WithConditions ComponentStatus=ComponentStatus ConfigMap=Plain Secret=Plain Endpoints=Plain Event=Plain LimitRange=Plain PersistentVolume=Plain ResourceQuota=Plain
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration=Webhooks ValidatingWebhookConfiguration=Webhooks
admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration=Webhooks ValidatingWebhookConfiguration=Webhooks
storage.k8s.io/v1 CSINode=CSINode CSIDriver=Plain StorageClass=Plain VolumeAttachment=Plain
storage.k8s.io/v1beta1 CSINode=CSINode CSIDriver=Plain CSIStorageCapacity=Plain StorageClass=Plain VolumeAttachment=Plain
policy/v1 PodDisruptionBudget=WithConditions
policy/v1beta1 PodDisruptionBudget=WithConditions PodSecurityPolicy=Plain
apiregistration.k8s.io/v1 APIService=WithConditions
apiregistration.k8s.io/v1beta1 APIService=WithConditions
apiextensions.k8s.io/v1 CustomResourceDefinition=Plain
apiextensions.k8s.io/v1beta1 CustomResourceDefinition=Plain
autoscaling/v1 HorizontalPodAutoscaler=Plain
autoscaling/v2beta1 HorizontalPodAutoscaler=Plain
autoscaling/v2beta2 HorizontalPodAutoscaler=Plain
certificates.k8s.io/v1 CertificateSigningRequest=Plain
certificates.k8s.io/v1beta1 CertificateSigningRequest=Plain
coordination.k8s.io/v1 Lease=Plain
coordination.k8s.io/v1beta1 Lease=Plain
discovery.k8s.io/v1 EndpointSlice=Plain
discovery.k8s.io/v1beta1 EndpointSlice=Plain
events.k8s.io/v1 Event=Plain
events.k8s.io/v1beta1 Event=Plain
extensions/v1beta1 Ingress=Plain
flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema=Plain PriorityLevelConfiguration=Plain
networking.k8s.io/v1 Ingress=Plain IngressClass=Plain NetworkPolicy=Plain
networking.k8s.io/v1beta1 Ingress=Plain IngressClass=Plain
node.k8s.io/v1 RuntimeClass=Plain
node.k8s.io/v1beta1 RuntimeClass=Plain
rbac.authorization.k8s.io/v1 ClusterRole=Plain ClusterRoleBinding=Plain Role=Plain RoleBinding=Plain
rbac.authorization.k8s.io/v1beta1 ClusterRole=Plain ClusterRoleBinding=Plain Role=Plain RoleBinding=Plain
scheduling.k8s.io/v1 PriorityClass=Plain
scheduling.k8s.io/v1beta1 PriorityClass=Plain
kustomize.config.k8s.io/v1beta1 Kustomization=Kustomization
`

const NO_KEYS: readonly string[] = []

// A value of a known type that has no merged lists below it.
const OPAQUE: MergeSchema = { field: () => OPAQUE, elements: () => OPAQUE, strategy: '', keys: NO_KEYS }

interface Entry {
  readonly merged: boolean
  readonly keys: readonly string[]
  readonly type: string | undefined
}

const types = new Map(
  lines(TYPES).map((line) => {
    const [name, ...fields] = line.split(/:? /)
    return [name!, new Map(fields.map(parseField))] as const
  }),
)

const kinds = new Map(
  lines(KINDS).flatMap((line) => {
    const [apiVersion, ...list] = line.split(' ')
    return list.map((item) => {
      const [kind, type] = item.split('=')
      return [`${apiVersion} ${kind}`, type!] as const
    })
  }),
)

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function parseField(text: string): [string, Entry] {
  const [, name, keys, type] = /^(\w+)(?:=([\w+]*))?(?:[>*](\w+))?$/.exec(text)!
  return [name!, { merged: keys !== undefined, keys: keys ? keys.split('+') : NO_KEYS, type }]
}

function typeSchema(name: string): MergeSchema {
  const fields = types.get(name)!
  return {
    field(field) {
      const entry = fields.get(field)
      return entry ? entrySchema(entry) : OPAQUE
    },
    elements: () => OPAQUE,
    strategy: '',
    keys: NO_KEYS,
  }
}

function entrySchema({ merged, keys, type }: Entry): MergeSchema {
  const inner = type === undefined ? OPAQUE : typeSchema(type)
  return { field: (name) => inner.field(name), elements: () => inner, strategy: merged ? 'merge' : '', keys }
}

/** The schema of the built-in kinds. */
export const BUILT_IN_SCHEMAS: MergeSchemas = {
  of(apiVersion, kind) {
    const type = kinds.get(`${apiVersion} ${kind}`)
    return type === undefined ? undefined : typeSchema(type)
  },
}

/** Schemas of an OpenAPI document, as `openapi: {path: …}` names one; the built-in ones no longer count. */
export function openApiSchemas(document: unknown): MergeSchemas {
  const definitions = isRecord(document) && isRecord(document['definitions']) ? document['definitions'] : {}
  const byKind = new Map<string, unknown>()
  for (const definition of Object.values(definitions)) {
    const names = isRecord(definition) ? definition['x-kubernetes-group-version-kind'] : undefined
    for (const name of Array.isArray(names) ? names : []) {
      if (!isRecord(name)) continue
      const { group, version, kind } = name
      if (typeof version !== 'string' || typeof kind !== 'string') continue
      byKind.set(`${typeof group === 'string' && group !== '' ? `${group}/` : ''}${version} ${kind}`, definition)
    }
  }
  return {
    of(apiVersion, kind) {
      const definition = byKind.get(`${apiVersion} ${kind}`)
      return definition === undefined ? undefined : openApiSchema(definition, definitions)
    },
  }
}

function openApiSchema(raw: unknown, definitions: Record<string, unknown>): MergeSchema | undefined {
  let schema = raw
  for (let depth = 0; isRecord(schema) && typeof schema['$ref'] === 'string'; depth++) {
    if (depth > 100) throw new KustomizeError('the OpenAPI document has a $ref that leads to itself')
    schema = definitions[schema['$ref'].replace(/^#\/definitions\//, '').replaceAll('~1', '/')]
  }
  if (!isRecord(schema)) return undefined
  const found = schema
  const strategy = found['x-kubernetes-patch-strategy']
  const mapKeys = found['x-kubernetes-list-map-keys']
  const key = found['x-kubernetes-patch-merge-key']
  return {
    field(name) {
      const properties = found['properties']
      if (isRecord(properties) && Object.hasOwn(properties, name)) return openApiSchema(properties[name], definitions)
      return isRecord(found['additionalProperties'])
        ? openApiSchema(found['additionalProperties'], definitions)
        : undefined
    },
    elements: () => (found['type'] === 'array' ? openApiSchema(found['items'], definitions) : undefined),
    strategy: typeof strategy === 'string' ? strategy : '',
    keys:
      typeof strategy !== 'string'
        ? NO_KEYS
        : Array.isArray(mapKeys)
          ? mapKeys.map(String)
          : typeof key === 'string'
            ? [key]
            : NO_KEYS,
  }
}
