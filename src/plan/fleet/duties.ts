// Tested by src/plan/fleet/duties.test.ts
/** Duties: by when a cluster has to comply with a Policy, and when it did. */
import { parseDuration } from '../../core/time/duration.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'

/** The annotation of a PlacementBinding with the time that its clusters have. */
export const COMPLY_WITHIN = 'flotilla.dev/comply-within'

/**
 * `Met`: the cluster complies, and did in time. `Late`: it complies, after the deadline. `Open`: it does not comply
 * yet. `Overdue`: it does not comply, and the deadline has passed.
 */
export const DUTY_STATES = ['Overdue', 'Open', 'Late', 'Met'] as const
export type DutyState = (typeof DUTY_STATES)[number]

/** The duty of a cluster. */
export interface Duty {
  readonly clustername: string
  /** The PlacementBinding with the shortest time. */
  readonly binding: string
  /** Time at which the duty began: the binding selected the cluster, or the cluster ceased to comply. */
  readonly since: string
  readonly deadline: string
  /** Time since which the cluster complies, by its report. Absent while it does not. */
  readonly compliedAt?: string
}

/** What a binding demands. */
export interface Demand {
  readonly binding: string
  readonly withinMs: number
}

/** What is known of the cluster. Without a state, nothing new is known. */
export interface Heard {
  readonly state: 'Compliant' | 'NonCompliant' | 'Pending' | undefined
  /** Time at which the agent first observed the state. */
  readonly since: string | undefined
}

/** Milliseconds of a time such as `24h`, `7d` or `1w`; undefined if it is none, or not positive. */
export function parseWithin(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? []
  const ms = count === undefined ? parseDuration(text) : Number(count) * (unit === 'w' ? 7 : 1) * 86_400_000
  return ms !== undefined && ms > 0 ? ms : undefined
}

/** The duty after what was heard. The agent's times count only between what the hub saw before and now. */
export function nextDuty(
  before: Duty | undefined,
  { clustername, demand, heard }: { readonly clustername: string; readonly demand: Demand; readonly heard: Heard },
  nowMs: number,
): Duty {
  const within = (text: string | undefined, fromMs: number): number =>
    Math.min(nowMs, Math.max(fromMs, (text === undefined ? undefined : parseTime(text)) ?? nowMs))
  let sinceMs = (before && parseTime(before.since)) ?? nowMs
  let compliedMs = before?.compliedAt === undefined ? undefined : parseTime(before.compliedAt)
  if (heard.state === 'Compliant') compliedMs ??= within(heard.since, sinceMs)
  else if (heard.state !== undefined && compliedMs !== undefined) {
    // The cluster ceased to comply, and has the whole time again.
    sinceMs = within(heard.since, compliedMs)
    compliedMs = undefined
  }
  return {
    clustername,
    binding: demand.binding,
    since: formatTime(sinceMs),
    deadline: formatTime(sinceMs + demand.withinMs),
    ...(compliedMs !== undefined && { compliedAt: formatTime(compliedMs) }),
  }
}

/** The state of a duty at a time. */
export function dutyState({ deadline, compliedAt }: Pick<Duty, 'deadline' | 'compliedAt'>, nowMs: number): DutyState {
  const deadlineMs = parseTime(deadline) ?? 0
  const compliedMs = compliedAt === undefined ? undefined : parseTime(compliedAt)
  if (compliedMs !== undefined) return compliedMs <= deadlineMs ? 'Met' : 'Late'
  return nowMs > deadlineMs ? 'Overdue' : 'Open'
}

/** The number of duties by state. */
export function countDuties(duties: readonly Duty[], nowMs: number): Record<DutyState, number> {
  const counts = { Overdue: 0, Open: 0, Late: 0, Met: 0 }
  for (const duty of duties) counts[dutyState(duty, nowMs)] += 1
  return counts
}

/** Milliseconds until a duty that is open is overdue; undefined without one. */
export function nextDeadlineMs(duties: readonly Duty[], nowMs: number): number | undefined {
  const left = duties
    .filter((duty) => dutyState(duty, nowMs) === 'Open')
    .map(({ deadline }) => (parseTime(deadline) ?? nowMs) - nowMs + 1)
  return left.length === 0 ? undefined : Math.min(...left)
}
