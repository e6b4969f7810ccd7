/**
 * Writes one stream of the journal. Records wait in a bounded buffer and become a segment after a minute, or sooner
 * when there are many. The segment and its index are stored before the head names them: a crash loses at most the
 * records that waited, and the next segment says that its writer did not end cleanly. A record that finds the buffer
 * full is not taken; it is counted, and the next segment says how many there were and when.
 */
import { deadline, untilAborted } from '../core/async/deadline.ts'
import { createWakeup } from '../core/async/wakeup.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import { backoffMs } from '../core/time/backoff.ts'
import type { Clock } from '../core/time/clock.ts'
import { streamName } from './head-lease.ts'
import { createRecordBuffer } from './record-buffer.ts'
import { createSegmentStore } from './segment-store.ts'
import type { SegmentStorePorts } from './segment-store.ts'

export interface JournalWriterOptions extends SegmentStorePorts {
  readonly clock: Clock
  readonly ids: Pick<Ids, 'fraction'>
  /** The longest time that a record waits. Defaults to one minute. */
  readonly flushMs?: number
  /** Characters of records from which a segment is written at once. Defaults to 1 Mi. */
  readonly segmentChars?: number
  /** Characters of records that wait at most. Defaults to 32 Mi. */
  readonly bufferChars?: number
}

export interface JournalStats {
  readonly stream: string
  /** Records that wait, and the age of the oldest. */
  readonly waiting: number
  readonly lagMs: number
  /** Since this writer started. */
  readonly written: number
  readonly lost: number
}

const RETRY = { baseMs: 1_000, maxMs: 30_000, jitter: 0.5 }
const IDLE_MS = 3_600_000
const CLOSE_MS = 5_000

export function createJournalWriter(options: JournalWriterOptions) {
  const { clock, ids, stream } = options
  const { flushMs = 60_000, segmentChars = 1024 * 1024, bufferChars = 32 * 1024 * 1024 } = options
  const log = options.log.child({ journal: streamName(stream) })
  const wakeup = createWakeup(clock)
  const buffer = createRecordBuffer(clock, bufferChars)
  const store = createSegmentStore({ ...options, log })
  let working: Promise<unknown> | undefined

  function append(record: JsonObject): number | undefined {
    const before = buffer.chars()
    const ticket = buffer.add(JSON.stringify(record))
    if (ticket === undefined) {
      if (buffer.lostNow() === 1)
        log.error({ waiting: buffer.waiting() }, 'the journal cannot take records: its buffer is full')
    } else if (before === 0 || (before < segmentChars && buffer.chars() >= segmentChars)) {
      wakeup.notify()
    }
    return ticket
  }

  async function flush(): Promise<void> {
    const recovered = await store.recover()
    if (recovered) buffer.settle(recovered)
    const batch = buffer.batch(segmentChars)
    if (!batch) return
    await store.append(batch)
    buffer.settle(batch)
  }

  /** The time until the next flush; 0 if one is due. */
  function dueMs(): number {
    if (buffer.isEmpty()) return IDLE_MS
    if (buffer.waiting() === 0 || buffer.chars() >= segmentChars) return 0
    return Math.max(0, flushMs - buffer.lagMs())
  }

  /** Says on the head why records wait, once for each problem; the API may be what does not work. */
  function createProblem() {
    const since = clock.now()
    let isTold = false
    return async (caught: unknown): Promise<void> => {
      if (isTold || clock.now() - since < flushMs) return
      const message = toError(caught).message.slice(0, 1024)
      await store.tellProblem({ since, message, waiting: buffer.waiting() })
      isTold = true
    }
  }

  /** Waits for work no longer than until the signal is aborted; closing waits for the rest. */
  async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
    working = work
    await untilAborted(work, signal)
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    let problem: ReturnType<typeof createProblem> | undefined
    while (!signal.aborted) {
      try {
        await unlessAborted(store.open(), signal)
        const ms = dueMs()
        if (ms > 0) {
          await wakeup.wait(ms, signal)
          continue
        }
        await unlessAborted(flush(), signal)
        failures = 0
        problem = undefined
      } catch (caught) {
        if (signal.aborted) break
        store.reset()
        failures += 1
        problem ??= createProblem()
        const message = 'records of the journal could not be stored; they wait'
        if (!isApiError(caught, 'Conflict')) log.warn({ err: toError(caught), waiting: buffer.waiting() }, message)
        await untilAborted(problem(caught), signal).catch(() => {}) // the API cannot be reached: the lag is in the metrics
        await clock.sleep(backoffMs(failures, ids.fraction(), RETRY), signal).catch(() => {}) // aborted: the loop ends
      }
    }
    await close()
  }

  /** Stores what waits and closes the stream; what cannot be stored in time is lost, and the log says so. */
  async function close(): Promise<void> {
    const finish = async (): Promise<void> => {
      await working?.catch(() => {}) // tried again below
      while (!buffer.isEmpty()) await flush()
      await store.close()
    }
    try {
      await deadline({ clock, ms: CLOSE_MS, what: 'closing the journal' }, (signal) => untilAborted(finish(), signal))
    } catch (caught) {
      log.error({ err: toError(caught), lost: buffer.waiting() }, 'the journal could not be closed')
    }
  }

  return {
    /** Takes a record and gives its ticket; undefined if the buffer is full and the record is lost. */
    append,
    /** Whether the record of this ticket is durable. */
    isDurable: buffer.isDurable,
    /** Whether the buffer is at most half full. */
    hasRoom: (): boolean => buffer.chars() <= bufferChars / 2,
    /** Writes until the signal is aborted, then closes the stream. Never rejects. */
    run,
    stats: (): JournalStats => ({
      stream: streamName(stream),
      waiting: buffer.waiting(),
      lagMs: buffer.lagMs(),
      written: buffer.durable(),
      lost: buffer.lostTotal(),
    }),
  }
}

export type JournalWriter = ReturnType<typeof createJournalWriter>
