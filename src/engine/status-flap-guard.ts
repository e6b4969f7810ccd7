/**
 * Keeps two hubs that both believe to lead from writing one status in turns. Each hub decides on its own view, and
 * without a pause both would overwrite each other as fast as the API allows.
 */
import { jsonEqual } from '../core/json.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'
import type { Draft } from './reconciler.ts'

/** How long a status that another process overwrote is not written again. */
const FLAP_WINDOW_MS = 10_000

/** Remembers the last status write of each object for as long as it matters. */
export interface StatusFlapGuard {
  /**
   * How long not to write, because this process wrote every change of the draft a moment ago and another process
   * overwrote it; 0: write.
   */
  waitMs(draft: Draft<KubeObject>, nowMs: number): number
  /** The API has stored the draft's status. */
  noteWrite(draft: Draft<KubeObject>, nowMs: number): void
}

/** Creates a guard that remembers each write for `windowMs`. */
export function createStatusFlapGuard(windowMs = FLAP_WINDOW_MS): StatusFlapGuard {
  // By uid, oldest write first.
  const writes = new Map<string, { readonly before: Parts; readonly after: Parts; readonly atMs: number }>()

  function forgetBefore(ms: number): void {
    for (const [uid, { atMs }] of writes) {
      if (atMs > ms) return
      writes.delete(uid)
    }
  }

  return {
    waitMs: ({ seen, next }, nowMs) => {
      const last = writes.get(uidOf(seen))
      if (!last || last.atMs + windowMs <= nowMs) return 0
      const [before, after] = [partsOf(seen), partsOf(next)]
      for (const part of new Set([...before.keys(), ...after.keys()])) {
        if (!isChanged(part, before, after)) continue
        const isRepeated =
          equalExceptTimes(last.after.get(part), after.get(part)) && isChanged(part, last.before, last.after)
        if (!isRepeated) return 0
      }
      return last.atMs + windowMs - nowMs
    },
    noteWrite: ({ seen, next }, nowMs) => {
      forgetBefore(nowMs - windowMs)
      writes.delete(uidOf(seen))
      writes.set(uidOf(seen), { before: partsOf(seen), after: partsOf(next), atMs: nowMs })
    },
  }
}

function uidOf({ metadata: { uid, namespace = '', name } }: KubeObject): string {
  return uid ?? `${namespace}/${name}`
}

type Status = Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] }

/** A status in parts: each field, and each condition on its own. */
type Parts = ReadonlyMap<string, unknown>

function isChanged(part: string, before: Parts, after: Parts): boolean {
  return !jsonEqual(before.get(part), after.get(part))
}

function partsOf(object: KubeObject & { readonly status?: Status }): Parts {
  const { conditions = [], ...fields } = object.status ?? {}
  return new Map<string, unknown>([
    ...Object.entries(fields),
    ...conditions.map((condition) => [`conditions/${condition.type}`, condition] as const),
  ])
}

const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Whether two values are equal when the timestamps in their strings are ignored. */
function equalExceptTimes(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b || a.replace(TIMES, '') === b.replace(TIMES, '')
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [entries, other] = [Object.entries(a), b as Readonly<Record<string, unknown>>]
  if (Array.isArray(a) !== Array.isArray(b) || entries.length !== Object.keys(other).length) return false
  return entries.every(([key, value]) => Object.hasOwn(other, key) && equalExceptTimes(value, other[key]))
}
