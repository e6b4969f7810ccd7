import { parseDuration } from '../core/time/duration.ts'
import type { Source } from '../kinds/native/source.ts'

const DEFAULT_TIMEOUT_MS = 60_000
// Timers hold no more than 24 days; a fetch that takes a day is no fetch.
const MAX_TIMEOUT_MS = 86_400_000

/** How long one fetch of a source may take. */
export function fetchTimeoutMs(spec: Pick<Source['spec'], 'timeout'>): number {
  const asked = spec.timeout === undefined ? undefined : parseDuration(spec.timeout)
  return Math.min(MAX_TIMEOUT_MS, asked || DEFAULT_TIMEOUT_MS)
}
