/** Which lists are merged by key: the table of the built-in kinds, or a schema that a kustomization brings. */
import { typeNameOfSchema, typeSchema } from '../../../kinds/builtin/definitions.ts'
import { METADATA_SCHEMA } from '../../../kinds/validation/metadata.ts'
import type { StructuralSchema } from '../../../kinds/schema/structural.ts'
import { fieldSchema } from '../../../kinds/schema/merge-keys.ts'
import { KustomizeError } from '../kustomize-error.ts'
import { isRecord } from '../is-record.ts'

/** What is known about a value of a type. */
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
 * The kinds Kustomize knows: its schema is that of Kubernetes 1.21, so that later kinds have no keys. A version that
 * Kubernetes no longer serves has the keys of the one after `=`, or, after `=` alone, those of metadata. The keys
 * themselves are those of the table of built-in kinds, which the API server uses, too; `LATER` is where the two differ.
 * Confirmed against the binary by tables.oracle.test.ts.
 */
const KINDS = `
apps/v1 Deployment DaemonSet ReplicaSet StatefulSet ControllerRevision
batch/v1 Job CronJob
batch/v1beta1=batch/v1 CronJob
v1 Pod PodTemplate ReplicationController Service ServiceAccount Node Namespace PersistentVolumeClaim ConfigMap Secret Endpoints Event LimitRange PersistentVolume ResourceQuota
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
admissionregistration.k8s.io/v1beta1=admissionregistration.k8s.io/v1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
storage.k8s.io/v1 CSINode CSIDriver StorageClass VolumeAttachment
storage.k8s.io/v1beta1=storage.k8s.io/v1 CSINode CSIDriver CSIStorageCapacity StorageClass VolumeAttachment
policy/v1 PodDisruptionBudget
policy/v1beta1=policy/v1 PodDisruptionBudget
policy/v1beta1= PodSecurityPolicy
apiregistration.k8s.io/v1 APIService
apiregistration.k8s.io/v1beta1=apiregistration.k8s.io/v1 APIService
apiextensions.k8s.io/v1= CustomResourceDefinition
apiextensions.k8s.io/v1beta1= CustomResourceDefinition
autoscaling/v1 HorizontalPodAutoscaler
autoscaling/v2beta1= HorizontalPodAutoscaler
autoscaling/v2beta2= HorizontalPodAutoscaler
certificates.k8s.io/v1 CertificateSigningRequest
certificates.k8s.io/v1beta1=certificates.k8s.io/v1 CertificateSigningRequest
coordination.k8s.io/v1 Lease
coordination.k8s.io/v1beta1=coordination.k8s.io/v1 Lease
discovery.k8s.io/v1 EndpointSlice
discovery.k8s.io/v1beta1=discovery.k8s.io/v1 EndpointSlice
events.k8s.io/v1 Event
events.k8s.io/v1beta1=events.k8s.io/v1 Event
extensions/v1beta1= Ingress
flowcontrol.apiserver.k8s.io/v1beta1= FlowSchema PriorityLevelConfiguration
networking.k8s.io/v1 Ingress IngressClass NetworkPolicy
networking.k8s.io/v1beta1=networking.k8s.io/v1 Ingress IngressClass
node.k8s.io/v1 RuntimeClass
node.k8s.io/v1beta1=node.k8s.io/v1 RuntimeClass
rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding Role RoleBinding
rbac.authorization.k8s.io/v1beta1=rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding Role RoleBinding
scheduling.k8s.io/v1 PriorityClass
scheduling.k8s.io/v1beta1=scheduling.k8s.io/v1 PriorityClass
`

/** Merged lists that came after 1.21; Kustomize replaces them. */
const LATER: ReadonlySet<string> = new Set([
  'core.v1.EphemeralContainer.ports',
  'core.v1.PodSpec.resourceClaims',
  'core.v1.PodSpec.schedulingGates',
  'core.v1.ContainerStatus.allocatedResourcesStatus',
  'core.v1.ContainerStatus.volumeMounts',
  'core.v1.PodStatus.hostIPs',
  'core.v1.PodStatus.resourceClaimStatuses',
  'admissionregistration.v1.MutatingWebhook.matchConditions',
  'admissionregistration.v1.ValidatingWebhook.matchConditions',
])

const NO_KEYS: readonly string[] = []

// A value of a known type that has no merged lists below it.
const OPAQUE: MergeSchema = { field: () => OPAQUE, elements: () => OPAQUE, strategy: '', keys: NO_KEYS }

const keyedBy = (key: string): StructuralSchema => ({
  type: 'array',
  'x-kubernetes-patch-strategy': 'merge',
  'x-kubernetes-patch-merge-key': key,
})

const PLAIN: StructuralSchema = { properties: { metadata: METADATA_SCHEMA } }

/** Kinds that are no objects of a cluster, or no longer are. */
const OTHERS: Readonly<Record<string, StructuralSchema>> = {
  'v1 ComponentStatus': { properties: { ...PLAIN.properties, conditions: keyedBy('type') } },
  'kustomize.config.k8s.io/v1beta1 Kustomization': {
    properties: { configMapGenerator: keyedBy('name'), secretGenerator: keyedBy('name') },
  },
}

/** By apiVersion and kind: the name of a type in the table, or nothing for a kind with metadata alone. */
const kinds: ReadonlyMap<string, string | undefined> = new Map(
  KINDS.split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [versions = '', ...names] = line.split(' ')
      const [apiVersion = '', served] = versions.split('=')
      const home = served === '' ? undefined : packageOf(served ?? apiVersion)
      return names.map((name) => [`${apiVersion} ${name}`, home && `${home}.${name}`] as const)
    }),
)

/** `core.v1` of `v1`, `rbac.v1` of `rbac.authorization.k8s.io/v1`. */
function packageOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? `core.${group}` : `${group.split('.')[0]}.${version}`
}

function mergeSchemaOf(schema: StructuralSchema | undefined, isLater = false): MergeSchema {
  if (!schema) return OPAQUE
  const strategy = (isLater ? undefined : schema['x-kubernetes-patch-strategy']) ?? ''
  const key = schema['x-kubernetes-patch-merge-key']
  const keys = schema['x-kubernetes-list-map-keys'] ?? (key === undefined ? NO_KEYS : [key])
  return {
    field: (name) => mergeSchemaOf(fieldSchema(schema, name), LATER.has(`${typeNameOfSchema(schema)}.${name}`)),
    elements: () => mergeSchemaOf(schema.items),
    strategy,
    keys: strategy === '' ? NO_KEYS : keys,
  }
}

/** The schema of the built-in kinds. */
export const BUILT_IN_SCHEMAS: MergeSchemas = {
  of(apiVersion, kind) {
    const id = `${apiVersion} ${kind}`
    const other = OTHERS[id]
    if (other) return mergeSchemaOf(other)
    if (!kinds.has(id)) return undefined
    const type = kinds.get(id)
    return mergeSchemaOf(type === undefined ? PLAIN : typeSchema(type))
  },
}

/** Schemas of an OpenAPI document that `openapi: {path: …}` names; they replace the built-in schemas. */
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
