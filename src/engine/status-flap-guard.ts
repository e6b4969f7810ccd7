/**
 * What this controller said of an object and another one took back. Two hubs that both believe to lead may see different
 * things, and each is sure; without patience they would write against each other as fast as the API lets them.
 */
import { jsonEqual } from '../core/json.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'
import type { Draft } from './reconciler.ts'

/** How long what was taken back is not repeated: nobody learns much in less. */
const FLAP_WINDOW_MS = 10_000

/** The last words about each object, for as long as they matter. */
export interface StatusFlapGuard {
  /** How long to keep quiet, because all that a draft's status changes was written a moment ago and is not there any more; 0: nobody undid it. */
  waitMs(draft: Draft<KubeObject>, nowMs: number): number
  /** What a draft's status changes stands in the API. */
  say(draft: Draft<KubeObject>, nowMs: number): void
}

/** Keeps words for as long as they must not be repeated. */
export function createStatusFlapGuard(patienceMs = FLAP_WINDOW_MS): StatusFlapGuard {
  // By uid, in order of saying, so that what is old is in front.
  const said = new Map<string, { readonly before: Parts; readonly after: Parts; readonly atMs: number }>()

  function forgetBefore(ms: number): void {
    for (const [uid, { atMs }] of said) {
      if (atMs > ms) return
      said.delete(uid)
    }
  }

  return {
    waitMs: ({ seen, next }, nowMs) => {
      const last = said.get(uidOf(seen))
      if (!last || last.atMs + patienceMs <= nowMs) return 0
      const [before, after] = [partsOf(seen), partsOf(next)]
      for (const part of new Set([...before.keys(), ...after.keys()])) {
        if (!isChanged(part, before, after)) continue
        const isRepeated =
          sameButTimes(last.after.get(part), after.get(part)) && isChanged(part, last.before, last.after)
        if (!isRepeated) return 0
      }
      return last.atMs + patienceMs - nowMs
    },
    say: ({ seen, next }, nowMs) => {
      forgetBefore(nowMs - patienceMs)
      said.delete(uidOf(seen))
      said.set(uidOf(seen), { before: partsOf(seen), after: partsOf(next), atMs: nowMs })
    },
  }
}

function uidOf({ metadata: { uid, namespace = '', name } }: KubeObject): string {
  return uid ?? `${namespace}/${name}`
}

type Status = Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] }

/** A status in parts: its fields, and its conditions one by one. */
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

/** Whether two values say the same, whenever it was. */
function sameButTimes(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b || a.replace(TIMES, '') === b.replace(TIMES, '')
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [one, other] = [Object.entries(a), b as Readonly<Record<string, unknown>>]
  if (Array.isArray(a) !== Array.isArray(b) || one.length !== Object.keys(other).length) return false
  return one.every(([key, value]) => Object.hasOwn(other, key) && sameButTimes(value, other[key]))
}
