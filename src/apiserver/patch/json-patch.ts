import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import { isObject, jsonClone, jsonEqual, measureJson } from '../../core/json.ts'
import { badRequest } from '../http/api-errors.ts'
import { MAX_DEPTH } from '../http/decode-body.ts'

/** RFC 6902. The operations of a patch succeed together or not at all. */

interface Operation {
  readonly op: string
  readonly path: string[]
  readonly from?: string[]
  readonly value?: unknown
}

const MAX_OPERATIONS = 10_000
/**
 * Characters that all copies of a patch may have together, as in Kubernetes since CVE-2019-1002100: what copies itself
 * doubles with every operation.
 */
const MAX_COPIED = 3 * 1024 * 1024
/**
 * Items of lists that all operations together may move, to make room or to close a gap: enough for the most operations
 * on a list of 10,000 items.
 */
const MAX_SHIFTED = 100_000_000

/** The cost of a patch's operations so far. */
interface Work {
  copied: number
  shifted: number
}

/** Applies a client's JSON patch to a copy of a value. */
export function applyJsonPatch(value: unknown, patch: unknown): unknown {
  try {
    return patchJson(value, patch)
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error
    throw new ApiError('Invalid', `the server rejected our request due to an error in our request: ${error.message}`, {
      causes: [{ reason: 'UnexpectedServerResponse', message: error.message }],
    })
  }
}

/** Applies a JSON patch to a copy of a value; throws a PatchProblem where it does not fit. */
export function patchJson(value: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('a JSON patch must be a list of operations')
  if (patch.length > MAX_OPERATIONS) {
    throw tooMuch(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`)
  }
  const work: Work = { copied: 0, shifted: 0 }
  let result = jsonClone(value)
  for (const item of patch) result = applyOne(result, readOperation(item), work)
  // Later code recurses over the object. An object from YAML may have been deeper before the patch.
  const { depth } = measureJson(result)
  if (depth > MAX_DEPTH && depth > measureJson(value).depth) throw tooDeep()
  return result
}

function tooMuch(message: string): ApiError {
  return new ApiError('RequestEntityTooLarge', message)
}

function tooDeep(): ApiError {
  return tooMuch(`The patched object is nested deeper than the allowed ${MAX_DEPTH} levels`)
}

/** Why a patch does not fit what it is for. */
class PatchProblem extends Error {}

/** A value is not what a patch wants it to be. */
export class TestFailed extends PatchProblem {}

function readOperation(item: unknown): Operation {
  if (!isObject(item)) throw badRequest('an operation of a JSON patch must be an object')
  const { op, path, from, value } = item
  if (typeof op !== 'string') throw badRequest('an operation of a JSON patch needs "op"')
  if (typeof path !== 'string') throw badRequest(`operation ${op} of a JSON patch needs "path"`)
  if ((op === 'move' || op === 'copy') && typeof from !== 'string') {
    throw badRequest(`operation ${op} of a JSON patch needs "from"`)
  }
  return {
    op,
    path: parsePointer(path),
    ...compact({ from: typeof from === 'string' ? parsePointer(from) : undefined }),
    value,
  }
}

function applyOne(document: unknown, { op, path, from, value }: Operation, work: Work): unknown {
  switch (op) {
    case 'add':
      return add(document, path, jsonClone(value), work)
    case 'remove':
      return remove(document, path, work)
    case 'replace':
      return replace(document, path, jsonClone(value))
    case 'move': {
      const moved = find(document, from!)
      return add(remove(document, from!, work), path, moved, work)
    }
    case 'copy':
      // A field that is not there is copied as null, which is as good as absent.
      return add(document, path, copyOf(fieldOrNull(document, from!), work), work)
    case 'test': {
      const found = find(document, path, true)
      if (jsonEqual(found ?? null, value ?? null)) return document
      throw new TestFailed(`testing value /${path.join('/')} failed: test failed`)
    }
    default:
      throw badRequest(`unknown operation ${JSON.stringify(op)} of a JSON patch`)
  }
}

function copyOf(value: unknown, work: Work): unknown {
  const { length, depth } = measureJson(value)
  work.copied += length
  if (work.copied > MAX_COPIED) {
    const size = `the accumulated size increase of copy is ${work.copied}, exceeding the limit ${MAX_COPIED}`
    throw tooMuch(`Unable to complete the copy, ${size}`)
  }
  if (depth > MAX_DEPTH) throw tooDeep()
  return jsonClone(value)
}

function noteShift(items: number, work: Work): void {
  work.shifted += items
  if (work.shifted <= MAX_SHIFTED) return
  const count = `the number of list items it moves is ${work.shifted}, exceeding the limit ${MAX_SHIFTED}`
  throw tooMuch(`Unable to complete the patch, ${count}`)
}

function find(document: unknown, path: readonly string[], orNothing = false): unknown {
  let value = document
  for (const token of path) {
    if (Array.isArray(value)) value = value[indexOf(token, value.length - 1)]
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token]
    else if (orNothing) return undefined
    else throw missing(path)
  }
  return value
}

function fieldOrNull(document: unknown, path: readonly string[]): unknown {
  const parent = find(document, path.slice(0, -1))
  const token = path.at(-1)
  return isObject(parent) && token !== undefined && !Object.hasOwn(parent, token) ? null : find(document, path)
}

function add(document: unknown, path: readonly string[], value: unknown, work: Work): unknown {
  const token = path.at(-1)
  if (token === undefined) return value
  const parent = find(document, path.slice(0, -1))
  if (Array.isArray(parent)) {
    const index = token === '-' ? parent.length : indexOf(token, parent.length)
    noteShift(parent.length - index, work)
    parent.splice(index, 0, value)
  } else if (isObject(parent)) setField(parent, token, value)
  else throw missing(path)
  return document
}

/** A field that is not there is set; an item of a list must be there. */
function replace(document: unknown, path: readonly string[], value: unknown): unknown {
  const token = path.at(-1)
  if (token === undefined) return value
  const parent = find(document, path.slice(0, -1))
  if (Array.isArray(parent)) parent[indexOf(token, parent.length - 1)] = value
  else if (isObject(parent)) setField(parent, token, value)
  else throw missing(path)
  return document
}

function remove(document: unknown, path: readonly string[], work: Work): unknown {
  const token = path.at(-1)
  if (token === undefined) throw new PatchProblem('the whole document cannot be removed')
  const parent = find(document, path.slice(0, -1))
  if (Array.isArray(parent)) {
    const index = indexOf(token, parent.length - 1)
    noteShift(parent.length - index, work)
    parent.splice(index, 1)
  } else if (isObject(parent) && Object.hasOwn(parent, token)) delete parent[token]
  else throw missing(path)
  return document
}

function setField(parent: Record<string, unknown>, token: string, value: unknown): void {
  if (token === '__proto__') throw badRequest('the field name __proto__ is not allowed')
  parent[token] = value
}

function indexOf(token: string, last: number): number {
  const index = Number(token)
  if (/^(0|[1-9]\d*)$/.test(token) && index <= last) return index
  throw new PatchProblem(`invalid array index ${JSON.stringify(token)}`)
}

function missing(path: readonly string[]): PatchProblem {
  return new PatchProblem(`the path /${path.join('/')} does not exist`)
}

function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/'))
    throw badRequest(`${JSON.stringify(pointer)} is not a JSON pointer: it must begin with /`)
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
