/** React's view of the connection and of time. */
import { useSyncExternalStore } from 'react'
import { hubNow, liveState, subscribeLive } from './live-state.ts'
import type { LiveState } from './live-state.ts'

/** The clusters and the state of the connection. */
export function useLive(): LiveState {
  return useSyncExternalStore(subscribeLive, liveState)
}

let now = hubNow()
const ticking = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribeNow(listener: () => void): () => void {
  ticking.add(listener)
  timer ??= setInterval(() => {
    now = hubNow()
    for (const tick of ticking) tick()
  }, 1_000)
  return () => {
    ticking.delete(listener)
    if (ticking.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The hub's time, renewed each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribeNow, () => now)
}
