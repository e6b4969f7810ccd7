/** What every Kubernetes object has, and how a resource is addressed. */

/** Who owns an object; the garbage collector follows these. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** A manager's share of an object's fields, as server-side apply records it. */
export interface ManagedFieldsEntry {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  time?: string
  fieldsType: 'FieldsV1'
  fieldsV1: Record<string, unknown>
  subresource?: string
}

/** Kubernetes' object metadata. */
export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  managedFields?: ManagedFieldsEntry[]
}

/** Any Kubernetes object. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** A Kubernetes object whose other fields are not known here. */
export interface UnknownObject extends KubeObject {
  [field: string]: unknown
}

/** A condition of a status, in Kubernetes' form. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

/** Where a kind's objects live. */
export type Scope = 'Cluster' | 'Namespaced'

/** How to address a kind over the API; `T` is the TypeScript type of its objects and exists for the compiler only. */
export interface ResourceType<T extends KubeObject = UnknownObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
  readonly objectType?: T
}

/** The address of an object within its kind. */
export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

/** `v1` or `group/version`. */
export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

/** `namespace/name`, or `name` alone for objects of the cluster. */
export function keyOf(object: KubeObject): string {
  return object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : object.metadata.name
}
