// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Whether a merged value stands for the same as an existing one: order of lists, quantities and zero values apart. */
import { parseQuantity } from '../../core/text/quantity.ts'
import { fieldOf, isGoObject, sortedKeys, sprint } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'

/** The answer: `missing` says that the values are equal by zero values that the existing one leaves out. */
export interface Equivalence {
  readonly equal: boolean
  readonly missing: boolean
}

const SAME: Equivalence = { equal: true, missing: false }
const DIFFERENT: Equivalence = { equal: false, missing: false }

/** Compares a merged value with an existing one. `zeroIsMissing` allows zero values that one side leaves out. */
export function equivalence(merged: GoValue, old: GoValue | undefined, zeroIsMissing: boolean): Equivalence {
  if (isGoObject(merged)) return isGoObject(old) ? equivalentFields(merged, old, zeroIsMissing) : DIFFERENT
  if (Array.isArray(merged)) {
    if (merged.length === 0 && (old === null || old === undefined)) return SAME
    return Array.isArray(old) ? equivalentLists(merged, old) : DIFFERENT
  }
  if (zeroIsMissing) {
    if ((old === null || old === undefined) && merged !== null) return { equal: isZero(merged), missing: true }
    if (merged === null && old !== null && old !== undefined) return { equal: isZero(old), missing: false }
  }
  return { equal: sprint(merged) === sprint(old), missing: false }
}

/** What a field without a value prints in Go: `0`, `false`, the empty text, `map[]`, `[]`. */
function zeroText(value: GoValue): string {
  if (typeof value === 'number' || typeof value === 'bigint') return '0'
  if (typeof value === 'boolean') return 'false'
  if (Array.isArray(value)) return '[]'
  return isGoObject(value) ? 'map[]' : ''
}

function isZero(value: GoValue): boolean {
  return sprint(value) === zeroText(value)
}

function equivalentFields(merged: GoObject, old: GoObject, zeroIsMissing: boolean): Equivalence {
  if (Object.keys(merged).length < Object.keys(old).length) return DIFFERENT
  let missing = false
  for (const key of sortedKeys(merged)) {
    const field = equivalentField(merged[key]!, fieldOf(old, key), zeroIsMissing)
    missing ||= field.missing
    if (!field.equal) return { equal: false, missing }
  }
  return { equal: true, missing }
}

function equivalentField(merged: GoValue, old: GoValue | undefined, zeroIsMissing: boolean): Equivalence {
  if (isGoObject(merged)) {
    if (isGoObject(old)) return equivalentFields(merged, old, zeroIsMissing)
    return zeroIsMissing && Object.keys(merged).length === 0 ? SAME : DIFFERENT
  }
  if (Array.isArray(merged)) {
    if (!Array.isArray(old)) return merged.length === 0 ? SAME : DIFFERENT
    return equivalentLists(old, merged)
  }
  if (typeof merged === 'string') return { equal: isSameText(merged, old), missing: false }
  if ((old === null || old === undefined) && merged !== null) {
    return { equal: zeroText(merged) === sprint(merged), missing: true }
  }
  return { equal: sprint(old) === sprint(merged), missing: false }
}

/** Texts that are quantities are compared as such. */
function isSameText(merged: string, old: GoValue | undefined): boolean {
  const quantity = parseQuantity(merged)
  if (quantity === undefined) return old !== undefined && sprint(old) === merged
  if (typeof old !== 'string') return false
  return parseQuantity(old)?.nano === quantity.nano
}

/** A value as text in which the order of lists does not count. */
function sortedText(value: GoValue): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).sort().join(' ')}]`
  if (!isGoObject(value)) return sprint(value)
  return `map[${sortedKeys(value)
    .map((key) => `${key}:${sortedText(value[key]!)}`)
    .join(' ')}]`
}

function sortedItems(list: readonly GoValue[]): GoValue[] {
  return list
    .map((value) => ({ value, text: sortedText(value) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ value }) => value)
}

/**
 * Compares lists item by item in the order of their texts. The first list is taken for the existing one. The original
 * passes a top-level list of the merged object first, and so does this.
 */
function equivalentLists(old: readonly GoValue[], merged: readonly GoValue[]): Equivalence {
  if (old.length !== merged.length) return DIFFERENT
  const sorted = sortedItems(merged)
  let missing = false
  for (const [at, item] of sortedItems(old).entries()) {
    const other = sorted[at]!
    const found = isGoObject(item)
      ? isGoObject(other)
        ? equivalentFields(other, item, true)
        : DIFFERENT
      : { equal: sprint(item) === sprint(other), missing: false }
    missing ||= found.missing
    if (!found.equal) return { equal: false, missing }
  }
  return { equal: true, missing }
}
