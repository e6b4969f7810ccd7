/**
 * The connection to the hub: one snapshot, then a stream of changes. A hidden tab gives its connection back, because a
 * browser has six for all tabs of a hub, and takes up where it was when it is shown again.
 */
import type { FleetDelta, FleetSnapshot } from '../../../src/hub/console/fleet-row.ts'
import { read } from './api.ts'
import { ApiFailure } from './api-failure.ts'
import { applyDelta, EMPTY_FLEET, fleetOf } from './fleet-store.ts'
import { liveState, noteHeard, tellKindsChanged, updateLive } from './live-state.ts'

const AGAIN_MS = 2_000

let stream: EventSource | undefined
let position: string | undefined

/** Connects, and keeps the connection until `disconnect`. */
export async function connect(): Promise<void> {
  disconnect()
  document.addEventListener('visibilitychange', onVisibility)
  await start()
}

export function disconnect(): void {
  document.removeEventListener('visibilitychange', onVisibility)
  stream?.close()
  stream = undefined
}

function onVisibility(): void {
  if (document.hidden) {
    stream?.close()
    stream = undefined
  } else if (!stream) void start()
}

async function start(): Promise<void> {
  if (position === undefined) await takeSnapshot()
  if (document.hidden || stream) return
  const opened = new EventSource(`/console/events${position === undefined ? '' : `?from=${position}`}`)
  stream = opened
  const dataOf = (event: MessageEvent): unknown => JSON.parse(event.data as string)
  opened.addEventListener('fleet', (event) => {
    position = event.lastEventId
    noteHeard()
    const fleet = applyDelta(liveState().fleet, dataOf(event) as FleetDelta)
    updateLive({ fleet, link: 'live', problem: undefined })
  })
  opened.addEventListener('reset', () => void takeSnapshot())
  opened.addEventListener('changed', (event) => tellKindsChanged(dataOf(event) as string[]))
  opened.addEventListener('beat', (event) => {
    noteHeard((dataOf(event) as { now: number }).now)
    if (liveState().link === 'lost') updateLive({ link: 'live' })
  })
  opened.addEventListener('error', () => {
    if (liveState().link === 'live') updateLive({ link: 'lost' })
    // A browser tries again by itself unless the hub refused; then the session has ended, or the hub is another one.
    if (opened.readyState !== EventSource.CLOSED || stream !== opened) return
    stream = undefined
    position = undefined
    setTimeout(() => void start(), AGAIN_MS)
  })
}

async function takeSnapshot(): Promise<void> {
  try {
    const snapshot = await read<FleetSnapshot>('/console/fleet')
    position = `${snapshot.epoch}-${snapshot.revision}`
    noteHeard()
    updateLive({ fleet: fleetOf(snapshot), link: 'live', problem: undefined })
  } catch (caught) {
    if (!(caught instanceof ApiFailure)) throw caught
    const { code, message } = caught
    updateLive(
      code === 403 ? { link: 'refused', problem: message, fleet: EMPTY_FLEET } : { link: 'lost', problem: message },
    )
  }
}
