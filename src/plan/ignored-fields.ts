/**
 * Fields that are set when an object is made and left alone afterwards. What is sent for them follows what is there: a field somebody
 * else owns is not sent; one that nobody else owns is sent with its live value, because leaving it out would remove it.
 */
import { isObject, jsonClone } from '../core/json.ts'
import type { BundleOptions } from '../kinds/bundle-options.ts'
import { findPlaces, parseJsonPath } from '../kinds/json-path.ts'
import type { PathStep } from '../kinds/json-path.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { ownersAt, placesOf, valueAt } from './managed-fields.ts'
import type { Place } from './managed-fields.ts'
import { selects } from './object-id.ts'
import type { ObjectId } from './object-id.ts'

/** Which fields of an object are ignored. */
export type IgnoreRule =
  | { readonly type: 'pointer'; readonly place: readonly string[] }
  | { readonly type: 'path'; readonly steps: readonly PathStep[] }
  | { readonly type: 'manager'; readonly manager: string }

/** Rules, or why one cannot be read. */
export type ReadRules =
  | { readonly ok: true; readonly rules: readonly IgnoreRule[] }
  | { readonly ok: false; readonly problem: string }

/** The rules of a bundle that are for this object, and those of its annotation: pointers or paths, apart by spaces or commas. */
export function ignoreRulesFor(
  bundle: NonNullable<BundleOptions['ignore']>,
  id: ObjectId,
  annotation: string | undefined,
): ReadRules {
  const mine = bundle.filter((rule) => selects(rule, id))
  const texts = [
    ...mine.flatMap((rule) => [...(rule.pointers ?? []), ...(rule.paths ?? [])]),
    ...(annotation ?? '').split(/[\s,]+/).filter((text) => text !== ''),
  ]
  const rules: IgnoreRule[] = mine.flatMap((rule) =>
    (rule.managers ?? []).map((manager): IgnoreRule => ({ type: 'manager', manager })),
  )
  for (const text of texts) {
    const rule = parseRule(text)
    if (!rule) {
      return {
        ok: false,
        problem: `ignored field ${JSON.stringify(text)} is neither a pointer such as /spec/replicas nor a path such as .spec.replicas`,
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
export function ignoredPlaces(rules: readonly IgnoreRule[], object: UnknownObject): Place[] {
  return rules.flatMap((rule): Place[] => {
    switch (rule.type) {
      case 'pointer': {
        const place = concrete(object, rule.place)
        return place && valueAt(object, place) !== undefined ? [place] : []
      }
      case 'path':
        return findPlaces(object, rule.steps)
      case 'manager':
        return (object.metadata.managedFields ?? [])
          .filter((entry) => entry.manager === rule.manager)
          .flatMap((entry) => placesOf(entry.fieldsV1, object))
    }
  })
}

// A pointer does not say whether `0` is a field or an index; the object does.
function concrete(root: unknown, pointer: readonly string[]): Place | undefined {
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

/** What to send for an object whose live form is known; `manager` is who sends. */
export function withoutIgnored(
  desired: UnknownObject,
  live: UnknownObject,
  { rules, manager }: { readonly rules: readonly IgnoreRule[]; readonly manager: string },
): UnknownObject {
  if (rules.length === 0) return desired
  const sent = jsonClone(desired)
  const places = new Map(
    [...ignoredPlaces(rules, desired), ...ignoredPlaces(rules, live)].map((p) => [p.join('\0'), p]),
  )
  // From the end, so that removing an item of a list does not move the others.
  for (const place of [...places.values()].toReversed()) {
    if (valueAt(sent, place) === undefined) continue
    const theirs = valueAt(live, place)
    const others = ownersAt(live, place).some((entry) => entry.manager !== manager)
    if (theirs === undefined || others) removeAt(sent, place)
    else setAt(sent, place, jsonClone(theirs))
  }
  return sent
}

function removeAt(root: unknown, place: Place): void {
  const parent = valueAt(root, place.slice(0, -1))
  const last = place.at(-1)
  if (Array.isArray(parent) && typeof last === 'number') parent.splice(last, 1)
  else if (isObject(parent) && typeof last === 'string') delete parent[last]
}

function setAt(root: unknown, place: Place, value: unknown): void {
  const parent = valueAt(root, place.slice(0, -1))
  const last = place.at(-1)
  if (Array.isArray(parent) && typeof last === 'number') parent[last] = value
  else if (isObject(parent) && typeof last === 'string') parent[last] = value
}
