// Tested by src/journal/journal-writer.test.ts
/** Records that wait for their segment, in a bounded buffer. Records that find it full are counted. */
import type { Clock } from '../core/time/clock.ts'
import type { SegmentHeader } from './segment.ts'

interface Waiting {
  readonly line: string
  readonly at: number
  readonly sinceMs: number
}

/** The oldest records, for a segment, and the losses before it. */
export interface Batch {
  readonly lines: readonly string[]
  /** Times of the first and last record. */
  readonly from: number
  readonly to: number
  readonly lost: SegmentHeader['lost']
}

export function createRecordBuffer(clock: Pick<Clock, 'now' | 'monotonicMs'>, maxChars: number) {
  const waiting: Waiting[] = []
  let chars = 0
  let taken = 0
  let durable = 0
  let lost: SegmentHeader['lost']
  let lostTotal = 0

  return {
    /** Takes a record and gives its ticket; undefined if the buffer is full and the record is lost. */
    add(line: string): number | undefined {
      const at = clock.now()
      // A record that is larger than the whole buffer is taken into an empty one.
      if (chars + line.length > maxChars && waiting.length > 0) {
        lost = { records: (lost?.records ?? 0) + 1, from: lost?.from ?? at, to: Math.max(lost?.to ?? at, at) }
        lostTotal += 1
        return undefined
      }
      waiting.push({ line, at, sinceMs: clock.monotonicMs() })
      chars += line.length
      taken += 1
      return taken
    },
    /** At least one record, or the losses alone; undefined if there is neither. */
    batch(batchChars: number): Batch | undefined {
      const records = waiting.slice(0, countFor(waiting, batchChars))
      if (records.length === 0 && !lost) return undefined
      const now = clock.now()
      return {
        lines: records.map(({ line }) => line),
        from: records[0]?.at ?? now,
        to: records.at(-1)?.at ?? now,
        lost,
      }
    },
    /** A batch is durable. */
    settle(batch: Batch): void {
      for (const { line } of waiting.splice(0, batch.lines.length)) chars -= line.length
      durable += batch.lines.length
      if (!batch.lost || !lost) return
      const records = lost.records - batch.lost.records
      lost = records === 0 ? undefined : { records, from: batch.lost.to, to: lost.to }
    },
    isDurable: (ticket: number): boolean => ticket <= durable,
    isEmpty: (): boolean => waiting.length === 0 && !lost,
    waiting: (): number => waiting.length,
    chars: (): number => chars,
    /** Age of the oldest record; 0 if none waits. */
    lagMs: (): number => (waiting.length === 0 ? 0 : clock.monotonicMs() - waiting[0]!.sinceMs),
    durable: (): number => durable,
    lostTotal: (): number => lostTotal,
    /** Records that were lost since the last batch that became durable. */
    lostNow: (): number => lost?.records ?? 0,
  }
}

/** Number of records, from the oldest, that make one segment: at least one. */
function countFor(waiting: readonly Waiting[], maxChars: number): number {
  let chars = 0
  for (const [index, { line }] of waiting.entries()) {
    chars += line.length
    if (index > 0 && chars > maxChars) return index
  }
  return waiting.length
}
