/**
 * Runs the controllers of all groups that this process leads as one, so that they share their caches. A change of what
 * it leads, and a pause, end the running controllers before others start.
 *
 *     lead controllers ──▶ run [controllers]
 *     lead renderers   ──▶ end it, run [controllers, renderers]
 *     pause            ──▶ end it, run nothing; the process still leads
 */
import { untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { CONTROLLER_GROUPS } from '../../controllers/controllers.ts'
import type { ControllerGroup } from '../../controllers/controllers.ts'

export interface ControllerGroups {
  /**
   * Leads a group until the term ends. Resolves when no controller of the group runs any more. Rejects when the
   * controllers fail.
   */
  lead(group: ControllerGroup, term: AbortSignal): Promise<void>
  /** Ends or starts all controllers. Resolves when they have ended, or have been started. */
  setPaused(isPaused: boolean): Promise<void>
  /** The groups whose controllers run now. */
  running(): readonly ControllerGroup[]
}

interface Run {
  readonly groups: readonly ControllerGroup[]
  readonly stop: AbortController
  /** Never rejects. */
  readonly ended: Promise<void>
}

/** `run` does the work of these groups until the signal is aborted, then ends quickly. */
export function createControllerGroups(
  run: (groups: readonly ControllerGroup[], signal: AbortSignal) => Promise<void>,
  { isPaused: pausedAtFirst = false }: { readonly isPaused?: boolean } = {},
): ControllerGroups {
  /** The groups that this process leads, and how to say that their controllers failed. */
  const led = new Map<ControllerGroup, (error: Error) => void>()
  let isPaused = pausedAtFirst
  let current: Run | undefined
  let settling: Promise<void> = Promise.resolve()

  const settle = (): Promise<void> => (settling = settling.then(settleOnce))

  async function settleOnce(): Promise<void> {
    const wanted = isPaused ? [] : CONTROLLER_GROUPS.filter((group) => led.has(group))
    if (wanted.join(' ') === (current?.groups ?? []).join(' ')) return
    current?.stop.abort(new Error('the groups of controllers that this process runs have changed'))
    await current?.ended
    current = wanted.length === 0 ? undefined : begin(wanted)
  }

  function begin(groups: readonly ControllerGroup[]): Run {
    const stop = new AbortController()
    const fail = (caught: unknown): void => {
      if (stop.signal.aborted) return
      current = undefined
      for (const group of groups) led.get(group)?.(toError(caught))
    }
    const ended = run(groups, stop.signal).then(() => fail(new Error('the controllers ended')), fail)
    return { groups, stop, ended }
  }

  return {
    async lead(group, term) {
      const failed = Promise.withResolvers<never>()
      led.set(group, failed.reject)
      void settle()
      try {
        await untilAborted(failed.promise, term).catch((caught: unknown) => {
          if (!term.aborted) throw caught
        })
      } finally {
        led.delete(group)
        await settle()
      }
    },
    setPaused(paused) {
      isPaused = paused
      return settle()
    },
    running: () => current?.groups ?? [],
  }
}
