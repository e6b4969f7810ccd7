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
    'Annotations is an unstructured map stored with an object, which tools may set and read; nothing selects by it.',
  creationTimestamp: 'CreationTimestamp is a timestamp representing the server time when this object was created.',
  deletionGracePeriodSeconds:
    'Number of seconds the object has to end before it is removed, set with deletionTimestamp.',
  deletionTimestamp:
    'DeletionTimestamp is the time at which the object will be deleted; the server sets it when a delete was asked for.',
  finalizers: 'Must be empty before the object is removed: each entry names who still has something to do.',
  generateName: 'GenerateName is a prefix the server makes a unique name of when no name is given.',
  generation: 'A number that rises with every change of the wanted state.',
  labels: 'Map of keys and values to organize and select objects.',
  managedFields: 'ManagedFields says who owns which fields, for server-side apply.',
  name: 'Name is unique within a namespace, and cannot be changed.',
  namespace: 'Namespace is the space within which each name must be unique.',
  ownerReferences: 'Objects that this one depends on: when all of them are gone, it is removed.',
  resourceVersion: 'An opaque value for the version of this object, to see when it has changed.',
  selfLink: 'Deprecated: a field the server no longer fills in.',
  uid: 'UID is unique in time and space: no other object has it, ever.',
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
    description: 'APIVersion defines in which group and version the object is written, such as apps/v1.',
  },
  kind: { type: 'string', description: 'Kind is what the object is, such as Deployment.' },
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
  continue: 'Where a list that was cut by a limit goes on: as the answer before said.',
  dryRun: 'All: everything is done but the write.',
  fieldManager: 'Who writes, as managedFields will say.',
  fieldSelector: 'A selector to restrict the list of returned objects by their fields. Defaults to everything.',
  fieldValidation: 'What happens to unknown and repeated fields: Ignore, Warn or Strict.',
  force: 'Takes fields from those who own them; for applies only.',
  labelSelector: 'A selector to restrict the list of returned objects by their labels. Defaults to everything.',
  limit: 'How many objects a list may have at most; the answer says where it goes on.',
  resourceVersion: 'How new an answer must be, or after what a watch begins.',
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
