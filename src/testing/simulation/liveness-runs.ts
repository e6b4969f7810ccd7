/** The duration of a cluster's silence while a hub could have heard it (I-15). */
import type { Process } from '../../sim/kernel/process.ts'

// A hub that stood still for longer gives all clusters their whole tolerance again: agents have to reconnect.
const BREAK_MS = 30_000

// Its life is looked at once a second, and so does it itself: a pause is known to that at either end.
const UNSURE_MS = 2_000

/** The time in which a process could hear a cluster. */
export interface HearingInterval {
  /** Since when without a break. */
  readonly sinceMs: number
  /** When it began, or went on after it stood still. */
  readonly backMs: number
  /** Duration that the process stood still since the cluster was heard. */
  readonly deafMs: number
}

/** Follows a process that hears agents, or could. */
export interface Listener {
  look(process: Pick<Process, 'incarnation' | 'paused'>, nowMs: number): void
  heardFrom(heardMs: number): HearingInterval
}

/** Starts to follow one. */
export function createListener(): Listener {
  let life = 0
  let sinceMs = 0
  let backMs = 0
  let pausedMs: number | undefined
  let pauses: { readonly fromMs: number; readonly toMs: number }[] = []

  function beginAnew(nowMs: number): void {
    sinceMs = nowMs
    pauses = []
  }

  return {
    look: (process, nowMs) => {
      const isOther = process.incarnation() !== life
      if (!isOther && !process.paused() && pausedMs === undefined) return
      backMs = nowMs
      if (isOther) {
        life = process.incarnation()
        pausedMs = undefined
        beginAnew(nowMs)
      }
      if (process.paused()) {
        pausedMs ??= nowMs
        if (nowMs - pausedMs > BREAK_MS) beginAnew(nowMs)
      } else if (pausedMs !== undefined) {
        if (sinceMs <= pausedMs) pauses.push({ fromMs: pausedMs, toMs: nowMs })
        pausedMs = undefined
      }
    },
    heardFrom: (heardMs) => ({
      sinceMs,
      backMs,
      deafMs: pauses
        .filter(({ toMs }) => toMs > heardMs)
        .reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - fromMs - UNSURE_MS), 0),
    }),
  }
}

/** When a cluster was heard, and by whom it could have been; times on the monotonic clock. */
export interface SilenceFacts {
  readonly nowMs: number
  readonly heardMs: number
  /** When the last silence that was too long came to an end. */
  readonly endedMs: number
  readonly hub: HearingInterval
  /** Since when the gateway of another hub hears without a break. */
  readonly otherSinceMs?: number
  /** Delay after which the end of a silence is known. */
  readonly lateMs: number
}

/**
 * The duration of a cluster's silence while it could be heard. A hub that was away heard nothing and proves no earlier
 * silence, and the time in which it stood still is not counted. While the hub is away, and until its return is known,
 * the gateway of another hub proves silence for its own listening time.
 */
export function observableSilence(facts: SilenceFacts): number {
  const { nowMs, heardMs, endedMs, hub, otherSinceMs, lateMs } = facts
  if (nowMs - endedMs <= lateMs) return Number.POSITIVE_INFINITY
  if (otherSinceMs !== undefined && nowMs - hub.backMs <= lateMs)
    return nowMs - Math.max(heardMs, Math.min(hub.sinceMs, otherSinceMs))
  return nowMs - Math.max(heardMs, hub.sinceMs) - hub.deafMs
}
