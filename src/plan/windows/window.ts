/**
 * Maintenance windows and freezes, in the cluster's time zone. A window starts when the wall-clock time matches its
 * schedule: once when clocks are set back, and at the next moment when clocks are set forward over the start. The
 * duration is elapsed time, unaffected by clock changes.
 *
 * A bundle may start when all its windows are open and no freeze is active.
 */
import { compact } from '../../core/compact.ts'
import { matchesGlob } from '../../core/text/glob.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { dayAfter, formatTime, isTimeZone, momentOfWallTime, parseTime, wallTimeAt } from '../../core/time/time.ts'
import { parseCron } from './cron.ts'
import type { Cron } from './cron.ts'

/** A span of time, by a schedule or once. */
export type TimeSpan =
  | { readonly schedule: string; readonly duration: string }
  | { readonly from: string; readonly until: string }

/** A window or a freeze, as the rules of a document have it. */
export interface WindowRule {
  readonly name: string
  /** Open: content starts only within the spans. Freeze: content does not start within the spans. */
  readonly kind: 'Open' | 'Freeze'
  readonly zone: string
  /** The rule is active within any of these spans. */
  readonly spans: readonly TimeSpan[]
  /** Globs of `namespace/name`. If absent, the rule is for all bundles. */
  readonly bundles?: readonly string[]
  /** Exceptions. */
  readonly except?: readonly WindowPass[]
  /** The author's reason, shown in messages. */
  readonly reason?: string
}

/** An exception: a glob of `namespace/name`, for a generation or for all. */
export interface WindowPass {
  readonly bundle: string
  readonly generation?: number
}

/** The bundle revision that a window decision is for. */
export interface WindowSubject {
  readonly bundle: string
  readonly generation: number
}

/** A span at a moment: within it, or the next start. */
export type SpanState =
  | { readonly isIn: true; readonly sinceMs: number; readonly untilMs: number }
  | { readonly isIn: false; readonly nextMs: number | undefined }

/** Whether content may start. */
export type WindowDecision =
  | {
      readonly kind: 'Open'
      readonly sinceMs?: number
      /** Names of rules that only an exception passed. */
      readonly excepted?: readonly string[]
    }
  | {
      readonly kind: 'Closed'
      /** The cause; `time` while the agent does not know the time for certain. */
      readonly by: 'window' | 'freeze' | 'time'
      readonly message: string
      /** Start of the freeze. */
      readonly sinceMs?: number
      /** Time of the next change; undefined: no change is known. */
      readonly againMs: number | undefined
    }

const DAY_MS = 86_400_000
const LOOK_AHEAD_DAYS = 366 * 5
const MOST_MS = 366 * DAY_MS
// Each start whose window may still last is evaluated: one hour with a start per minute is fine, a year is not.
const MOST_BEGINNINGS = 5000

/** The problem of a window; undefined when it is valid. */
export function windowProblem({ name, zone, spans }: WindowRule): string | undefined {
  if (!isTimeZone(zone))
    return `window ${name}: ${JSON.stringify(zone)} is not a time zone; use a name such as Europe/Berlin`
  if (spans.length === 0) return `window ${name} has no times`
  for (const span of spans) {
    const read = readSpan(span)
    if (!read.ok) return `window ${name}: ${read.problem}`
  }
  return undefined
}

type ReadSpan =
  | { readonly ok: true; readonly once: readonly [number, number] }
  | { readonly ok: true; readonly cron: Cron; readonly lastsMs: number }
  | { readonly ok: false; readonly problem: string }

const spansRead = new WeakMap<TimeSpan, ReadSpan>()

/** A span is evaluated for every cluster in every pass, so it is parsed once. */
function readSpan(span: TimeSpan): ReadSpan {
  const known = spansRead.get(span)
  if (known) return known
  const read = parseSpan(span)
  spansRead.set(span, read)
  return read
}

function parseSpan(span: TimeSpan): ReadSpan {
  if ('from' in span) {
    const [from, until] = [parseTime(span.from), parseTime(span.until)]
    if (from === undefined || until === undefined || until <= from) {
      return { ok: false, problem: `"until" (${span.until}) must be later than "from" (${span.from})` }
    }
    return { ok: true, once: [from, until] }
  }
  const lastsMs = parseDuration(span.duration)
  if (lastsMs === undefined || lastsMs <= 0 || lastsMs > MOST_MS) {
    const problem = `${JSON.stringify(span.duration)} is not a duration of at most 366 days; use a value such as 4h`
    return { ok: false, problem }
  }
  const cron = parseCron(span.schedule)
  if (!cron.ok) return { ok: false, problem: cron.problem }
  const perDay = cron.cron.hours.length * cron.cron.minutes.length
  if (perDay * Math.ceil(lastsMs / DAY_MS) > MOST_BEGINNINGS) {
    const problem = `schedule ${JSON.stringify(span.schedule)} starts ${perDay} times a day, too often for a duration of ${span.duration}`
    return { ok: false, problem }
  }
  return { ok: true, cron: cron.cron, lastsMs }
}

/** Evaluates a span at a moment: its start and end, or its next start. */
export function spanAt(span: TimeSpan, zone: string, nowMs: number): SpanState {
  const read = readSpan(span)
  if (!read.ok) return { isIn: false, nextMs: undefined }
  if ('once' in read) {
    const [from, until] = read.once
    if (nowMs >= from && nowMs < until) return { isIn: true, sinceMs: from, untilMs: until }
    return { isIn: false, nextMs: nowMs < from ? from : undefined }
  }
  const { cron, lastsMs } = read
  const back = startsOn(cron, zone, { nowMs, firstDay: -Math.ceil(lastsMs / DAY_MS) - 1, lastDay: 1 })
  const since = back.findLast((start) => start <= nowMs && nowMs < start + lastsMs)
  if (since !== undefined) {
    // Windows that follow each other without a gap count as one.
    const first = back.reduceRight((at, start) => (start < at && start + lastsMs >= at ? start : at), since)
    return { isIn: true, sinceMs: first, untilMs: since + lastsMs }
  }
  // Most spans start again within days, so the search looks two days ahead first and widens its steps.
  for (let day = -1, step = 2; day <= LOOK_AHEAD_DAYS; day += step + 1, step = Math.min(2 * step, 62)) {
    const next = startsOn(cron, zone, { nowMs, firstDay: day, lastDay: day + step }).find((start) => start > nowMs)
    if (next !== undefined) return { isIn: false, nextMs: next }
  }
  return { isIn: false, nextMs: undefined }
}

/** All starts on the days around a moment, in order. */
function startsOn(
  cron: Cron,
  zone: string,
  { nowMs, firstDay, lastDay }: { readonly nowMs: number; readonly firstDay: number; readonly lastDay: number },
): number[] {
  const today = wallTimeAt(nowMs, zone)
  const starts = new Set<number>()
  for (let days = firstDay; days <= lastDay; days++) {
    const date = dayAfter(today, days)
    if (!cron.matchesDay(date)) continue
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) starts.add(momentOfWallTime({ ...date, hour, minute }, zone))
    }
  }
  return [...starts].toSorted((a, b) => a - b)
}

/**
 * Whether content may start now. `nowMs` is undefined while the time is not known for certain; then windows are closed.
 * `look` evaluates a span; a caller that decides for many clusters caches the results.
 */
export function decideWindows(
  rules: readonly WindowRule[],
  subject: WindowSubject,
  nowMs: number | undefined,
  look: typeof spanAt = spanAt,
): WindowDecision {
  let sinceMs: number | undefined
  const excepted: string[] = []
  for (const rule of rules) {
    if (!appliesTo(rule, subject.bundle)) continue
    const state = judgeRule(rule, nowMs, look)
    if (state.kind === 'Closed') {
      if (!isExcepted(rule, subject)) return state
      excepted.push(rule.name)
    } else if (state.sinceMs !== undefined) sinceMs = Math.max(sinceMs ?? 0, state.sinceMs)
  }
  return compact({
    kind: 'Open',
    sinceMs,
    excepted: excepted.length === 0 ? undefined : excepted,
  })
}

/** The first time at which content may start; undefined when no time is known. */
export function opensAt(rules: readonly WindowRule[], subject: WindowSubject, nowMs: number): number | undefined {
  let at = nowMs
  for (let closed = 0; closed < MOST_CLOSINGS; closed++) {
    const decision = decideWindows(rules, subject, at)
    if (decision.kind === 'Open') return at
    if (decision.againMs === undefined || decision.againMs <= at) return undefined
    at = decision.againMs
  }
  return undefined
}

// Windows that never overlap would be searched for years.
const MOST_CLOSINGS = 200

function appliesTo({ bundles }: WindowRule, bundle: string): boolean {
  return !bundles || bundles.some((pattern) => matchesGlob(pattern, bundle))
}

function isExcepted({ except = [] }: WindowRule, { bundle, generation }: WindowSubject): boolean {
  return except.some(
    (pass) => matchesGlob(pass.bundle, bundle) && (pass.generation === undefined || pass.generation === generation),
  )
}

function judgeRule(rule: WindowRule, nowMs: number | undefined, look: typeof spanAt): WindowDecision {
  const by = rule.kind === 'Freeze' ? 'freeze' : 'window'
  const why = rule.reason === undefined ? '' : `: ${rule.reason}`
  // A window that cannot be parsed is closed.
  const problem = windowProblem(rule)
  if (problem !== undefined) return { kind: 'Closed', by, message: problem, againMs: undefined }
  if (nowMs === undefined) {
    const message = `the time is not known for certain, so ${by} "${rule.name}" counts as closed`
    return { kind: 'Closed', by: 'time', message, againMs: undefined }
  }
  const states = rule.spans.map((span) => look(span, rule.zone, nowMs))
  const within = states.flatMap((state) => (state.isIn ? [state] : []))
  if (rule.kind === 'Freeze') {
    if (within.length === 0) return { kind: 'Open' }
    const untilMs = Math.max(...within.map((state) => state.untilMs))
    const sinceMs = Math.min(...within.map((state) => state.sinceMs))
    const message = `freeze "${rule.name}" lasts until ${formatTime(untilMs)}${why}`
    return { kind: 'Closed', by, message, sinceMs, againMs: untilMs }
  }
  if (within.length > 0) return { kind: 'Open', sinceMs: Math.min(...within.map((state) => state.sinceMs)) }
  const nexts = states.flatMap((state) => (!state.isIn && state.nextMs !== undefined ? [state.nextMs] : []))
  const nextMs = nexts.length > 0 ? Math.min(...nexts) : undefined
  const when = nextMs === undefined ? 'does not open again' : `opens at ${formatTime(nextMs)}`
  return { kind: 'Closed', by, message: `window "${rule.name}" is closed and ${when}${why}`, againMs: nextMs }
}

/** How a cluster that was offline moves to the newest content. */
export type CatchUp = 'Immediate' | 'NextWindow' | 'Hold'

const STRICTNESS: readonly CatchUp[] = ['Immediate', 'NextWindow', 'Hold']

export function strictest(policies: readonly (CatchUp | undefined)[]): CatchUp {
  return STRICTNESS[Math.max(0, ...policies.map((policy) => STRICTNESS.indexOf(policy ?? 'Immediate')))]!
}

/** Facts about a change that arrived while the cluster was offline. */
export interface CatchUpFacts {
  readonly policy: CatchUp
  /** When the hub signed the document, and when the agent received it; less than 10 minutes apart is no absence. */
  readonly issuedMs: number
  readonly receivedMs: number
  /** Opening time of the present window; undefined when there are no windows. */
  readonly openSinceMs: number | undefined
}

const ABSENCE_MS = 10 * 60_000

/** Why a change that arrived during an absence may not start yet; undefined when it may. */
export function catchUpHold({ policy, issuedMs, receivedMs, openSinceMs }: CatchUpFacts): string | undefined {
  if (policy === 'Immediate' || receivedMs - issuedMs < ABSENCE_MS) return undefined
  if (policy === 'Hold') {
    return 'the change was released while this cluster was offline, and catchUp is Hold: waiting to be admitted again'
  }
  // A window that was already open when the cluster returned is the missed window.
  if (openSinceMs === undefined || openSinceMs > receivedMs) return undefined
  return 'the change was released while this cluster was offline, and catchUp is NextWindow: waiting for the next window'
}
