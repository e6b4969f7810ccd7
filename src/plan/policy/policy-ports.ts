/** What the evaluation of a policy needs from outside: a cluster, and Go's templates. */
import type { Labels } from '../../core/text/label-selector.ts'
import type { GoObject, GoValue } from './go-value.ts'

/** How the API of a cluster names a kind. */
export interface PolicyResource {
  readonly apiVersion: string
  readonly kind: string
  /** The plural, like `configmaps`. */
  readonly resource: string
  readonly namespaced: boolean
}

/** A namespace that a selector may choose. */
export interface PolicyNamespace {
  readonly name: string
  readonly labels: Labels
  readonly isTerminating: boolean
}

/** An answer of the API that refuses a write. */
export class ClusterRefusal extends Error {
  override readonly name = 'ClusterRefusal'
  readonly reason: 'Invalid' | 'Conflict' | 'NotFound' | 'AlreadyExists' | 'BadRequest' | 'Other'

  constructor(reason: ClusterRefusal['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** The objects of a cluster. Writes throw ClusterRefusal. */
export interface PolicyCluster {
  /** undefined: the cluster does not serve the kind. */
  resourceOf(apiVersion: string, kind: string): PolicyResource | undefined
  get(resource: PolicyResource, namespace: string, name: string): GoObject | undefined
  /** All namespaces if `namespace` is empty; in the order of namespace and name. */
  list(resource: PolicyResource, namespace: string, matches: (labels: Labels) => boolean): readonly GoObject[]
  namespaces(): readonly PolicyNamespace[]
  /** The object as the API would have it after an update, which is not stored. */
  dryRunUpdate(resource: PolicyResource, object: GoObject): GoObject
  update(resource: PolicyResource, object: GoObject): GoObject
  create(resource: PolicyResource, object: GoObject): GoObject
  /** Whether the object is gone afterwards. */
  delete(resource: PolicyResource, namespace: string, name: string): boolean
}

/** What `.` is in the templates of an object definition. */
export interface ObjectContext {
  readonly name: string
  readonly namespace: string
  /** The existing object, if the templates ask for it. */
  readonly object?: GoObject
  /** Gives all fields, also empty fields. */
  readonly isWhole?: boolean
}

/** A resolved template, or why it cannot be resolved. */
export type Resolved =
  | { readonly value: GoValue; readonly skips: boolean; readonly readsSecrets: boolean }
  | { readonly error: string; readonly skips: boolean }

/** Go's templates. */
export interface PolicyTools {
  resolve(definition: GoValue, context: ObjectContext): Resolved
  resolveText(text: string): Resolved
  /** The first document of a YAML text. */
  readYaml(text: string): { readonly value: GoValue } | { readonly error: string }
  /** A message from a template and its data. */
  message(template: string, data: GoObject): { readonly text: string } | { readonly error: string }
}
