/** What the steps of a hub's start share: the ports, the life of the hub, and what to close when it ends. */
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import type { HubPorts } from '../ports.ts'

type Close = () => Promise<void> | void

export interface Starting extends HubPorts {
  /** Aborted when the hub closes, before its parts close. */
  readonly life: AbortSignal
  /** Closes this part at the end of the hub; parts close in reverse order. */
  readonly closeLater: (close: Close) => void
  /** The hub ends with an error when one of these rejects. */
  readonly deaths: Promise<never>[]
}

/** A part that has not closed by then is abandoned, so that the hub always ends. Threads end themselves sooner. */
const CLOSE_WITHIN_MS = 15_000

export function beginStart(ports: HubPorts): { readonly starting: Starting; readonly closeAll: () => Promise<void> } {
  const closers: Close[] = []
  const life = new AbortController()
  return {
    starting: { ...ports, life: life.signal, closeLater: (close) => void closers.push(close), deaths: [] },
    closeAll: async () => {
      // All loops stop first, then their connections close.
      life.abort()
      for (let close = closers.pop(); close; close = closers.pop()) {
        const closing = { clock: ports.clock, ms: CLOSE_WITHIN_MS, what: 'closing a part of the hub' }
        await deadline(closing, (signal) => untilAborted(Promise.resolve(close()), signal)).catch((caught: unknown) => {
          ports.log.error({ err: toError(caught) }, 'a part of the hub did not close cleanly')
        })
      }
    },
  }
}

/** Runs a loop beside the start; when it fails, the hub ends with its error. */
export function runBeside({ closeLater, deaths }: Starting, loop: Promise<void>): void {
  const failed = new Promise<never>((_resolve, reject) => void loop.catch(reject))
  failed.catch(() => {}) // `deaths` reports it
  deaths.push(failed)
  closeLater(() => loop.catch(() => {}))
}
