import { createHash } from 'node:crypto'
import type { Clock } from '../../core/time/clock.ts'

/** What happened, in order, and a running SHA-256 of it: equal hashes, equal runs. */
export interface History {
  /** Records an event; `bytes` enter the hash but not the line. */
  record(what: string, bytes?: Uint8Array): void
  /** Lower-case hex. */
  hash(): string
  count(): number
  /** The newest lines, each with its simulated time. */
  tail(lines?: number): readonly string[]
}

/** Makes a history that keeps the newest lines. */
export function createHistory(clock: Pick<Clock, 'monotonicMs'>, keep: number = 5_000): History {
  const running = createHash('sha256')
  const lines: string[] = []
  let count = 0
  return {
    record: (what, bytes) => {
      const line = `${(clock.monotonicMs() / 1000).toFixed(3)} ${what}`
      running.update(`${line}\n`)
      if (bytes) running.update(bytes)
      count += 1
      lines.push(line)
      if (lines.length >= 2 * keep) lines.splice(0, lines.length - keep)
    },
    hash: () => running.copy().digest('hex'),
    count: () => count,
    tail: (wanted = 50) => lines.slice(-wanted),
  }
}
