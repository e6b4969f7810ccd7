/** Plain manifests: YAML documents are parsed, flattened and checked. All problems are reported, not only the first. */
import { utf8 } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { canonicalJson, isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { readYaml } from '../yaml/read/read-yaml.ts'
import { YamlError } from '../yaml/yaml.ts'
import type { ReadLimits, YamlDocument } from '../yaml/yaml.ts'
import { objectIdentity } from './render-result.ts'
import type { RenderProblem, RenderResult } from './render-result.ts'

export interface RawOptions {
  /** Returns the namespace of an object without a namespace, or undefined to leave it out. See `builtin-scope.ts`. */
  readonly namespaceFor?: (object: { readonly apiVersion: string; readonly kind: string }) => string | undefined
  readonly limits?: ReadLimits
  /** Returns true for documents to skip. */
  readonly isOther?: (value: unknown) => boolean
  /** The maximum number of objects. Defaults to 10,000. */
  readonly maxObjects?: number
}

/** Stops a text that would make the hub store more objects than any cluster could use. */
const MAX_OBJECTS = 10_000

type Path = readonly (string | number)[]

interface Found {
  readonly object: UnknownObject
  readonly document: number
  readonly line: number
}

export function renderRaw(manifests: string, options: RawOptions = {}): RenderResult {
  let documents: YamlDocument[]
  try {
    documents = readYaml(manifests, compact({ resolver: '1.1' as const, limits: options.limits }))
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    const { line, column } = caught.position
    const message = caught.message.replace(/^.*?line \d+, column \d+: /, '')
    return { ok: false, problems: [{ message, line, column }] }
  }
  const problems: RenderProblem[] = []
  const found = documents.flatMap((document, index) =>
    options.isOther?.(document.value) ? [] : objectsOf(document, index + 1, problems),
  )
  const named = found.map((place) => ({ ...place, object: withNamespace(place.object, options.namespaceFor) }))
  problems.push(...findDuplicates(named), ...checkCount(named.length, options.maxObjects))
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, objects: named.map(({ object }) => object) }
}

/**
 * Checks objects that were changed after they were read: patches may remove a name, and a namespace that is set may
 * make two objects the same. The objects have no document and line any more.
 */
export function checkObjects(objects: readonly UnknownObject[]): RenderResult {
  const problems = objects.flatMap((object): RenderProblem[] => {
    const invalid = findInvalidField(object)
    return invalid ? [{ message: invalid.message }] : []
  })
  if (problems.length === 0) {
    problems.push(...findDuplicates(objects.map((object) => ({ object }))), ...checkCount(objects.length))
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, objects }
}

function checkCount(count: number, most = MAX_OBJECTS): RenderProblem[] {
  return count > most ? [{ message: `the bundle has ${count} objects; at most ${most} are allowed` }] : []
}

function objectsOf(document: YamlDocument, number: number, problems: RenderProblem[]): Found[] {
  // `---` followed by no content, or by comments only, is valid and has no object.
  if (document.value === null || document.value === undefined) return []
  return flatten(document, number, { value: document.value, path: [] }, problems)
}

function flatten(
  document: YamlDocument,
  number: number,
  at: { readonly value: unknown; readonly path: Path },
  problems: RenderProblem[],
): Found[] {
  const problem = (path: Path, message: string): Found[] => {
    problems.push({ message, document: number, ...document.positionOf(path) })
    return []
  }
  const { value, path } = at
  if (!isObject(value)) return problem(path, `expected a Kubernetes object, found ${describeType(value)}`)
  if (isList(value)) {
    const items = value['items'] ?? []
    if (!Array.isArray(items)) return problem([...path, 'items'], `items of a ${String(value['kind'])} must be a list`)
    return items.flatMap((item, index) =>
      flatten(document, number, { value: item, path: [...path, 'items', index] }, problems),
    )
  }
  const whole = withGeneratedName(value)
  const invalid = findInvalidField(whole)
  if (invalid) return problem([...path, ...invalid.path], invalid.message)
  return [{ object: whole as UnknownObject, document: number, line: document.positionOf(path).line }]
}

// `List` of v1, and the typed lists that `kubectl get -o yaml` prints for one kind.
function isList(value: JsonObject): boolean {
  return (
    typeof value['kind'] === 'string' &&
    value['kind'].endsWith('List') &&
    (value['kind'] === 'List' || 'items' in value)
  )
}

// A hook may omit its name. Its name is then made from its content, so that a changed hook is a new object.
function withGeneratedName(value: JsonObject): JsonObject {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {}
  const { generateName, name, annotations, ...rest } = metadata
  const isHook = isObject(annotations) && Object.keys(annotations).some((key) => key.endsWith('/hook'))
  if (name || typeof generateName !== 'string' || !isHook) return value
  const suffix = digestOf(utf8(canonicalJson(value))).slice('sha256:'.length, 'sha256:'.length + 8)
  return { ...value, metadata: { ...rest, name: `${generateName}${suffix}`, annotations } }
}

function findInvalidField(value: JsonObject): { readonly path: Path; readonly message: string } | undefined {
  for (const field of ['apiVersion', 'kind'] as const) {
    const text = value[field]
    if (text === undefined || text === null || text === '') return { path: [], message: `the object has no ${field}` }
    if (typeof text !== 'string')
      return { path: [field], message: `${field} must be a string, found ${describeType(text)}` }
  }
  const kind = String(value['kind'])
  const metadata = value['metadata']
  if (!isObject(metadata)) return { path: [], message: `the ${kind} has no metadata` }
  const name = metadata['name']
  if (name === undefined || name === null || name === '') {
    const generated =
      metadata['generateName'] === undefined ? '' : '; generateName cannot be used, the name must be known'
    return { path: ['metadata'], message: `the ${kind} has no metadata.name${generated}` }
  }
  if (typeof name !== 'string') {
    return {
      path: ['metadata', 'name'],
      message: `metadata.name of the ${kind} must be a string, found ${describeType(name)}; quote it`,
    }
  }
  const namespace = metadata['namespace']
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    const message = `metadata.namespace of the ${kind} ${name} must be a string, found ${describeType(namespace)}; quote it`
    return { path: ['metadata', 'namespace'], message }
  }
  return undefined
}

function withNamespace(object: UnknownObject, namespaceFor: RawOptions['namespaceFor']): UnknownObject {
  if (object.metadata.namespace) return object
  const namespace = namespaceFor?.(object)
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

function findDuplicates(found: readonly (Pick<Found, 'object'> & Partial<Found>)[]): RenderProblem[] {
  const first = new Map<string, (typeof found)[number]>()
  return found.flatMap((place): RenderProblem[] => {
    const { document, line } = place
    const identity = objectIdentity(place.object)
    // Versions of a group are views of the same object, so the version does not make objects different.
    const key = identity.replace(/^(?:([^ /]+)\/)?[^ ]+ /, '$1 ')
    const before = first.get(key)
    if (!before) {
      first.set(key, place)
      return []
    }
    const where = before.document === undefined ? '' : `, first in document ${before.document} at line ${before.line}`
    return [compact({ message: `${identity} is defined more than once${where}; remove the duplicate`, document, line })]
  })
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
