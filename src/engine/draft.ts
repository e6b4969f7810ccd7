/** Drafts: the cached object, the changed copy, and the one write that follows from the difference. */
import { compact } from '../core/compact.ts'
import { findCondition } from '../core/conditions.ts'
import { jsonClone, jsonEqual } from '../core/json.ts'
import { formatTime } from '../core/time/time.ts'
import type { Condition, KubeObject, ResourceType } from '../kinds/meta.ts'
import type { ConditionSet, Draft } from './reconciler.ts'

/** The part of an object to write: none, metadata and spec, or status. */
export type DraftWrite = 'Nothing' | 'Object' | 'Status'

/** A draft as the engine holds it. */
export interface OpenDraft<T extends KubeObject> extends Draft<T> {
  /** Condition types the reconciler set in this pass. */
  readonly touched: ReadonlySet<string>
}

interface WithStatus extends KubeObject {
  status?: { conditions?: Condition[]; observedGeneration?: number }
}

/** Opens a draft of an object; `nowMs` becomes the transition time of conditions that change in the draft. */
export function openDraft<T extends KubeObject>(seen: T, nowMs: number): OpenDraft<T> {
  const next = jsonClone(seen)
  const touched = new Set<string>()
  return { seen, next, touched, conditions: conditionsOf(next, { nowMs, touched }) }
}

/** Decides the one write of a draft. A reconciler that changes both halves has a bug, and this throws. */
export function decideWrite(draft: Draft<KubeObject>): DraftWrite {
  const { status: statusSeen, ...seen } = draft.seen as WithStatus
  const { status: statusNext, ...next } = draft.next as WithStatus
  const objectChanged = !jsonEqual(seen, next)
  const statusChanged = !jsonEqual(statusSeen, statusNext)
  if (objectChanged && statusChanged) {
    const { kind, metadata } = draft.seen
    throw new TypeError(
      `a reconcile of ${kind} ${metadata.name} changed both status and metadata or spec; write one, and the other in the next pass`,
    )
  }
  if (objectChanged) return 'Object'
  return statusChanged ? 'Status' : 'Nothing'
}

/** Throws when a reconciler returned `unchanged` and changed the draft. */
export function requireUnchanged(draft: Draft<KubeObject>): void {
  if (jsonEqual(draft.seen, draft.next)) return
  const { kind, metadata } = draft.seen
  throw new TypeError(`a reconcile of ${kind} ${metadata.name} returned unchanged and changed the draft`)
}

/** Whether a draft changes metadata or spec. */
export function changesObject(draft: Draft<KubeObject>): boolean {
  const { status: _seen, ...seen } = draft.seen as WithStatus
  const { status: _next, ...next } = draft.next as WithStatus
  return !jsonEqual(seen, next)
}

/** Sets `status.observedGeneration`, for kinds whose status has the field. */
export function noteGeneration(draft: Draft<KubeObject>, type: ResourceType<KubeObject>): void {
  const next = draft.next as WithStatus
  if (!hasObservedGeneration(type) || draft.seen.metadata.generation === undefined) return
  next.status ??= {}
  next.status.observedGeneration = draft.seen.metadata.generation
}

// Kinds have a schema; a bare ResourceType does not, and an unknown field would be pruned and written in every pass.
function hasObservedGeneration(type: ResourceType<KubeObject> & { readonly schema?: SchemaLike }): boolean {
  return type.schema?.properties?.['status']?.properties?.['observedGeneration'] !== undefined
}

interface SchemaLike {
  readonly properties?: Readonly<Record<string, SchemaLike>>
}

interface ConditionOptions {
  readonly nowMs: number
  readonly touched: Set<string>
}

function conditionsOf(object: WithStatus, { nowMs, touched }: ConditionOptions): ConditionSet {
  return {
    get: (type) => findCondition(object.status?.conditions, type),
    set: (type, status, reason, message) => {
      touched.add(type)
      object.status ??= {}
      const conditions = (object.status.conditions ??= [])
      const index = conditions.findIndex((condition) => condition.type === type)
      const before = conditions[index]
      const condition: Condition = compact({
        type,
        status,
        reason,
        message,
        lastTransitionTime: before?.status === status ? before.lastTransitionTime : formatTime(nowMs),
        observedGeneration: object.metadata.generation,
      })
      if (before) conditions[index] = condition
      else conditions.push(condition)
    },
    remove: (type) => {
      const conditions = object.status?.conditions
      const index = conditions?.findIndex((condition) => condition.type === type) ?? -1
      if (index >= 0) conditions?.splice(index, 1)
    },
  }
}
