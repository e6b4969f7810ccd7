/** What the connection to the hub knows, as a store outside of React. */
import { EMPTY_FLEET } from './fleet-store.ts'
import type { Fleet } from './fleet-store.ts'

/** What the connection knows at one moment. */
export interface LiveState {
  readonly fleet: Fleet
  /**
   * `loading`: no data yet. `live`: messages arrive. `lost`: the data is old. `refused`: the user may not list
   * clusters.
   */
  readonly link: 'loading' | 'live' | 'lost' | 'refused'
  /** The hub's words when the list is refused. */
  readonly problem: string | undefined
}

type ChangedListener = (plurals: readonly string[]) => void

let state: LiveState = { fleet: EMPTY_FLEET, link: 'loading', problem: undefined }
/** Milliseconds that the hub's clock is ahead of the browser's. */
let offsetMs = 0
let lastMessageMs = Date.now()
const listeners = new Set<() => void>()
const changedListeners = new Set<ChangedListener>()

/** Changes the state. */
export function updateLive(change: Partial<LiveState>): void {
  state = { ...state, ...change }
  for (const listener of listeners) listener()
}

/** Subscribes to the state, for useSyncExternalStore. */
export function subscribeLive(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function liveState(): LiveState {
  return state
}

/** Calls back with the kinds of which objects changed. */
export function onKindsChanged(listener: ChangedListener): () => void {
  changedListeners.add(listener)
  return () => changedListeners.delete(listener)
}

/** Tells that objects of these kinds changed. */
export function tellKindsChanged(plurals: readonly string[]): void {
  for (const listener of changedListeners) listener(plurals)
}

/** Notes that the hub was heard, with its time if it said it. */
export function noteHeard(hubMs?: number): void {
  lastMessageMs = Date.now()
  if (hubMs !== undefined) offsetMs = hubMs - lastMessageMs
}

/** The hub's time. */
export function hubNow(): number {
  return Date.now() + offsetMs
}

/** Milliseconds since the hub was last heard. */
export function silenceMs(): number {
  return Date.now() - lastMessageMs
}
