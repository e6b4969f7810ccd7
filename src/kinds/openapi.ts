/** OpenAPI v3 of a group and version: schemas, and the few paths kubectl looks for to explain and to apply. */
import { compact } from '../core/compact.ts'
import type { Kind } from './define-kind.ts'
import { METADATA_SCHEMA } from './validation/metadata.ts'
import { isObject } from '../core/json.ts'
import type { StructuralSchema } from './schema/structural.ts'
import { hasEmbedded } from './validation/embedded-objects.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** An OpenAPI v3 document. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, object>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** The document of a group and version; the kinds must all be of it. */
export function openApiDocument(kinds: readonly Kind[], serverVersion: string): OpenApiDocument {
  const schemas: Record<string, object> = {
    [`${META}.ObjectMeta`]: OBJECT_META,
    [`${META}.ListMeta`]: LIST_META,
  }
  const paths: Record<string, object> = {}
  for (const kind of kinds) {
    schemas[schemaName(kind)] = objectSchema(kind)
    schemas[`${schemaName(kind)}List`] = listSchema(kind)
    Object.assign(paths, pathsOf(kind))
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: serverVersion },
    paths,
    components: { schemas },
  }
}

/** Where a group and version's document is served: `apis/flotilla.dev/v1alpha1`, or `api/v1`. */
export function openApiPath(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? `api/${kind.version}` : `apis/${kind.group}/${kind.version}`
}

/** What `kubectl explain` says of the fields that every object has. */
const ABOUT_META: Readonly<Record<string, string>> = {
  annotations:
    'Annotations is an unstructured map of keys and values that tools store with an object. Annotations cannot be used in selectors.',
  creationTimestamp: 'CreationTimestamp is a timestamp representing the server time when this object was created.',
  deletionGracePeriodSeconds:
    'Number of seconds that the object has to terminate before it is removed. Set by the server together with deletionTimestamp.',
  deletionTimestamp:
    'DeletionTimestamp is the time at which the object will be deleted; set by the server when a client requests the deletion.',
  finalizers:
    'List of identifiers of controllers that must finish their work before the object is removed. The list must be empty before the removal.',
  generateName: 'GenerateName is a prefix from which the server generates a unique name if no name is given.',
  generation: 'Sequence number of the desired state. Increased by the server with each change of the desired state.',
  labels: 'Map of keys and values to organize and select objects.',
  managedFields: 'ManagedFields lists the field managers and the fields that each of them owns, for server-side apply.',
  name: 'Name is unique within a namespace, and cannot be changed.',
  namespace: 'Namespace is the space within which each name must be unique.',
  ownerReferences:
    'Objects that this object depends on. When all of them are deleted, the garbage collector deletes this object.',
  resourceVersion: 'Opaque version of the object. Clients compare it to detect changes.',
  selfLink: 'Deprecated: the server no longer sets this field.',
  uid: 'UID is unique in time and space. The server never assigns it to another object.',
}

const OBJECT_META: StructuralSchema = {
  ...METADATA_SCHEMA,
  description: 'ObjectMeta is metadata that all persisted resources must have.',
  properties: Object.fromEntries(
    Object.entries(METADATA_SCHEMA.properties ?? {}).map(([field, schema]) => [
      field,
      { ...schema, description: ABOUT_META[field] ?? '' },
    ]),
  ),
}

const LIST_META = {
  type: 'object',
  description: 'Metadata of a list.',
  properties: {
    continue: { type: 'string' },
    remainingItemCount: { type: 'integer', format: 'int64' },
    resourceVersion: { type: 'string' },
    selfLink: { type: 'string' },
  },
}

function schemaName(kind: Kind): string {
  if (kind.group === '') return `io.k8s.api.core.${kind.version}.${kind.kind}`
  if (!kind.group.includes('.')) return `io.k8s.api.${kind.group}.${kind.version}.${kind.kind}`
  return [...kind.group.split('.').reverse(), kind.version, kind.kind].join('.')
}

function identityOf(kind: Kind, name = kind.kind) {
  return { group: kind.group, kind: name, version: kind.version }
}

function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

const TYPE_META = {
  apiVersion: {
    type: 'string',
    description: 'APIVersion is the API group and version of the object, for example apps/v1.',
  },
  kind: { type: 'string', description: 'Kind is the type of the object, for example Deployment.' },
}

const OBJECT = {
  ...TYPE_META,
  metadata: { description: "Standard object's metadata.", allOf: [ref(`${META}.ObjectMeta`)] },
}

function objectSchema(kind: Kind): object {
  const schema = withEmbedded(kind.schema)
  return {
    ...schema,
    properties: { ...schema.properties, ...OBJECT },
    'x-kubernetes-group-version-kind': [identityOf(kind)],
  }
}

/** The same schema with what every object inside the object has. */
function withEmbedded(schema: StructuralSchema): StructuralSchema {
  if (!hasEmbedded(schema)) return schema
  const { properties, items, additionalProperties, required = [] } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const below = Object.entries(properties ?? {}).map(([field, it]) => [field, withEmbedded(it)])
  return {
    ...schema,
    ...compact({
      required: isEmbedded ? [...new Set([...required, 'kind', 'apiVersion'])] : undefined,
      properties:
        properties || isEmbedded ? { ...Object.fromEntries(below), ...(isEmbedded ? OBJECT : {}) } : undefined,
      items: items ? withEmbedded(items) : undefined,
      additionalProperties: isObject(additionalProperties) ? withEmbedded(additionalProperties) : undefined,
    }),
  }
}

function listSchema(kind: Kind): object {
  return {
    type: 'object',
    description: `${kind.listKind} is a list of ${kind.kind}.`,
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: { type: 'array', description: `List of ${kind.plural}.`, items: { allOf: [ref(schemaName(kind))] } },
      metadata: { allOf: [ref(`${META}.ListMeta`)] },
    },
    'x-kubernetes-group-version-kind': [identityOf(kind, kind.listKind)],
  }
}

const query = (name: keyof typeof ABOUT, type: string) => ({
  name,
  in: 'query',
  description: ABOUT[name],
  schema: { type, uniqueItems: true },
})
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } })

const ABOUT = {
  continue: 'Token for the next page of a list, from metadata.continue of the previous page.',
  dryRun: 'If All, the server processes the request without storing the result.',
  fieldManager: 'Name of the field manager that is recorded in managedFields.',
  fieldSelector: 'A selector to restrict the list of returned objects by their fields. Defaults to everything.',
  fieldValidation: 'Handling of unknown and duplicate fields: Ignore, Warn or Strict.',
  force: 'If true, an apply takes fields that other field managers own. Only for apply requests.',
  labelSelector: 'A selector to restrict the list of returned objects by their labels. Defaults to everything.',
  limit:
    'Maximum number of objects of a page. If there are more, metadata.continue of the response has the token for the next page.',
  resourceVersion: 'Minimum resource version of the response, or the resource version after which a watch starts.',
  watch:
    'Watch for changes to the described resources and return them as a stream of add, update, and remove notifications.',
} as const

const WRITE = [query('dryRun', 'string'), query('fieldManager', 'string'), query('fieldValidation', 'string')]
const LIST = [
  query('continue', 'string'),
  query('fieldSelector', 'string'),
  query('labelSelector', 'string'),
  query('limit', 'integer'),
  query('resourceVersion', 'string'),
  query('watch', 'boolean'),
]

const PATCH_TYPES = ['apply-patch+yaml', 'json-patch+json', 'merge-patch+json']

/** kubectl makes a strategic merge patch where it is offered; custom kinds do not take it. */
function patchTypesOf({ group, custom }: Kind): string[] {
  const isCustom = custom !== undefined || (group.includes('.') && !group.endsWith('.k8s.io'))
  const types = isCustom ? PATCH_TYPES : [...PATCH_TYPES, 'strategic-merge-patch+json']
  return types.map((type) => `application/${type}`)
}

function pathsOf(kind: Kind): Record<string, object> {
  const namespaced = kind.scope === 'Namespaced'
  const all = `/${openApiPath(kind)}${namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`
  const shared = namespaced ? [inPath('namespace')] : []
  const named = [inPath('name'), ...shared]
  const itself = ref(schemaName(kind))
  const paths: Record<string, object> = {
    [all]: compact({
      get: operation(kind, { verb: 'list', parameters: LIST, answer: ref(`${schemaName(kind)}List`) }),
      post: operation(kind, { verb: 'create', parameters: WRITE, answer: itself, body: itself }),
      parameters: namespaced ? shared : undefined,
    }),
    [`${all}/{name}`]: { ...itemOperations(kind, itself), parameters: named },
  }
  if (kind.subresources.status) paths[`${all}/{name}/status`] = { ...statusOperations(kind, itself), parameters: named }
  return paths
}

function statusOperations(kind: Kind, itself: object): object {
  const { get, put, patch } = itemOperations(kind, itself, 'Status')
  return { get, put, patch }
}

function itemOperations(kind: Kind, itself: object, suffix = '') {
  return {
    get: operation(kind, { verb: `read${suffix}`, parameters: [], answer: itself }),
    put: operation(kind, { verb: `replace${suffix}`, parameters: WRITE, answer: itself, body: itself }),
    patch: operation(kind, {
      verb: `patch${suffix}`,
      parameters: [...WRITE, query('force', 'boolean')],
      answer: itself,
      body: { type: 'object' },
      bodyTypes: patchTypesOf(kind),
    }),
    delete: operation(kind, { verb: `delete${suffix}`, parameters: [query('dryRun', 'string')], answer: itself }),
  }
}

const ACTIONS: Readonly<Record<string, string>> = {
  list: 'list',
  create: 'post',
  read: 'get',
  replace: 'put',
  patch: 'patch',
  delete: 'delete',
}

interface OperationParts {
  readonly verb: string
  readonly parameters: readonly object[]
  readonly answer: object
  readonly body?: object
  readonly bodyTypes?: readonly string[]
}

function operation(kind: Kind, parts: OperationParts): object {
  const { verb, parameters, answer, body, bodyTypes = ['application/json'] } = parts
  const json = (schema: object, types: readonly string[]) => Object.fromEntries(types.map((type) => [type, { schema }]))
  return {
    operationId: `${verb}${kind.kind}`,
    tags: [openApiPath(kind).replaceAll('/', '_')],
    ...compact({
      parameters: parameters.length > 0 ? parameters : undefined,
      requestBody: body ? { content: json(body, bodyTypes), required: true } : undefined,
    }),
    responses: { 200: { description: 'OK', content: json(answer, ['application/json']) } },
    'x-kubernetes-action': ACTIONS[verb.replace(/Status$/, '')],
    'x-kubernetes-group-version-kind': identityOf(kind),
  }
}
