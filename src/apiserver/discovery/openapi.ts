import { hex, sha256 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { openApiDocument, openApiPath } from '../../kinds/openapi.ts'
import type { Registry } from '../server/registry.ts'
import { swaggerPaths } from './swagger-paths.ts'
import { swaggerProtobuf } from './swagger-protobuf.ts'

/** OpenAPI documents: v3 per group and version under a hash, v2 as one document for older clients. */

/** The documents of a registry; they change only with it. */
export interface OpenApi {
  /** GET /openapi/v3. */
  index(): object
  /** GET /openapi/v3/PATH, with the hash that names its content. */
  document(path: string): { readonly document: object; readonly hash: string } | undefined
  /** GET /openapi/v2. */
  swagger(): object
  /** The same in protobuf. */
  protobuf(): Uint8Array
}

interface NamedDocument {
  readonly document: object
  readonly hash: string
}

/**
 * The OpenAPI documents of the served kinds. Made on the first request, because most servers of a fleet never get one.
 */
export function createOpenApi(registry: Registry, version: string): OpenApi {
  let made: ReadonlyMap<string, NamedDocument> | undefined
  let swagger: object | undefined
  let protobuf: Uint8Array | undefined
  let revision = registry.revision()
  const documents = (): ReadonlyMap<string, NamedDocument> => {
    if (revision !== registry.revision()) {
      made = undefined
      swagger = undefined
      protobuf = undefined
      revision = registry.revision()
    }
    return (made ??= documentsOf(registry, version))
  }
  const swaggerNow = (): object => {
    const all = [...documents().values()].map(({ document }) => document)
    return (swagger ??= swaggerOf(all, version))
  }
  return {
    index: () => ({
      paths: Object.fromEntries(
        [...documents()].map(([path, { hash }]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
      ),
    }),
    document: (path) => documents().get(path),
    swagger: swaggerNow,
    protobuf: () => {
      const present = swaggerNow()
      // Clients that read protobuf use the definitions only.
      return (protobuf ??= swaggerProtobuf({ ...present, paths: {} }))
    },
  }
}

function documentsOf(registry: Registry, version: string): ReadonlyMap<string, NamedDocument> {
  const documents = new Map<string, NamedDocument>()
  for (const [group, versions] of registry.groups()) {
    for (const groupVersion of versions) {
      const kinds = registry.all().filter((kind) => kind.group === group && kind.version === groupVersion)
      const document = openApiDocument(kinds, version)
      const hash = hex(sha256(JSON.stringify(document))).toUpperCase()
      documents.set(openApiPath({ group, version: groupVersion }), { document, hash })
    }
  }
  return documents
}

/** Merges v3 documents into a Swagger document. */
function swaggerOf(documents: readonly object[], version: string): object {
  const definitions: Record<string, unknown> = {}
  for (const document of documents) {
    const components: unknown = 'components' in document ? document.components : undefined
    const schemas = isObject(components) ? components['schemas'] : undefined
    for (const [name, schema] of Object.entries(isObject(schemas) ? schemas : {})) {
      definitions[name] = isOpen(schema) ? openRoot(schema) : toSwagger(schema)
    }
  }
  const paths = swaggerPaths(documents, toSwagger)
  return { swagger: '2.0', info: { title: 'Kubernetes', version }, paths, definitions }
}

/** A schema for any object. Old clients would refuse fields that the schema does not name, so it names none. */
function isOpen(schema: unknown): schema is JsonObject {
  return isObject(schema) && schema['x-kubernetes-preserve-unknown-fields'] === true
}

function openRoot(schema: JsonObject): object {
  const kept = ['description', 'type', 'x-kubernetes-group-version-kind']
  return Object.fromEntries(Object.entries(schema).filter(([key]) => kept.includes(key)))
}

/**
 * What v2 cannot say is dropped: alternatives, nullability and CEL; a lone reference in allOf becomes the reference.
 */
function toSwagger(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toSwagger)
  if (!isObject(node)) return node
  const { allOf } = node
  if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) && '$ref' in allOf[0]) return toSwagger(allOf[0])
  const result: Record<string, unknown> = {}
  const isVague = isOpen(node) || node['nullable'] === true
  for (const [key, value] of Object.entries(node)) {
    if (isVague && ['type', 'properties', 'items', 'additionalProperties', 'required', 'format'].includes(key)) continue
    if (['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'x-kubernetes-validations'].includes(key)) continue
    if (key === '$ref') result[key] = String(value).replace('#/components/schemas/', '#/definitions/')
    else if (key === 'default' || key === 'enum' || key === 'example') result[key] = value
    else if (key === 'properties' && isObject(value)) {
      result[key] = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, toSwagger(child)]))
    } else result[key] = toSwagger(value)
  }
  return result
}
