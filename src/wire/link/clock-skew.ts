/** The clock skew of a cluster, rounded to what a user needs to see. */

/** Every request of an agent says its own time in milliseconds since 1970. */
export const TIME_HEADER = 'flotilla-time'

/** Less than this is the way there and the request's wait. */
const SKEW_MATTERS_SECONDS = 60

/**
 * The skew in seconds (positive: ahead of the hub) to show instead of the shown one; undefined when that is still
 * true enough.
 */
export function skewToShow(shown: number, skewMs: number): number | undefined {
  const rounded = Math.round(skewMs / 1000)
  const seconds = Math.abs(rounded) < SKEW_MATTERS_SECONDS ? 0 : rounded
  if (seconds === shown) return undefined
  // Half the threshold of play at its edge, and a tenth beyond it: a clock that drifts is not news with every
  // request.
  const play = Math.max(SKEW_MATTERS_SECONDS / 2, Math.abs(shown) / 10)
  if (seconds === 0) return Math.abs(rounded) < SKEW_MATTERS_SECONDS / 2 ? 0 : undefined
  return shown === 0 || Math.abs(seconds - shown) > play ? seconds : undefined
}
