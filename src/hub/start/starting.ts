/** What the steps of a hub's start share: the ports, the life of the hub, and what to close when it ends. */
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import type { HubPart } from '../../plan/fleet/hub-health.ts'
import type { HubPorts } from '../ports.ts'
import { createSupervisor } from '../threads/supervisor.ts'
import type { Supervisor } from '../threads/supervisor.ts'

type Close = () => Promise<void> | void

export interface Starting extends HubPorts {
  /** Aborted when the hub closes, before its parts close. */
  readonly life: AbortSignal
  /** Closes this part at the end of the hub; parts close in reverse order. */
  readonly closeLater: (close: Close) => void
  /** Done at the end of the hub before any part closes, while its loops end. */
  readonly leaveFirst: (leave: (signal: AbortSignal) => Promise<void>, withinMs: number) => void
  /** Starts parts again that end or no longer answer. */
  readonly supervisor: Supervisor
  /** The hub ends with an error when one of these rejects. */
  readonly deaths: Promise<never>[]
}

/** A part that has not closed by then is abandoned, so that the hub always ends. Threads end themselves sooner. */
const CLOSE_WITHIN_MS = 15_000
const LEAVE_SLACK_MS = 2_000

export function beginStart(ports: HubPorts): { readonly starting: Starting; readonly closeAll: () => Promise<void> } {
  const closers: Close[] = []
  const leaves: (() => Promise<void>)[] = []
  const life = new AbortController()
  const supervisor = createSupervisor(ports)
  const closeLater = (close: Close): void => void closers.push(close)
  const within = async (what: string, ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    await deadline({ clock: ports.clock, ms, what }, (signal) => untilAborted(work(signal), signal)).catch(
      (caught: unknown) => ports.log.error({ err: toError(caught) }, 'a part of the hub did not close cleanly'),
    )
  }
  const leaveFirst: Starting['leaveFirst'] = (leave, ms) => {
    leaves.push(() => within('leaving the hub', ms + LEAVE_SLACK_MS, leave))
  }
  return {
    starting: { ...ports, life: life.signal, closeLater, leaveFirst, supervisor, deaths: [supervisor.fatal] },
    closeAll: async () => {
      // All loops stop first, then their connections close.
      life.abort()
      await Promise.all(leaves.splice(0).map((leave) => leave()))
      for (let close = closers.pop(); close; close = closers.pop()) {
        const closing = close
        await within('closing a part of the hub', CLOSE_WITHIN_MS, async () => await closing())
      }
    },
  }
}

/** Runs a loop beside the start; when it fails, it begins again. */
export function runBeside(
  { closeLater, supervisor, life }: Starting,
  name: HubPart,
  loop: (signal: AbortSignal) => Promise<void>,
): void {
  const running = supervisor.keepLoop(name, loop, life)
  closeLater(() => running)
}
