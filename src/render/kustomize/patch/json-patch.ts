/** JSON Patch (RFC 6902) with the habits of the library that kustomize uses. */
import { measureJson } from '../../../core/json.ts'
import { KustomizeError, messageOf } from '../kustomize-error.ts'
import { isRecord } from '../is-record.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'

export interface Operation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: unknown
}

/** Reads a patch in JSON or YAML; a document that is not a list of operations is an error. */
export function readJsonPatch(text: string): Operation[] {
  if (text === '') throw new KustomizeError('empty json patch operations')
  const value: unknown = text.startsWith('[')
    ? parseJson(text)
    : readFirstYaml(text, { resolver: '1.1', duplicateKeys: 'last' }).value
  if (value === null) return []
  if (!Array.isArray(value)) {
    const kind = isRecord(value) ? 'object' : typeof value === 'boolean' ? 'bool' : typeof value
    throw new KustomizeError(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Patch`)
  }
  return value.map((item) => {
    if (!isRecord(item)) {
      throw new KustomizeError(`json: cannot unmarshal ${typeof item} into Go value of type jsonpatch.Operation`)
    }
    const text = (key: string): string | undefined => (typeof item[key] === 'string' ? item[key] : undefined)
    return { op: text('op') ?? 'unknown', path: text('path'), from: text('from'), value: toMaps(item['value'] ?? null) }
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (caught) {
    throw new KustomizeError(`invalid JSON patch: ${messageOf(caught)}`)
  }
}

function toMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toMaps)
  return isRecord(value) ? new Map(Object.entries(value).map(([key, item]) => [key, toMaps(item)])) : value
}

type Container = Map<string, unknown> | unknown[]

/**
 * Characters that all copies of a patch may have together, as in a kube-apiserver since CVE-2019-1002100: what copies
 * itself doubles with every operation.
 */
const MAX_COPIED = 3 * 1024 * 1024

/** The characters of JSON that the operations of a patch have copied so far. */
interface Copies {
  length: number
}

/** Applies a patch to a document, in place. */
export function applyJsonPatch(document: Map<string, unknown>, patch: readonly Operation[]): void {
  const copies: Copies = { length: 0 }
  for (const operation of patch) applyOperation(document, operation, copies)
}

function applyOperation(document: Map<string, unknown>, operation: Operation, copies: Copies): void {
  const { op } = operation
  switch (op) {
    case 'add':
    case 'remove':
    case 'replace':
    case 'test':
      return simpleOperation(document, { ...operation, op })
    case 'move':
    case 'copy':
      return relocate(document, { ...operation, op }, copies)
    default:
      throw new KustomizeError(`Unexpected kind: ${op}`)
  }
}

function simpleOperation(
  document: Map<string, unknown>,
  { op, path, value }: Operation & { op: 'add' | 'remove' | 'replace' | 'test' },
): void {
  if (path === undefined) throw new KustomizeError(`${op} operation failed to decode path: missing value`)
  const { container, key } = find(document, path)
  if (!container) {
    const shown = op === 'add' || op === 'remove' ? `"${path}"` : path
    const what =
      op === 'test'
        ? `error in test for path: '${path}'`
        : `${op} operation does not apply: doc is missing path: ${shown}`
    throw new KustomizeError(`${what}: missing value`)
  }
  switch (op) {
    case 'add':
      return inPath(`error in add for path: '${path}'`, () => addTo(container, key, structuredClone(value)))
    case 'remove':
      return inPath(`error in remove for path: '${path}'`, () => removeFrom(container, key))
    case 'replace':
      inPath(`replace operation does not apply: doc is missing key: ${path}`, () => getFrom(container, key), true)
      return setIn(container, key, structuredClone(value))
    case 'test':
      if (!equal(getFrom(container, key) ?? null, value)) {
        throw new KustomizeError(`testing value ${path} failed: test failed`)
      }
  }
}

function relocate(
  document: Map<string, unknown>,
  { op, path, from }: Operation & { op: 'move' | 'copy' },
  copies: Copies,
): void {
  if (from === undefined) throw new KustomizeError(`${op} operation failed to decode from: missing value`)
  const source = find(document, from)
  if (!source.container) {
    throw new KustomizeError(`${op} operation does not apply: doc is missing from path: ${from}: missing value`)
  }
  const value = inPath(`error in ${op} for path: '${source.key}'`, () => getFrom(source.container!, source.key))
  if (op === 'move') {
    inPath(`error in move for path: '${source.key}'`, () => removeFrom(source.container!, source.key))
  } else if (value === undefined)
    throw new KustomizeError(`copy operation does not apply: doc is missing from path: ${from}: missing value`)
  if (path === undefined) throw new KustomizeError(`${op} operation failed to decode path: missing value`)
  const target = find(document, path)
  if (!target.container) {
    throw new KustomizeError(`${op} operation does not apply: doc is missing destination path: ${path}: missing value`)
  }
  const container = target.container
  const moved = op === 'copy' ? copyOf(value, copies) : (value ?? null)
  inPath(`error in ${op} for path: '${path}'`, () => addTo(container, target.key, moved))
}

function copyOf(value: unknown, copies: Copies): unknown {
  copies.length += measureJson(value).length
  if (copies.length <= MAX_COPIED) return structuredClone(value)
  const size = `the accumulated size increase of copy is ${copies.length}, exceeding the limit ${MAX_COPIED}`
  throw new KustomizeError(`Unable to complete the copy, ${size}`)
}

function inPath<T>(prefix: string, step: () => T, hideCause = false): T {
  try {
    return step()
  } catch (caught) {
    throw new KustomizeError(`${prefix}: ${hideCause ? 'missing value' : messageOf(caught)}`)
  }
}

function find(document: Map<string, unknown>, path: string): { container: Container | undefined; key: string } {
  const parts = path.split('/')
  if (parts.length < 2) return { container: undefined, key: '' }
  const key = unescapeKey(parts.at(-1)!)
  let container: Container = document
  for (const part of parts.slice(1, -1)) {
    let next: unknown
    try {
      next = getFrom(container, unescapeKey(part))
    } catch {
      return { container: undefined, key }
    }
    if (!(next instanceof Map) && !Array.isArray(next)) return { container: undefined, key }
    container = next as Container
  }
  return { container, key }
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

function indexOf(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw new KustomizeError(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`)
  return Number(key)
}

function invalidIndex(index: number): KustomizeError {
  return new KustomizeError(`Unable to access invalid index: ${index}: invalid index referenced`)
}

function existing(list: readonly unknown[], key: string): number {
  const index = indexOf(key)
  if (index >= list.length || index < -list.length) throw invalidIndex(index)
  return index < 0 ? index + list.length : index
}

function getFrom(container: Container, key: string): unknown {
  return container instanceof Map ? container.get(key) : container[existing(container, key)]
}

function setIn(container: Container, key: string, value: unknown): void {
  if (container instanceof Map) container.set(key, value)
  else container[existing(container, key)] = value
}

function addTo(container: Container, key: string, value: unknown): void {
  if (container instanceof Map) {
    container.set(key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  if (!/^[+-]?\d+$/.test(key)) {
    throw new KustomizeError(
      `value was not a proper array index: '${key}': strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`,
    )
  }
  const index = Number(key)
  const size = container.length + 1
  if (index >= size || index < -size) throw invalidIndex(index)
  container.splice(index < 0 ? index + size : index, 0, value)
}

function removeFrom(container: Container, key: string): void {
  if (container instanceof Map) {
    if (!container.delete(key)) throw new KustomizeError(`Unable to remove nonexistent key: ${key}: missing value`)
    return
  }
  container.splice(existing(container, key), 1)
}

function equal(a: unknown, b: unknown): boolean {
  if (a instanceof Map && b instanceof Map) {
    return (
      a.size === b.size && [...a].every(([key, value]) => b.has(key as string) && equal(value, b.get(key as string)))
    )
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (typeof a === 'bigint' || typeof b === 'bigint') return Number(a) === Number(b)
  return a === b
}
