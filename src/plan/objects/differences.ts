/** Differences between a live object and the desired object, field by field. */
import { compact } from '../../core/compact.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import { formatFieldPath, ownersAt } from './managed-fields.ts'
import type { FieldPath } from './managed-fields.ts'

/** A field that differs. */
export interface Difference {
  readonly place: FieldPath
  readonly live: unknown
  readonly wanted: unknown
}

// The API server sets these fields with every write; they are no part of a user's intent.
const SERVER_FIELDS = new Set([
  'managedFields',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'uid',
  'selfLink',
])

const OWN_PREFIX = 'flotilla.dev/'

/** The fields that differ, outside of status and of what the server itself keeps. */
export function differences(live: KubeObject, wanted: KubeObject): Difference[] {
  const found: Difference[] = []
  compare(withoutMarks(live), withoutMarks(wanted), [], found)
  return found
}

// How an object is treated is no part of what it is.
function withoutMarks(object: KubeObject): KubeObject {
  const { labels, annotations, ...metadata } = object.metadata
  const rest = (marks: Record<string, string> | undefined) => {
    const kept = Object.entries(marks ?? {}).filter(([name]) => !name.startsWith(OWN_PREFIX))
    return kept.length > 0 ? Object.fromEntries(kept) : undefined
  }
  const [otherLabels, otherAnnotations] = [rest(labels), rest(annotations)]
  return {
    ...object,
    metadata: {
      ...metadata,
      ...compact({ labels: otherLabels, annotations: otherAnnotations }),
    },
  }
}

function compare(live: unknown, wanted: unknown, place: FieldPath, found: Difference[]): void {
  if (jsonEqual(live, wanted)) return
  if (isObject(live) && isObject(wanted)) {
    for (const name of new Set([...Object.keys(live), ...Object.keys(wanted)])) {
      if (isServerField(place, name)) continue
      compare(ownField(live, name), ownField(wanted, name), [...place, name], found)
    }
  } else if (Array.isArray(live) && Array.isArray(wanted) && live.length === wanted.length) {
    for (const [index, item] of live.entries()) compare(item, wanted[index], [...place, index], found)
  } else found.push({ place, live, wanted })
}

function isServerField(place: FieldPath, name: string): boolean {
  if (place.length === 0) return name === 'status'
  return place.length === 1 && place[0] === 'metadata' && SERVER_FIELDS.has(name)
}

/** A difference for messages: the field and its present manager. Values are left out, because they can be secret. */
export function describeDifference(live: KubeObject, { place }: Difference, manager: string): string {
  const by = ownersAt(live, place)
    .map((entry) => entry.manager)
    .filter((name) => name !== manager)
  return `${formatFieldPath(live, place)}${by.length > 0 ? ` (changed by ${[...new Set(by)].join(', ')})` : ''}`
}
