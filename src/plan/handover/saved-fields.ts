/**
 * Changes of objects of another system that can be taken back: an annotation of the object keeps the former values, so
 * that a change and its way back are one write, and a restart of the agent forgets neither.
 */
import { isObject, jsonEqual } from '../../core/json.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** Annotation with the former values of the fields that a handover changed. */
export const HANDOVER_ANNOTATION = 'flotilla.dev/handover'

/** A field and its new value; null removes it. */
export interface FieldChange {
  readonly path: readonly string[]
  readonly value: unknown
}

const MAX_SAVED_CHARS = 64 * 1024

/**
 * The fields that handovers change. Users of a namespace may write the annotation, and the agent may write what they
 * may not, for example the rules of a Role: no other field is restored.
 */
const RESTORABLE: ReadonlySet<string> = new Set(
  [
    ['spec', 'replicas'],
    ['spec', 'suspend'],
    ['metadata', 'finalizers'],
    ['metadata', 'ownerReferences'],
    ['metadata', 'labels', 'owner'],
    ['metadata', 'annotations', 'argocd.argoproj.io/skip-reconcile'],
  ].map(pathKey),
)

/** The merge patch that changes fields and saves their former values; undefined when the object is so already. */
export function savePatch(object: UnknownObject, changes: readonly FieldChange[]): object | undefined {
  const open = changes.filter(({ path, value }) => !jsonEqual(valueAt(object, path) ?? null, value ?? null))
  if (open.length === 0) return undefined
  const saved = savedFields(object)
  const known = new Set(saved.map(({ path }) => pathKey(path)))
  const fresh = open
    .filter(({ path }) => !known.has(pathKey(path)))
    .map(({ path }) => ({ path, value: valueAt(object, path) ?? null }))
  const annotation = { path: ANNOTATION_PATH, value: JSON.stringify([...saved, ...fresh]) }
  return mergePatch(object, [...open, annotation])
}

/**
 * The merge patch that restores the former values; undefined when nothing is saved. Of former owners, only those in
 * `owners`, by UID, count: Kubernetes deletes an object whose owners are gone.
 */
export function restorePatch(object: UnknownObject, owners: ReadonlySet<string> = new Set()): object | undefined {
  if (valueAt(object, ANNOTATION_PATH) === undefined) return undefined
  const former = savedFields(object).map(({ path, value }) => {
    const counts = pathKey(path) === OWNERS ? ownersAmong(value, owners) : value
    return { path, value: restored(counts, valueAt(object, path)) }
  })
  return mergePatch(object, [...former, { path: ANNOTATION_PATH, value: null }])
}

/** The merge patch that forgets the former values; undefined when nothing is saved. */
export function forgetPatch(object: UnknownObject): object | undefined {
  if (valueAt(object, ANNOTATION_PATH) === undefined) return undefined
  return mergePatch(object, [{ path: ANNOTATION_PATH, value: null }])
}

/** True when a handover has changed the object. */
export function isChangedByHandover(object: UnknownObject): boolean {
  return valueAt(object, ANNOTATION_PATH) !== undefined
}

const ANNOTATION_PATH = ['metadata', 'annotations', HANDOVER_ANNOTATION]

function savedFields(object: UnknownObject): FieldChange[] {
  const text = valueAt(object, ANNOTATION_PATH)
  if (typeof text !== 'string' || text.length > MAX_SAVED_CHARS) return []
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return []
  }
  return Array.isArray(read) ? read.filter(isFieldChange) : []
}

function isFieldChange(value: unknown): value is FieldChange {
  if (!isObject(value)) return false
  const path = ownField(value, 'path')
  return Array.isArray(path) && path.every((step) => typeof step === 'string') && RESTORABLE.has(pathKey(path))
}

function pathKey(path: readonly string[]): string {
  return path.join('\n')
}

const OWNERS = pathKey(['metadata', 'ownerReferences'])

function ownersAmong(former: unknown, owners: ReadonlySet<string>): unknown[] {
  const isThere = (reference: unknown) => {
    const uid = isObject(reference) ? ownField(reference, 'uid') : undefined
    return typeof uid === 'string' && owners.has(uid)
  }
  return Array.isArray(former) ? former.filter(isThere) : []
}

/** A list keeps what it got meanwhile, for example the finalizer of another controller. */
function restored(former: unknown, now: unknown): unknown {
  if (!Array.isArray(former) || !Array.isArray(now)) return former
  return [...former, ...now.filter((item) => !former.some((known) => jsonEqual(known, item)))]
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, step) => (isObject(at) ? ownField(at, step) : undefined), object)
}

/** Fails with a Conflict when the object changed since it was read. */
function mergePatch({ metadata }: UnknownObject, changes: readonly FieldChange[]): object {
  const body: Record<string, unknown> = {}
  for (const { path, value } of [
    ...changes,
    { path: ['metadata', 'resourceVersion'], value: metadata.resourceVersion },
  ]) {
    let at = body
    for (const step of path.slice(0, -1)) {
      const next = ownField(at, step)
      at = isObject(next) ? next : define(at, step, {})
    }
    define(at, path.at(-1)!, value ?? null)
  }
  return body
}

/** An own member, also for a name that an assignment would take for the prototype. */
function define<T>(target: Record<string, unknown>, name: string, value: T): T {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  return value
}
