/** When content that is rendered in the cluster is rendered again because something it read changed. */

/** How often it became other content of late, and when it last did, on the monotonic clock. */
export interface Rerenders {
  readonly times: number
  readonly atMs: number
}

const SOON_MS = 2000
const MOST_DOUBLINGS = 7
const QUIET_MS = 10 * 60_000

/** One more time. */
export function afterRerender(before: Rerenders | undefined, nowMs: number): Rerenders {
  const isQuiet = before === undefined || nowMs - before.atMs > QUIET_MS
  return { times: isQuiet ? 1 : before.times + 1, atMs: nowMs }
}

/**
 * How long to wait after a change: a little, for changes come in flocks; longer each time when content goes on
 * changing, for a chart may look up what it writes itself.
 */
export function rerenderDelayMs(before: Rerenders | undefined, nowMs: number): number {
  if (!before || nowMs - before.atMs > QUIET_MS) return SOON_MS
  return SOON_MS * 2 ** Math.min(before.times, MOST_DOUBLINGS)
}
