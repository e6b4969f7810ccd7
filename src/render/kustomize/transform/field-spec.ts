/** Field specs: which fields of which kinds a transformer touches, and the walk to them. */
import { KustomizeError, inContext, wrapError } from '../kustomize-error.ts'
import { NULL_TAG, fieldOf, getField, lookup, splitPath } from '../nodes/node.ts'
import type { NodeKind, YamlNode } from '../nodes/node.ts'
import { idText, isSelectedBy, parseApiVersion } from '../resources/resource-id.ts'
import type { Gvk } from '../resources/resource-id.ts'

/** A path in the objects of a type; a missing field is made where `create` says so. */
export interface FieldSpec extends Gvk {
  readonly path: string
  readonly create: boolean
}

/** What to do at the end of a path. */
export interface FieldAction {
  readonly set: (node: YamlNode) => void
  /** What to make of a missing field. */
  readonly createKind?: NodeKind
  readonly createTag?: string
}

const splitPaths = new Map<string, readonly string[]>()

function pathOf(spec: FieldSpec): readonly string[] {
  const known = splitPaths.get(spec.path)
  if (known) return known
  const parts = splitPath(spec.path, '/')
  // Paths come from tables and files of users; the table is small, the rest must not grow without end.
  if (splitPaths.size < 10_000) splitPaths.set(spec.path, parts)
  return parts
}

/** Whether an object is of the type that a spec is for. */
function isForObject(spec: Gvk, object: YamlNode): boolean {
  if (spec.kind !== '' && spec.kind !== (fieldOf(object, 'kind')?.value ?? '')) return false
  if (spec.group === '' && spec.version === '') return true
  const { group, version } = parseApiVersion(fieldOf(object, 'apiVersion')?.value ?? '')
  return (spec.group === '' || spec.group === group) && (spec.version === '' || spec.version === version)
}

/** Goes to the fields of a spec. */
export function visitField(object: YamlNode, spec: FieldSpec, action: FieldAction): void {
  if (!isForObject(spec, object)) return
  try {
    walk(object, pathOf(spec), { spec, action })
  } catch (caught) {
    throw wrapError(caught, `considering field '${spec.path}' of object ${objectText(object)}`)
  }
}

/** Goes to the fields of all specs in order. */
export function visitFields(object: YamlNode, specs: readonly FieldSpec[], action: FieldAction): void {
  for (const spec of specs) visitField(object, spec, action)
}

function objectText(object: YamlNode): string {
  const metadata = fieldOf(object, 'metadata')
  return idText({
    ...parseApiVersion(fieldOf(object, 'apiVersion')?.value ?? ''),
    kind: fieldOf(object, 'kind')?.value ?? '',
    name: fieldOf(metadata, 'name')?.value ?? '',
    namespace: fieldOf(metadata, 'namespace')?.value ?? '',
    clusterScoped: false,
  })
}

interface Visit {
  readonly spec: FieldSpec
  readonly action: FieldAction
}

function walk(node: YamlNode, path: readonly string[], visit: Visit): void {
  if (path.length === 0) {
    visit.action.set(node)
    return
  }
  if (node.tag === NULL_TAG) return
  if (node.kind === 'sequence') {
    inContext(
      () => `visit traversal on path: [${path.join(' ')}]`,
      () => {
        for (const item of node.content) walk(item, path, visit)
      },
    )
    return
  }
  if (node.kind !== 'mapping') throw new KustomizeError('expected sequence or mapping node')
  walkMapping(node, path, visit)
}

function walkMapping(node: YamlNode, path: readonly string[], visit: Visit): void {
  const part = path[0]!
  const isList = part.endsWith('[]')
  const name = isList ? part.slice(0, -2) : part
  if (name === '') throw new KustomizeError('cannot set or create an empty field name')
  const { createKind, createTag = '' } = visit.action
  const mayCreate = visit.spec.create && createKind !== undefined && !isList
  const isLast = path.length <= 1
  const kind: NodeKind | undefined = mayCreate ? (isLast ? createKind : 'mapping') : isList ? 'sequence' : undefined
  const field = inContext(
    () => `fieldName: ${name}`,
    () => (mayCreate ? lookup(node, [name], kind) : simpleName(name) ? getField(node, name) : lookup(node, [name])),
  )
  if (!field) return
  if (field.tag === NULL_TAG && kind !== undefined) {
    field.kind = kind
    field.tag = mayCreate ? (isLast ? createTag : '!!map') : ''
  }
  walk(field, path.slice(1), visit)
}

// Names that a path reads as nothing else.
function simpleName(name: string): boolean {
  return /^[A-Za-z][\w./-]*$/.test(name)
}

/** Adds specs to a list; an existing spec for the same field must agree about creation. */
export function mergeFieldSpecs(specs: readonly FieldSpec[], incoming: readonly FieldSpec[]): FieldSpec[] {
  const result = [...specs]
  for (const spec of incoming) {
    const same = result.find((other) => isSelectedBy(other, spec) && other.path === spec.path)
    if (!same) result.push(spec)
    else if (same.create !== spec.create) throw new KustomizeError('conflicting fieldspecs')
  }
  return result
}
