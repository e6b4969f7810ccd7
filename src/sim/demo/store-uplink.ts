/** The line between a store and the hub: real TLS, and a plug that can be pulled. */
import { createConnectHub } from '../../agent/link/connect-hub.ts'
import type { ConnectHub } from '../../agent/link/hub-api.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'

/** A line. */
export interface StoreUplink {
  readonly connect: ConnectHub
  isUp(): boolean
  /** Ends what is open and refuses what is new. */
  cut(): void
  mend(): void
  /** Comes and goes until the signal is aborted. */
  flap(signal: AbortSignal): Promise<void>
}

const UP_MS = { least: 8_000, more: 20_000 }
const DOWN_MS = { least: 500, more: 3_000 }

/** Makes a line that is up. */
export function createStoreUplink({
  clock,
  ids,
}: {
  readonly clock: Clock
  readonly ids: Pick<Ids, 'bytes'>
}): StoreUplink {
  const open = createConnectHub()
  let plug: AbortController | undefined = new AbortController()
  // A person's hand on the plug wins over a bad line.
  let isHeldDown = false
  const somewhere = ({ least, more }: { readonly least: number; readonly more: number }): number =>
    least + ((ids.bytes(1)[0] ?? 0) / 255) * more
  const pull = (): void => {
    plug?.abort(new Error('the line is down'))
    plug = undefined
  }
  const push = (): void => {
    if (!isHeldDown) plug ??= new AbortController()
  }
  return {
    connect: (connection) => {
      const { transport, close } = open(connection)
      return {
        close,
        transport: async (request, signal) => {
          if (!plug) throw new Error('the line is down')
          return await transport(request, AbortSignal.any([signal, plug.signal]))
        },
      }
    },
    isUp: () => plug !== undefined,
    cut: () => {
      isHeldDown = true
      pull()
    },
    mend: () => {
      isHeldDown = false
      push()
    },
    flap: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(somewhere(UP_MS), signal).catch(() => {}) // aborted: the loop ends
        pull()
        await clock.sleep(somewhere(DOWN_MS), signal).catch(() => {})
        push()
      }
    },
  }
}
