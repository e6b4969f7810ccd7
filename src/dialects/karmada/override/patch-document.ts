// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Patches of overriders: add, remove and replace at JSON pointers. */
import { isObject } from '../../../core/json.ts'
import { applyJsonPatch } from '../../../render/kustomize/patch/json-patch.ts'
import type { Operation } from '../../../render/kustomize/patch/json-patch.ts'

/** An operation of an overrider. */
export interface OverrideOperation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

/** Thrown when an overrider cannot be applied to an object. */
export class OverrideError extends Error {}

const OPERATORS: ReadonlySet<string> = new Set(['add', 'remove', 'replace'])
/** A document of maps and lists; maps keep the order of their keys. */
export type Tree = Map<string, unknown> | unknown[]

/** Applies operations to a tree, in place. */
export function patchTree(tree: Tree, operations: readonly OverrideOperation[]): void {
  for (const { op, path, value } of operations) {
    if (!OPERATORS.has(op)) throw new OverrideError(`${path}: unknown operator "${op}"`)
    if (op === 'replace' && !has(tree, path)) throw new OverrideError(`${path}: nothing to replace`)
    const operation: Operation = { op, path, from: undefined, value: op === 'remove' ? null : treeOf(value ?? null) }
    try {
      applyJsonPatch(tree as Map<string, unknown>, [operation])
    } catch (error) {
      throw new OverrideError(`${op} at ${path}: ${(error as Error).message}`, { cause: error })
    }
  }
}

/** The object after the operations. It must still have a kind. */
export function patchObject(
  object: Readonly<Record<string, unknown>>,
  operations: readonly OverrideOperation[],
): Readonly<Record<string, unknown>> {
  if (operations.length === 0) return object
  const tree = treeOf(object) as Map<string, unknown>
  patchTree(tree, operations)
  const patched = plainOf(tree) as Record<string, unknown>
  if (typeof patched['kind'] !== 'string' || patched['kind'] === '') {
    throw new OverrideError('the object has no kind after the override')
  }
  return patched
}

/** Plain JSON as a tree of maps. */
export function treeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(treeOf)
  return isPlain(value) ? new Map(Object.entries(value).map(([key, member]) => [key, treeOf(member)])) : value
}

/** Objects of JSON, not instances of classes such as numbers that keep their text. */
function isPlain(value: unknown): value is Record<string, unknown> {
  const prototype: unknown = isObject(value) ? Object.getPrototypeOf(value) : undefined
  return prototype === Object.prototype || prototype === null
}

/** A tree as plain JSON. */
export function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...(value as Map<string, unknown>)].map(([key, member]) => [key, plainOf(member)]))
}

function has(tree: Tree, path: string): boolean {
  let at: unknown = tree
  for (const part of path.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (at instanceof Map) {
      if (!at.has(key)) return false
      at = at.get(key)
    } else if (Array.isArray(at)) {
      at = at.at(/^-?\d{1,9}$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY)
      if (at === undefined) return false
    } else return false
  }
  return true
}
