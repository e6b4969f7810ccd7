// Tested by src/render/policy-template/policy-document.test.ts.
/** What templates of a policy read of a cluster: objects by kind and name, within a scope. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { GoError } from '../gotemplate/function.ts'
import { parseLabelQuery } from './label-query.ts'
import type { LabelQuery } from './label-query.ts'

/** How the API of a cluster names a kind. */
export interface TemplateResource {
  readonly group: string
  /** The plural, like `configmaps`. */
  readonly resource: string
  readonly namespaced: boolean
}

/** A kind with its version. */
export interface TemplateKind {
  readonly apiVersion: string
  readonly kind: string
}

/** The objects that templates read. May throw to stop a template whose objects are not read yet. */
export interface TemplateObjects {
  /** undefined: the cluster does not serve the kind. */
  resourceOf(kind: TemplateKind): TemplateResource | undefined
  get(query: TemplateKind & { readonly namespace: string; readonly name: string }): JsonObject | undefined
  /** All namespaces if `namespace` is empty. */
  list(query: TemplateKind & { readonly namespace: string; readonly labels: LabelQuery }): readonly JsonObject[]
}

/** What a template may read. */
export interface LookupScope {
  readonly objects: TemplateObjects
  /** Objects that are found before the objects of the cluster. */
  readonly local?: readonly JsonObject[]
  /** The only namespace that a template may read; without it, all. */
  readonly namespace?: string
  /** Objects without a namespace that a template may read although `namespace` is set. */
  readonly allowed?: readonly { readonly group: string; readonly kind: string; readonly name: string }[]
  /** Whether a missing object is reported once only: a second read of it within a template gives nothing. */
  readonly remembersMissing?: boolean
  /** Called when a template reads a Secret that exists. */
  readonly onSecret?: () => void
}

/** What to read: one object if `name` is not empty, else a list. */
export interface LookupQuery extends TemplateKind {
  readonly namespace: string
  readonly name: string
  readonly selectors?: readonly string[]
}

/** An object that is not there; `lookup` takes it as nothing. */
export class MissingObjectError extends GoError {}

/** Reads of a template. */
export interface ClusterLookup {
  readonly scope: LookupScope
  /** An object, a list as `{items: […]}`, or undefined for an object that was missing before. */
  readonly read: (query: LookupQuery) => JsonObject | undefined
}

/** Begins the reads of a template. */
export function clusterLookup(scope: LookupScope): ClusterLookup {
  const missing = new Set<string>()
  return { scope, read: (query) => read(scope, query, missing) }
}

function read(scope: LookupScope, query: LookupQuery, missing: Set<string>): JsonObject | undefined {
  const { apiVersion, kind, name, selectors = [] } = query
  if (apiVersion === '' || kind === '') throw new GoError('the apiVersion and kind are required')
  const namespace = namespaceFor(query.namespace, scope.namespace)
  if (apiVersion.split('/').length > 2) throw new GoError(`unexpected GroupVersion string: ${apiVersion}`)
  const labels = parseLabelQuery(selectors[0] === undefined || selectors[0] === '' ? '' : selectors.join(','))
  const local = readLocal(scope.local ?? [], query, labels)
  if (local) return local
  const resource = scope.objects.resourceOf({ apiVersion, kind })
  if (!resource) throw new GoError('one or more API resources are not installed on the API server')
  const isLimited = scope.namespace !== undefined && scope.namespace !== ''
  if (!resource.namespaced && isLimited && !isAllowed(scope, { group: resource.group, kind, name })) {
    throw new GoError(`lookup of cluster-scoped resource '${kind}/${name}' is not allowed`)
  }
  const within = resource.namespaced ? namespace : ''
  if (name === '') {
    const items = [...scope.objects.list({ apiVersion, kind, namespace: within, labels })]
    if (kind === 'Secret' && items.length > 0) scope.onSecret?.()
    return { items }
  }
  const id = JSON.stringify([apiVersion, kind, namespace, name, labels.text])
  if (missing.has(id)) return undefined
  // The API has no object of a kind with namespaces outside of one.
  const found =
    resource.namespaced && within === '' ? undefined : scope.objects.get({ apiVersion, kind, namespace: within, name })
  if (found) {
    if (kind === 'Secret') scope.onSecret?.()
    return found
  }
  if (scope.remembersMissing) missing.add(id)
  const qualified = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  throw new MissingObjectError(`${qualified} "${name}" not found`)
}

function namespaceFor(wanted: string, only: string | undefined): string {
  if (only === undefined || only === '') return wanted
  if (wanted !== '' && wanted !== only) throw new GoError(`the namespace argument is restricted to ${only}`)
  return only
}

function isAllowed(
  { allowed = [] }: LookupScope,
  object: { readonly group: string; readonly kind: string; readonly name: string },
): boolean {
  const fits = (pattern: string, text: string): boolean => pattern === '*' || pattern === text
  return allowed.some(
    ({ group, kind, name }) => fits(group, object.group) && fits(kind, object.kind) && fits(name, object.name),
  )
}

function readLocal(
  local: readonly JsonObject[],
  { apiVersion, kind, namespace, name, selectors = [] }: LookupQuery,
  labels: LabelQuery,
): JsonObject | undefined {
  const same = local.filter((object) => {
    const metadata = metadataOf(object)
    return object['apiVersion'] === apiVersion && object['kind'] === kind && (metadata['namespace'] ?? '') === namespace
  })
  if (name !== '') return same.find((object) => metadataOf(object)['name'] === name)
  const items = selectors.length === 0 ? same : same.filter((object) => labels.matches(labelsOf(object)))
  return items.length === 0 ? undefined : { items }
}

function metadataOf(object: JsonObject): JsonObject {
  return isObject(object['metadata']) ? object['metadata'] : {}
}

/** The labels of an object. */
export function labelsOf(object: JsonObject): Record<string, string> {
  const labels = metadataOf(object)['labels']
  if (!isObject(labels)) return {}
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
