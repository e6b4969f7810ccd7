/** Shares answers of a server between Sources that ask for the same, while the answers are fresh. */
import type { Clock } from '../core/time/clock.ts'

/** Answers by key. */
export interface AnswerCache<T> {
  /** The answer to a question, at most `maxAgeMs` old. Answers that depend on the reader need a key for each reader. */
  answer(key: string, maxAgeMs: number, ask: () => Promise<T>): Promise<T>
}

interface Answer<T> {
  readonly at: number
  readonly value: Promise<T>
  weight: number
}

/** The size of a cache. */
interface CacheOptions<T> {
  /** The total weight of the answers. */
  readonly most: number
  /** The weight of an answer. Defaults to 1. */
  weigh?(value: T): number
}

/** Creates a cache. The oldest answers are dropped when the cache is full. */
export function createAnswerCache<T>(
  clock: Pick<Clock, 'monotonicMs'>,
  { most, weigh = () => 1 }: CacheOptions<T>,
): AnswerCache<T> {
  const answers = new Map<string, Answer<T>>()
  let total = 0

  function drop(key: string): void {
    total -= answers.get(key)?.weight ?? 0
    answers.delete(key)
  }

  function dropOldest(): void {
    for (const key of answers.keys()) {
      if (total <= most) return
      drop(key)
    }
  }

  /** Weighs an answer. A failure is not shared with further callers. */
  async function settle(key: string, answer: Answer<T>): Promise<void> {
    try {
      const weight = weigh(await answer.value)
      if (answers.get(key) !== answer) return
      total += weight - answer.weight
      answer.weight = weight
      dropOldest()
    } catch {
      if (answers.get(key) === answer) drop(key)
    }
  }

  return {
    answer: (key, maxAgeMs, ask) => {
      const now = clock.monotonicMs()
      const known = answers.get(key)
      if (known && now - known.at <= maxAgeMs) return known.value
      const answer: Answer<T> = { at: now, value: ask(), weight: 1 }
      drop(key)
      answers.set(key, answer)
      total += 1
      dropOldest()
      void settle(key, answer)
      return answer.value
    },
  }
}
