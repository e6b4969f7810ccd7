/** Shares answers of `ls-remote` between Sources of the same repository while the answers are fresh. */
import type { Clock } from '../../core/time/clock.ts'

/** Shared answers of `ls-remote`. */
export interface LsRemoteCache {
  /** The refs of an address as this credential sees them, at most `maxAgeMs` old. */
  refs(key: string, maxAgeMs: number, ask: () => Promise<Map<string, string>>): Promise<Map<string, string>>
}

interface Answer {
  readonly at: number
  readonly refs: Promise<Map<string, string>>
}

const MAX_ANSWERS = 1000

/** Creates the cache. The oldest answers are dropped when the cache is full. */
export function createLsRemoteCache(clock: Pick<Clock, 'monotonicMs'>): LsRemoteCache {
  const answers = new Map<string, Answer>()
  return {
    refs: (key, maxAgeMs, ask) => {
      const now = clock.monotonicMs()
      const known = answers.get(key)
      if (known && now - known.at <= maxAgeMs) return known.refs
      const refs = ask()
      const answer = { at: now, refs }
      answers.delete(key)
      answers.set(key, answer)
      if (answers.size > MAX_ANSWERS) answers.delete(answers.keys().next().value!)
      // A failure is not shared with further callers.
      refs.catch(() => {
        if (answers.get(key) === answer) answers.delete(key)
      })
      return refs
    },
  }
}
