// Tested by src/hub/threads/supervisor.test.ts
/** A record of each part of a hub: whether it runs, how often and why it ended, and when it may start again. */
import { isOutOfMemory } from '../../core/async/work-guard.ts'
import { toError } from '../../core/errors.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import { formatTime } from '../../core/time/time.ts'
import type { HubPart, PartHealth, RestartCause } from '../../plan/fleet/hub-health.ts'
import type { HubPorts } from '../ports.ts'

/** The end of a part. */
export interface PartEnd {
  readonly name: HubPart
  readonly cause: RestartCause
  readonly error: Error
}

/** A part that ran this long is stable: its next end begins with a short pause again. */
const STABLE_MS = 60_000
const UNSTABLE_ENDS = 3
const PAUSE = { baseMs: 500, maxMs: 60_000, jitter: 0.3 }

interface PartRecord {
  isRunning: boolean
  /** Ends in a row, each before the part was stable. */
  ends: number
  restarts: number
  startedAtMs: number
  last: PartHealth['last']
}

export function createPartRecords({ clock, ids, log }: HubPorts) {
  const records = new Map<HubPart, PartRecord>()
  const changeListeners = new Set<() => void>()
  const endListeners = new Set<(end: PartEnd) => void>()
  const past: PartEnd[] = []

  function recordOf(name: HubPart): PartRecord {
    const known = records.get(name)
    if (known) return known
    const startedAtMs = clock.monotonicMs()
    const record: PartRecord = { isRunning: true, ends: 0, restarts: 0, startedAtMs, last: undefined }
    records.set(name, record)
    return record
  }

  const isStable = ({ startedAtMs }: PartRecord) => clock.monotonicMs() - startedAtMs >= STABLE_MS

  const changed = (): void => {
    for (const listener of changeListeners) listener()
  }

  function countEnd(end: PartEnd): PartRecord {
    const { name, cause, error } = end
    const record = recordOf(name)
    record.ends = record.isRunning && isStable(record) ? 1 : record.ends + 1
    record.restarts += 1
    record.last = { cause, message: error.message, at: formatTime(clock.now()) }
    log.error({ part: name, cause, restarts: record.restarts, err: error }, 'a part of the hub ended')
    past.push(end)
    for (const listener of endListeners) listener(end)
    return record
  }

  /** Announces that a part is no longer unstable, unless it ended before. */
  async function announceStable(record: PartRecord, life: AbortSignal): Promise<void> {
    const { startedAtMs } = record
    await clock.sleep(STABLE_MS, life)
    if (record.isRunning && record.startedAtMs === startedAtMs) changed()
  }

  return {
    /** The part runs now. */
    noteStart(name: HubPart, life: AbortSignal): void {
      const record = recordOf(name)
      record.isRunning = true
      record.startedAtMs = clock.monotonicMs()
      changed()
      if (record.restarts > 0)
        log.info({ part: name, restarts: record.restarts }, 'a part of the hub was started again')
      if (record.ends >= UNSTABLE_ENDS) announceStable(record, life).catch(() => {}) // the hub closes
    },
    /** The part ended; resolves when it may start again. */
    async waitForRestart(end: PartEnd, life: AbortSignal): Promise<void> {
      const record = countEnd(end)
      record.isRunning = false
      changed()
      await clock.sleep(backoffMs(record.ends - 1, ids.fraction(), PAUSE), life)
    },
    /** A thread ended that its user starts again; each end belongs to the work of a tenant. */
    noteEnd(end: PartEnd): void {
      const record = countEnd(end)
      record.ends = 0
      changed()
    },
    health: (): PartHealth[] =>
      [...records].map(([name, record]) => ({
        name,
        state: !record.isRunning ? 'Down' : record.ends >= UNSTABLE_ENDS && !isStable(record) ? 'Unstable' : 'Running',
        restarts: record.restarts,
        ...(record.last && { last: record.last }),
      })),
    /** Calls back after each change of the health. */
    onChange: (listener: () => void): void => void changeListeners.add(listener),
    /** Calls back with each end of a part, and with the ends before. */
    onEnd(listener: (end: PartEnd) => void): void {
      for (const end of past) listener(end)
      endListeners.add(listener)
    },
    /** Runs a loop until the signal is aborted; a loop that fails begins again. Never rejects. */
    async keepLoop(name: HubPart, loop: (signal: AbortSignal) => Promise<void>, life: AbortSignal): Promise<void> {
      while (!life.aborted) {
        this.noteStart(name, life)
        try {
          return await loop(life)
        } catch (caught) {
          if (life.aborted) return
          await this.waitForRestart({ name, cause: 'error', error: toError(caught) }, life).catch(() => {}) // the hub closes
        }
      }
    },
  }
}

export type PartRecords = ReturnType<typeof createPartRecords>

/** Why a thread died, by the error of its `death`. */
export function causeOfDeath(error: Error): RestartCause {
  if (isOutOfMemory(error)) return 'memory'
  return error.cause === undefined ? 'exit' : 'error'
}
