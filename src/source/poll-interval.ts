import { parseDuration } from '../core/time/duration.ts'
import type { Source } from '../kinds/native/source.ts'

const DEFAULT_INTERVAL_MS = 60_000
const MIN_INTERVAL_MS = 5_000

/** The interval at which a Source is polled. */
export function pollIntervalMs(spec: Pick<Source['spec'], 'interval'>): number {
  const asked = spec.interval === undefined ? undefined : parseDuration(spec.interval)
  return Math.max(MIN_INTERVAL_MS, asked ?? DEFAULT_INTERVAL_MS)
}
