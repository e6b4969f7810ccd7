/** For how long a cluster was silent while somebody could have heard it (I-15). */
import type { Process } from '../../sim/kernel/process.ts'

// One that stood still for longer gives everybody their whole time again: agents have to find their way back.
const BREAK_MS = 30_000

// Its life is looked at once a second, and so does it itself: a pause is known to that at either end.
const UNSURE_MS = 2_000

/** What a process could hear of somebody. */
export interface HearingInterval {
  /** Since when without a break. */
  readonly sinceMs: number
  /** When it began, or went on after it stood still. */
  readonly backMs: number
  /** For how long it stood still since somebody was heard. */
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
  /** For how long somebody may not know of an end. */
  readonly lateMs: number
}

/**
 * For how long a cluster was silent while it could be heard. A hub that was away heard nothing and vouches for no silence from before, and
 * a moment in which it stood still is nobody's silence; but while it is away, and until everybody knows of its return, the gateway of
 * another hub vouches for its own watching time.
 */
export function observableSilence(facts: SilenceFacts): number {
  const { nowMs, heardMs, endedMs, hub, otherSinceMs, lateMs } = facts
  if (nowMs - endedMs <= lateMs) return Number.POSITIVE_INFINITY
  if (otherSinceMs !== undefined && nowMs - hub.backMs <= lateMs)
    return nowMs - Math.max(heardMs, Math.min(hub.sinceMs, otherSinceMs))
  return nowMs - Math.max(heardMs, hub.sinceMs) - hub.deafMs
}
