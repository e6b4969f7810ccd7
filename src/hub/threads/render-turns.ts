/**
 * The order of renderings. Work waits under a turn key, which names the tenant. The key that used the least time
 * recently is next, so that a tenant with much or slow content delays the other tenants by one rendering at most.
 */
import type { RenderRequest } from '../../controllers/controllers.ts'

/** Work that waits for its turn. */
export interface Turns<T> {
  add(key: string, work: T): void
  /** Takes the next work, or undefined when none waits. */
  take(): { readonly key: string; readonly work: T } | undefined
  /** Removes work that is no longer wanted. False when it does not wait. */
  remove(key: string, work: T): boolean
  /** Counts time that work of a key used. */
  noteUse(key: string, ms: number): void
}

/** Used time counts half after this time. */
const HALF_LIFE_MS = 60_000
/** A key that used less counts as one that used nothing. */
const FORGET_BELOW_MS = 1

export function createTurns<T>(nowMs: () => number): Turns<T> {
  const waiting = new Map<string, T[]>()
  const used = new Map<string, { readonly ms: number; readonly at: number }>()

  function recentUse(key: string): number {
    const use = used.get(key)
    if (!use) return 0
    const ms = use.ms * 0.5 ** ((nowMs() - use.at) / HALF_LIFE_MS)
    if (ms >= FORGET_BELOW_MS) return ms
    used.delete(key)
    return 0
  }

  return {
    add(key, work) {
      const works = waiting.get(key)
      if (works) works.push(work)
      else waiting.set(key, [work])
    },
    take() {
      let next: { key: string; works: T[]; use: number } | undefined
      for (const [key, works] of waiting) {
        const use = recentUse(key)
        if (!next || use < next.use) next = { key, works, use }
      }
      if (!next) return undefined
      const { key, works } = next
      const work = works.shift()!
      waiting.delete(key)
      if (works.length > 0) waiting.set(key, works) // to the back: among equal keys the next key is next
      return { key, work }
    },
    remove(key, work) {
      const works = waiting.get(key) ?? []
      const at = works.indexOf(work)
      if (at < 0) return false
      works.splice(at, 1)
      if (works.length === 0) waiting.delete(key)
      return true
    },
    noteUse(key, ms) {
      used.set(key, { ms: recentUse(key) + ms, at: nowMs() })
      for (const other of used.keys()) recentUse(other) // forgets keys that rest
    },
  }
}

/**
 * The turn key of a rendering: its tenant, or the namespace of its bundle. Bundles of the same key delay each other,
 * bundles of other keys do not delay them.
 */
export function turnKeyOf({ tenant, recipe: { bundle } }: RenderRequest): string {
  return tenant ?? bundle.slice(0, bundle.indexOf('/'))
}
