import { parseDuration } from '../core/time/duration.ts'
import type { Source } from '../kinds/native/source.ts'

const DEFAULT_TIMEOUT_MS = 60_000
// Timers are limited to 24 days, and a fetch must not take more than a day.
const MAX_TIMEOUT_MS = 86_400_000

/** The time limit of a fetch. */
export function fetchTimeoutMs(spec: Pick<Source['spec'], 'timeout'>): number {
  const asked = spec.timeout === undefined ? undefined : parseDuration(spec.timeout)
  return Math.min(MAX_TIMEOUT_MS, asked || DEFAULT_TIMEOUT_MS)
}
