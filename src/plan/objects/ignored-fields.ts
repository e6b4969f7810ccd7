/**
 * Fields that are set when an object is made and left alone afterwards. What is sent for them follows what is there: a
 * field another manager owns is not sent; one without another owner is sent with its live value, because leaving it out
 * would remove it. Items of lists are the same by their keys, wherever they are in the list.
 */
import { isObject, jsonClone } from '../../core/json.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { findPaths, parseJsonPath } from '../../kinds/json-path.ts'
import type { PathStep } from '../../kinds/json-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isOneValue, listKeysAt, ownersAt, ownedFieldPaths, sameItem, valueAt } from './managed-fields.ts'
import type { FieldPath } from './managed-fields.ts'
import { selects } from './object-id.ts'
import type { ObjectId } from './object-id.ts'

/** Which fields of an object are ignored. */
export type IgnoreRule =
  | { readonly type: 'pointer'; readonly place: readonly string[] }
  | { readonly type: 'path'; readonly steps: readonly PathStep[] }
  | { readonly type: 'manager'; readonly manager: string }

/** Rules, or why one cannot be read. */
export type ParsedIgnoreRules =
  | { readonly ok: true; readonly rules: readonly IgnoreRule[] }
  | { readonly ok: false; readonly problem: string }

/**
 * The rules of a bundle that are for this object, and the rules of its annotation: pointers, paths or `manager:NAME`,
 * apart by spaces or commas.
 */
export function ignoreRulesFor(
  bundle: NonNullable<BundleOptions['ignore']>,
  id: ObjectId,
  annotation: string | undefined,
): ParsedIgnoreRules {
  const mine = bundle.filter((rule) => selects(rule, id))
  // What is in brackets may have spaces.
  const noted = annotation?.match(/(?:\[[^\]]*\]|[^\s,[])+/g) ?? []
  const named = noted.filter((text) => /^manager:./.test(text)).map((text) => text.slice('manager:'.length))
  const texts = [
    ...mine.flatMap((rule) => [...(rule.pointers ?? []), ...(rule.paths ?? [])]),
    ...noted.filter((text) => !/^manager:./.test(text)),
  ]
  const managers = [...mine.flatMap((rule) => rule.managers ?? []), ...named]
  const rules = managers.map((manager): IgnoreRule => ({ type: 'manager', manager }))
  for (const text of texts) {
    const rule = parseRule(text)
    if (!rule) {
      return {
        ok: false,
        problem: `ignored field ${JSON.stringify(text)} is neither a pointer such as /spec/replicas nor a path such as .spec.replicas nor, in an annotation, manager:NAME`,
      }
    }
    rules.push(rule)
  }
  return { ok: true, rules }
}

function parseRule(text: string): IgnoreRule | undefined {
  if (/^(\/[^/]+)+$/.test(text)) {
    const place = text
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    return isProtected(place[0]) ? undefined : { type: 'pointer', place }
  }
  const steps = text.startsWith('.') || text.startsWith('[') ? parseJsonPath(text) : undefined
  const [first] = steps ?? []
  if (!steps || !first || (first.type === 'field' && isProtected(first.name) && steps.length === 1)) return undefined
  return { type: 'path', steps }
}

// What says which object it is cannot be left to others.
function isProtected(name: string | undefined): boolean {
  return name === 'apiVersion' || name === 'kind'
}

/** The places of an object that its rules ignore. */
function ignoredPlaces(rules: readonly IgnoreRule[], object: UnknownObject): FieldPath[] {
  return rules.flatMap((rule): FieldPath[] => {
    switch (rule.type) {
      case 'pointer': {
        const place = concrete(object, rule.place)
        return place && valueAt(object, place) !== undefined ? [place] : []
      }
      case 'path':
        return findPaths(object, rule.steps)
      case 'manager':
        return (object.metadata.managedFields ?? [])
          .filter((entry) => entry.manager === rule.manager)
          .flatMap((entry) => ownedFieldPaths(entry.fieldsV1, object))
    }
  })
}

// A pointer does not say whether `0` is a field or an index; the object does.
function concrete(root: unknown, pointer: readonly string[]): FieldPath | undefined {
  const place: (string | number)[] = []
  for (const step of pointer) {
    const at = valueAt(root, place)
    if (Array.isArray(at)) {
      if (!/^\d+$/.test(step)) return undefined
      place.push(Number(step))
    } else if (isObject(at)) place.push(step)
    else return undefined
  }
  return place
}

/** What to apply for an object whose live form is known; `manager` is who applies. */
export function withoutIgnored(
  desired: UnknownObject,
  live: UnknownObject,
  { rules, manager }: { readonly rules: readonly IgnoreRule[]; readonly manager: string },
): UnknownObject {
  if (rules.length === 0) return desired
  const sent = jsonClone(desired)
  const drops: FieldPath[] = []
  for (const ignored of ignoredPlaces(rules, desired)) {
    for (const place of leavesAt(desired, ignored, live)) {
      const { place: there, missing } = twin(place, desired, live)
      if (!there) {
        // An item that is new is made whole; one that another manager took out of an ignored list stays out.
        if (missing.length >= ignored.length) drops.push(missing)
        continue
      }
      const theirs = valueAt(live, there)
      if (theirs === undefined || isTheirs(live, there, manager)) drops.push(place)
      else setAt(sent, place, jsonClone(theirs))
    }
  }
  for (const ignored of ignoredPlaces(rules, live)) {
    for (const there of leavesAt(live, ignored, live)) {
      const { place } = twin(there, live, desired, live)
      if (!place) continue
      const isWanted = valueAt(desired, place) !== undefined
      if (isTheirs(live, there, manager)) {
        if (isWanted) drops.push(place)
      } else if (isWanted || ownersAt(live, there).length > 0) setAt(sent, place, jsonClone(valueAt(live, there)))
    }
  }
  removeAll(sent, drops)
  return sent
}

/** What to write where a whole object is written: what is ignored is in it as it is. */
export function withLiveIgnored(
  desired: UnknownObject,
  live: UnknownObject,
  rules: readonly IgnoreRule[],
): UnknownObject {
  const sent = jsonClone(desired)
  const drops: FieldPath[] = []
  for (const place of ignoredPlaces(rules, desired)) {
    const { place: there, missing } = twin(place, desired, live)
    if (there ? valueAt(live, there) === undefined : missing.length === place.length) drops.push(place)
  }
  for (const there of ignoredPlaces(rules, live)) {
    const { place, missing } = twin(there, live, desired, live)
    const list = place ? undefined : valueAt(sent, missing.slice(0, -1))
    const value = jsonClone(valueAt(live, there))
    if (place) setAt(sent, place, value)
    else if (missing.length === there.length && Array.isArray(list)) list.push(value)
  }
  removeAll(sent, drops)
  return sent
}

// A part of what is owned as one value cannot be left out of it.
function isTheirs(live: UnknownObject, place: FieldPath, manager: string): boolean {
  const isPart = place.some((_, depth) => depth > 0 && isOneValue(live, place.slice(0, depth)))
  return !isPart && ownersAt(live, place).some((entry) => entry.manager !== manager)
}

/**
 * The fields at and below a place that are owned each for itself, as the live object tells; keys of list items are none
 * of their own.
 */
function leavesAt(root: UnknownObject, place: FieldPath, live: UnknownObject): FieldPath[] {
  const value = valueAt(root, place)
  const there = root === live ? place : twin(place, root, live).place
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0
  if (isLeaf || !there || isOneValue(live, there)) return [place]
  if (!Array.isArray(value)) return Object.keys(value).flatMap((name) => leavesAt(root, [...place, name], live))
  const keys = listKeysAt(live, there)
  if (!keys) return [place]
  return value.flatMap((_, index) =>
    leavesAt(root, [...place, index], live).filter((leaf) => !isKeyOf(leaf, place.length, keys)),
  )
}

function isKeyOf(leaf: FieldPath, depth: number, keys: readonly string[]): boolean {
  return leaf.length === depth + 2 && keys.includes(String(leaf[depth + 1]))
}

/** Where the field at a place of an object is in another; or the item on the way that the other does not have. */
function twin(
  place: FieldPath,
  from: UnknownObject,
  to: UnknownObject,
  live = to,
): { readonly place?: FieldPath; readonly missing: FieldPath } {
  const there: (string | number)[] = []
  for (const [depth, step] of place.entries()) {
    if (typeof step === 'string') {
      there.push(step)
      continue
    }
    const here = place.slice(0, depth)
    const items = valueAt(to, there)
    const keys = listKeysAt(live, live === to ? there : here)
    const item = valueAt(from, [...here, step])
    const index = keys && Array.isArray(items) ? items.findIndex((other) => sameItem(item, other, keys)) : step
    if (index < 0) return { missing: place.slice(0, depth + 1) }
    there.push(index)
  }
  return { place: there, missing: [] }
}

// From the end, so that removing an item of a list does not move the others.
function removeAll(root: unknown, places: readonly FieldPath[]): void {
  const distinct = new Map(places.map((place) => [JSON.stringify(place), place]))
  for (const place of [...distinct.values()].toSorted(fromTheEnd)) removeAt(root, place)
}

function fromTheEnd(a: FieldPath, b: FieldPath): number {
  for (const [depth, step] of a.entries()) {
    const other = b[depth]
    if (typeof step === 'number' && typeof other === 'number' && step !== other) return other - step
    if (step !== other) break
  }
  return b.length - a.length
}

// What is empty by that goes, too: sent empty it would be a claim.
function removeAt(root: unknown, place: FieldPath): void {
  const above = place.slice(0, -1)
  const parent = valueAt(root, above)
  const last = place.at(-1)
  if (Array.isArray(parent) && typeof last === 'number') parent.splice(last, 1)
  else if (isObject(parent) && typeof last === 'string') delete parent[last]
  else return
  if (Object.keys(parent).length === 0 && typeof above.at(-1) === 'string') removeAt(root, above)
}

function setAt(root: unknown, place: FieldPath, value: unknown): void {
  let parent = root
  for (const [depth, step] of place.slice(0, -1).entries()) {
    const next = valueAt(parent, [step])
    if (next === undefined && typeof step === 'string' && isObject(parent) && typeof place[depth + 1] === 'string') {
      parent[step] = {}
    }
    parent = valueAt(parent, [step])
  }
  const last = place.at(-1)
  if (Array.isArray(parent) && typeof last === 'number') parent[last] = value
  else if (isObject(parent) && typeof last === 'string') parent[last] = value
}
