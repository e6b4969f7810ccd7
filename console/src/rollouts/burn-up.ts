/** A rollout over time: clusters at the end of each ring and now, beside what its rings would take at the least. */
import { parseDuration } from '../../../src/core/time/duration.ts'
import { parseTime } from '../../../src/core/time/time.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { concurrencyOf } from '../../../src/plan/rollout/concurrency.ts'

export interface BurnPoint {
  readonly atMs: number
  readonly count: number
  /** The ring that passed, or `now`. */
  readonly label: string
}

export interface BurnUp {
  readonly total: number
  readonly actual: readonly BurnPoint[]
  /** With one minute for each step of a ring, as the preview of `flotilla rollout start --dry-run` assumes. */
  readonly planned: readonly BurnPoint[]
}

const STEP_MS = 60_000

/** Undefined before anything can be drawn. */
export function burnUp({ metadata, spec, status }: Rollout, nowMs: number): BurnUp | undefined {
  const startMs = parseTime(metadata.creationTimestamp ?? '')
  const total = status?.counts?.total ?? 0
  if (startMs === undefined || total === 0) return undefined
  const rings = spec.rings.map((ring) => ({ ring, state: status?.rings?.find(({ name }) => name === ring.name) }))
  const actual: BurnPoint[] = [{ atMs: startMs, count: 0, label: 'started' }]
  const planned: BurnPoint[] = [{ atMs: startMs, count: 0, label: 'started' }]
  let members = 0
  let plannedMs = startMs
  let passed = 0
  for (const { ring, state } of rings) {
    const own = state?.members ?? 0
    members += own
    const moving = Math.max(0, own - (state?.excused ?? 0))
    const steps = Math.ceil(moving / Math.max(1, concurrencyOf(ring.concurrency ?? 1, own)))
    plannedMs += steps * STEP_MS + (ring.soak === undefined ? 0 : (parseDuration(ring.soak) ?? 0))
    planned.push({ atMs: plannedMs, count: members, label: ring.name })
    const passedMs = parseTime(state?.passedAt ?? '')
    if (passedMs === undefined) continue
    passed += own - (state?.excused ?? 0)
    actual.push({ atMs: passedMs, count: passed, label: ring.name })
  }
  const isOver = status?.phase === 'Completed' || status?.phase === 'Superseded' || status?.phase === 'Aborted'
  const last = actual.at(-1)!
  const endMs = isOver ? last.atMs : Math.max(nowMs, last.atMs)
  const ready = status?.counts?.ready ?? 0
  // Clusters of passed rings may fail later: the line may go down.
  actual.push({ atMs: endMs, count: ready, label: isOver ? 'end' : 'now' })
  return { total, actual, planned }
}
