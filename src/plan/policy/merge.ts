// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Merges a template into an existing object, so that comparing both tells whether the object meets the template. */
import { equivalence } from './equivalence.ts'
import { fieldOf, isGoObject, sprint } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'

/** How to merge. */
export interface MergeRule {
  /** `mustonlyhave`: the template alone counts. */
  readonly only: boolean
  readonly zeroIsMissing: boolean
}

/** A merged value; `missing` says that the template has a key that the object leaves out. */
export interface Merged<T extends GoValue = GoValue> {
  readonly value: T
  readonly missing: boolean
}

/** Merges mappings; keys of the template win. */
export function mergeObjects(template: GoObject, existing: GoObject, rule: MergeRule): Merged<GoObject> {
  if (rule.only) return { value: template, missing: false }
  return mergeValues(template, existing, rule) as Merged<GoObject>
}

function mergeValues(template: GoValue, existing: GoValue, rule: MergeRule): Merged {
  if (isGoObject(template)) {
    if (!isGoObject(existing)) return { value: template, missing: false }
    return mergeFields(template, existing, rule)
  }
  if (Array.isArray(template)) {
    if (!Array.isArray(existing)) return { value: template, missing: false }
    return existing.length > 0 ? mergeLists(template, existing, rule) : { value: template, missing: false }
  }
  // The template does not care about a mapping that it sets to null.
  if (template === null && isGoObject(existing)) return { value: existing, missing: false }
  return { value: template, missing: false }
}

function mergeFields(template: GoObject, existing: GoObject, rule: MergeRule): Merged {
  const value: GoObject = { ...template }
  let missing = false
  for (const key of Object.keys(existing)) {
    const wanted = fieldOf(template, key)
    if (wanted === undefined) value[key] = existing[key]!
    else {
      const merged = mergeValues(wanted, existing[key]!, rule)
      value[key] = merged.value
      missing ||= merged.missing
    }
  }
  return { value, missing: missing || Object.keys(value).length > Object.keys(existing).length }
}

/**
 * Merges lists: items with the same name or an equal content are one, other existing items are kept. An item that
 * exists twice is taken twice.
 */
export function mergeLists(
  template: readonly GoValue[],
  existing: readonly GoValue[],
  rule: MergeRule,
): Merged<GoValue[]> {
  if (rule.only) return { value: [...template], missing: false }
  const result = [...template]
  const taken = new Set<number>()
  const counts = new Map<string, number>()
  for (const item of existing) counts.set(sprint(item), (counts.get(sprint(item)) ?? 0) + 1)
  let missing = false
  const seen = new Set<string>()
  for (const item of existing) {
    const key = sprint(item)
    if (seen.has(key)) continue
    seen.add(key)
    const wanted = counts.get(key)!
    let found = 0
    for (const [at, desired] of template.entries()) {
      if (taken.has(at)) continue
      const merged = mergeItem(desired, item, rule)
      // The original forgets here what it found missing in the item before.
      if (merged.isObject) missing = merged.missing
      const compared = equivalence(merged.value, item, rule.zeroIsMissing)
      missing ||= compared.missing
      if (merged.isSameName || compared.equal) {
        found += 1
        result[at] = merged.value
        taken.add(at)
      }
      if (found === wanted) break
    }
    for (let more = found; more < wanted; more++) result.push(item)
  }
  return { value: result, missing }
}

interface MergedItem extends Merged {
  readonly isObject: boolean
  readonly isSameName: boolean
}

function mergeItem(desired: GoValue, item: GoValue, rule: MergeRule): MergedItem {
  if (!isGoObject(item)) return { value: desired, missing: false, isObject: false, isSameName: false }
  // In the original, what is no mapping becomes an empty one here.
  if (!isGoObject(desired)) return { value: {}, missing: false, isObject: false, isSameName: false }
  const name = fieldOf(item, 'name')
  const isSameName = typeof name === 'string' && name !== '' && fieldOf(desired, 'name') === name
  return { ...mergeObjects(desired, item, rule), isObject: true, isSameName }
}
