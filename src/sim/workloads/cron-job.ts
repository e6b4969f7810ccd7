/** CronJobs: when a run is due, and what it leaves behind. */
import { dayAfter, formatTime, wallTimeAt } from '../../core/time/time.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { parseCron } from '../../plan/windows/cron.ts'
import type { Cron } from '../../plan/windows/cron.ts'
import { child } from './children.ts'
import type { Step } from './children.ts'

/** A run of a CronJob. */
export const Job = builtinKind<UnknownObject>('batch/v1', 'Job')
/** Jobs at times. */
export const CronJob = builtinKind<UnknownObject>('batch/v1', 'CronJob')

const MINUTE_MS = 60_000
/** A run that was missed by more than a day is not made up for. */
const MAX_MINUTES = 24 * 60

/** The last time a schedule was due after `sinceMs` and not after `nowMs`. */
export function lastDue(cron: Cron, zone: string, sinceMs: number, nowMs: number): number | undefined {
  const first = Math.floor(sinceMs / MINUTE_MS) + 1
  const last = Math.floor(nowMs / MINUTE_MS)
  for (let minute = last; minute >= Math.max(first, last - MAX_MINUTES); minute -= 1) {
    const { year, month, day, hour, minute: inHour } = wallTimeAt(minute * MINUTE_MS, zone)
    const { weekday } = dayAfter({ year, month, day }, 0)
    if (cron.minutes.includes(inHour) && cron.hours.includes(hour) && cron.matchesDay({ month, day, weekday })) {
      return minute * MINUTE_MS
    }
  }
  return undefined
}

const hasEnded = (job: UnknownObject, type: string): boolean =>
  itemsAt(job, 'status.conditions').some((it) => it['type'] === type && it['status'] === 'True')

/** What a CronJob does at a moment: at most one new run, and the oldest runs go. */
export interface CronStep {
  readonly steps: readonly Step[]
  /** When the run was due that is made now. */
  readonly ranAtMs?: number
  readonly active: readonly UnknownObject[]
}

/** Works it out from its runs. */
export function cronStep(
  parent: UnknownObject,
  jobs: readonly UnknownObject[],
  sinceMs: number,
  nowMs: number,
): CronStep {
  const parsed = parseCron(textAt(parent, 'spec.schedule'))
  const done = (type: string) => jobs.filter((job) => hasEnded(job, type))
  const active = jobs.filter((job) => !hasEnded(job, 'Complete') && !hasEnded(job, 'Failed'))
  const oldest = (type: string, field: string): Step[] => {
    const sorted = done(type).toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))
    return sorted.slice(numberAt(parent, `spec.${field}`)).map((object) => ({ do: 'drop', kind: Job, object }))
  }
  const cleaned = [...oldest('Complete', 'successfulJobsHistoryLimit'), ...oldest('Failed', 'failedJobsHistoryLimit')]
  if (!parsed.ok || readPath(parent, 'spec.suspend') === true) return { steps: cleaned, active }
  const dueMs = lastDue(parsed.cron, textAt(parent, 'spec.timeZone', 'UTC'), sinceMs, nowMs)
  const policy = textAt(parent, 'spec.concurrencyPolicy')
  if (dueMs === undefined || (policy === 'Forbid' && active.length > 0)) return { steps: cleaned, active }
  const template = mapAt(parent, 'spec.jobTemplate')
  const metadata = {
    name: `${parent.metadata.name}-${dueMs / MINUTE_MS}`,
    labels: mapAt(template, 'metadata.labels'),
    annotations: {
      ...mapAt(template, 'metadata.annotations'),
      'batch.kubernetes.io/cronjob-scheduled-timestamp': formatTime(dueMs),
    },
  }
  const object = child(parent, Job, { metadata, spec: structuredClone(mapAt(template, 'spec')) })
  const replaced = policy === 'Replace' ? active : []
  return {
    steps: [
      ...cleaned,
      ...replaced.map((gone): Step => ({ do: 'drop', kind: Job, object: gone })),
      { do: 'make', kind: Job, object },
    ],
    ranAtMs: dueMs,
    active: policy === 'Replace' ? [] : active,
  }
}
