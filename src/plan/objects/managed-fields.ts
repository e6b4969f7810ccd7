/** Whose a field is: managedFields as Kubernetes writes them, read along places in an object. */
import { hex, sha256 } from '../../core/bytes.ts'
import { canonicalJson, isObject, jsonEqual } from '../../core/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../kinds/meta.ts'
import { ownField } from '../../kinds/schema/own-field.ts'

/** A place in an object: field names and list indexes from its root. */
export type FieldPath = readonly (string | number)[]

/** The value at a place; undefined when there is none. */
export function valueAt(root: unknown, place: FieldPath): unknown {
  let at = root
  for (const step of place) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined
    else at = isObject(at) ? ownField(at, step) : undefined
  }
  return at
}

/** Every manager that owns the field at a place, something inside it, or the whole it is a part of. */
export function ownersAt(object: KubeObject, place: FieldPath): ManagedFieldsEntry[] {
  return (object.metadata.managedFields ?? []).filter((entry) => reaches(entry.fieldsV1, object, place))
}

function reaches(fields: unknown, value: unknown, place: FieldPath): boolean {
  if (!isObject(fields)) return false
  const [step, ...rest] = place
  if (step === undefined) return true
  const below = elementOf(fields, value, step)
  if (below === undefined) return isWhole(fields)
  if (isWhole(below)) return true
  return reaches(below, typeof step === 'number' ? itemAt(value, step) : fieldAt(value, step), rest)
}

// `{}` is a field owned with everything in it.
function isWhole(fields: unknown): boolean {
  return isObject(fields) && Object.keys(fields).length === 0
}

function elementOf(fields: Record<string, unknown>, value: unknown, step: string | number): unknown {
  if (typeof step === 'string') return ownField(fields, `f:${step}`)
  const item = itemAt(value, step)
  for (const [element, below] of Object.entries(fields)) {
    if (element === `i:${step}`) return below
    if (element.startsWith('k:') && hasKeys(item, parsed(element.slice(2)))) return below
    if (element.startsWith('v:') && jsonEqual(item, parsed(element.slice(2)))) return below
  }
  return undefined
}

/** The fields that tell the items of a list apart, as its managers have them; undefined where a list is one value. */
export function listKeysAt(object: KubeObject, place: FieldPath): readonly string[] | undefined {
  for (const fields of fieldsAt(object, place)) {
    const element = Object.keys(isObject(fields) ? fields : {}).find((name) => name.startsWith('k:'))
    const keys = element === undefined ? undefined : parsed(element.slice(2))
    if (isObject(keys)) return Object.keys(keys)
  }
  return undefined
}

/** Whether a field is owned as one value, with everything in it. */
export function isOneValue(object: KubeObject, place: FieldPath): boolean {
  return fieldsAt(object, place).some(isWhole)
}

/** What each manager has of the field at a place and below. */
function fieldsAt(object: KubeObject, place: FieldPath): unknown[] {
  return (object.metadata.managedFields ?? []).map(({ fieldsV1 }) => {
    let fields: unknown = fieldsV1
    for (const [depth, step] of place.entries()) {
      fields = isObject(fields) ? elementOf(fields, valueAt(object, place.slice(0, depth)), step) : undefined
    }
    return fields
  })
}

/**
 * Whether two items of a list are the same one by its keys; a key that one of them leaves to its default says nothing.
 */
export function sameItem(a: unknown, b: unknown, keys: readonly string[]): boolean {
  if (!isObject(a) || !isObject(b)) return false
  const known = keys.filter((key) => ownField(a, key) !== undefined && ownField(b, key) !== undefined)
  return known.length > 0 && known.every((key) => jsonEqual(ownField(a, key), ownField(b, key)))
}

/** The places of all fields that a set of fields owns, as far as the object has them. */
export function ownedFieldPaths(fields: unknown, value: unknown, from: FieldPath = []): FieldPath[] {
  if (!isObject(fields)) return []
  if (isWhole(fields)) return value === undefined ? [] : [from]
  return Object.entries(fields).flatMap(([element, below]) => {
    if (element === '.') return []
    const step = stepOf(element, value)
    if (step === undefined) return []
    return ownedFieldPaths(below, typeof step === 'number' ? itemAt(value, step) : fieldAt(value, step), [
      ...from,
      step,
    ])
  })
}

function stepOf(element: string, value: unknown): string | number | undefined {
  const written = element.slice(2)
  if (element.startsWith('f:')) return written
  if (!Array.isArray(value)) return undefined
  if (element.startsWith('i:')) return Number(written)
  const wanted = parsed(written)
  const index = value.findIndex((item) => (element.startsWith('k:') ? hasKeys(item, wanted) : jsonEqual(item, wanted)))
  return index < 0 ? undefined : index
}

function hasKeys(item: unknown, keys: unknown): boolean {
  return (
    isObject(item) &&
    isObject(keys) &&
    Object.entries(keys).every(([name, value]) => jsonEqual(ownField(item, name), value))
  )
}

function itemAt(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[index] : undefined
}

function fieldAt(value: unknown, name: string): unknown {
  return isObject(value) ? ownField(value, name) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * A short text that changes exactly when a manager loses or gains a field of an object. A manager that changes the
 * value of a field takes it from its owners, so as long as the text is the same, what the manager applied is unchanged.
 */
export function ownedFieldsFingerprint(object: KubeObject, manager: string): string {
  const mine = (object.metadata.managedFields ?? [])
    .filter((entry) => entry.manager === manager && entry.subresource === undefined)
    .map(({ operation, apiVersion, fieldsV1 }) => ({ operation, apiVersion, fieldsV1 }))
  return mine.length === 0 ? '' : hex(sha256(canonicalJson(mine))).slice(0, 16)
}

/**
 * managedFields in which a manager alone has what it applied: managers it may take from lose those fields, and what it
 * wrote in another way counts as applied. An equal claim of a manager that had a field before would hold it when the
 * manager leaves it out. Undefined when it is so already.
 */
export function withOwnershipTransferred(
  object: KubeObject,
  manager: string,
  mayTakeFrom: (manager: string) => boolean,
): { readonly managedFields: ManagedFieldsEntry[]; readonly isOwnMerged: boolean } | undefined {
  const entries = object.metadata.managedFields ?? []
  const mine = entries.find((entry) => entry.manager === manager && entry.operation === 'Apply')
  if (!mine) return undefined
  const isOther = (entry: ManagedFieldsEntry) =>
    entry !== mine && entry.subresource === undefined && entry.apiVersion === mine.apiVersion
  const written = entries.filter((entry) => isOther(entry) && entry.manager === manager)
  const managedFields = entries.flatMap((entry): ManagedFieldsEntry[] => {
    if (written.includes(entry)) return []
    if (entry === mine)
      return [{ ...mine, fieldsV1: written.reduce((sum, one) => joined(sum, one.fieldsV1), mine.fieldsV1) }]
    if (!isOther(entry) || !mayTakeFrom(entry.manager)) return [entry]
    const fieldsV1 = without(entry.fieldsV1, mine.fieldsV1)
    return fieldsV1 === undefined ? [] : [{ ...entry, fieldsV1 }]
  })
  return jsonEqual(managedFields, entries) ? undefined : { managedFields, isOwnMerged: written.length > 0 }
}

type Fields = ManagedFieldsEntry['fieldsV1']

function joined(a: Fields, b: Fields): Fields {
  const sum: Record<string, unknown> = { ...a }
  for (const [element, below] of Object.entries(b ?? {}))
    sum[element] = joined(ownField(sum, element) as Fields, below as Fields)
  return sum
}

/** What is left of fields without the fields of another set; undefined when nothing is. */
function without(fields: Fields, others: Fields): Fields | undefined {
  const left: Record<string, unknown> = {}
  for (const [element, below] of Object.entries(fields ?? {})) {
    const other = ownField(others ?? {}, element)
    const rest =
      other === undefined
        ? below
        : isWhole(below)
          ? isWhole(other)
            ? undefined
            : below
          : without(below as Fields, other as Fields)
    if (rest !== undefined) left[element] = rest
  }
  return Object.keys(left).length === 0 ? undefined : left
}

/** A place for people: `.spec.template.spec.containers[name=web].image`. */
export function formatFieldPath(root: unknown, place: FieldPath): string {
  let text = ''
  let at = root
  for (const step of place) {
    if (typeof step === 'number') {
      const item = itemAt(at, step)
      const name = isObject(item) ? ownField(item, 'name') : undefined
      text += typeof name === 'string' ? `[name=${name}]` : `[${step}]`
      at = item
    } else {
      text += /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
      at = fieldAt(at, step)
    }
  }
  return text === '' ? '.' : text
}
