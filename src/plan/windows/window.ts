/**
 * Maintenance windows and freezes, in the site's own time zone. A window begins when a clock on the site's wall shows what its schedule says (once, also
 * when clocks are set back; at the next moment, when they are set forward over it) and lasts for so much time as passes, whatever the clocks do.
 *
 * All windows that concern a bundle must be open, and no freeze may hold: the tighter wins.
 */
import { matchesGlob } from '../../core/text/glob.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { dayAfter, formatTime, isTimeZone, momentOfWallTime, parseTime, wallTimeAt } from '../../core/time/time.ts'
import { parseCron } from './cron.ts'
import type { Cron } from './cron.ts'

/** One span of time, by a schedule or once. */
export type TimeSpan =
  | { readonly schedule: string; readonly duration: string }
  | { readonly from: string; readonly until: string }

/** A window or a freeze, as a document's rules hold it. */
export interface WindowRule {
  readonly name: string
  /** Open: content begins only within. Freeze: content does not begin within. */
  readonly kind: 'Open' | 'Freeze'
  readonly zone: string
  /** Any of these. */
  readonly spans: readonly TimeSpan[]
  /** Globs of `namespace/name`; all bundles when absent. */
  readonly bundles?: readonly string[]
  /** What passes all the same. */
  readonly except?: readonly WindowPass[]
  /** Why, for people. */
  readonly reason?: string
}

/** Something that passes a window: bundles by a glob of `namespace/name`, of one generation or of any. */
export interface WindowPass {
  readonly bundle: string
  readonly generation?: number
}

/** What wants to begin. */
export interface WindowSubject {
  readonly bundle: string
  readonly generation: number
}

/** Whether a span holds at a moment. */
export type SpanState =
  | { readonly isIn: true; readonly sinceMs: number; readonly untilMs: number }
  | { readonly isIn: false; readonly nextMs: number | undefined }

/** Whether content may begin. */
export type WindowDecision =
  | {
      readonly kind: 'Open'
      readonly sinceMs?: number
      /** Names of those that would be closed without an exception. */
      readonly excepted?: readonly string[]
    }
  | {
      readonly kind: 'Closed'
      /** What closes it; the time when nobody knows it. */
      readonly by: 'window' | 'freeze' | 'time'
      readonly message: string
      /** Since when, where that is known. */
      readonly sinceMs?: number
      /** When to look again. */
      readonly againMs: number | undefined
    }

const DAY_MS = 86_400_000
const LOOK_AHEAD_DAYS = 366 * 5
const MOST_MS = 366 * DAY_MS
// Every beginning that may still last is looked at: an hour of every-minute ones is fine, a year of them is not.
const MOST_BEGINNINGS = 5000

/** What is wrong with a window; undefined when nothing is. */
export function windowProblem({ name, zone, spans }: WindowRule): string | undefined {
  if (!isTimeZone(zone))
    return `window ${name}: ${JSON.stringify(zone)} is no time zone; write one such as Europe/Berlin`
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

/** The same span is asked about for every cluster and in every round: it is parsed once. */
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
      return { ok: false, problem: `from ${span.from} until ${span.until} is no span of time` }
    }
    return { ok: true, once: [from, until] }
  }
  const lastsMs = parseDuration(span.duration)
  if (lastsMs === undefined || lastsMs <= 0 || lastsMs > MOST_MS) {
    return { ok: false, problem: `duration ${JSON.stringify(span.duration)} is none; write one such as 4h` }
  }
  const cron = parseCron(span.schedule)
  if (!cron.ok) return { ok: false, problem: cron.problem }
  const perDay = cron.cron.hours.length * cron.cron.minutes.length
  if (perDay * Math.ceil(lastsMs / DAY_MS) > MOST_BEGINNINGS) {
    const problem = `schedule ${JSON.stringify(span.schedule)} begins ${perDay} times a day, too often for what lasts ${span.duration}`
    return { ok: false, problem }
  }
  return { ok: true, cron: cron.cron, lastsMs }
}

/** Whether a span holds at a moment, since when and until when, or when it next begins. */
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
    // Windows that follow without a pause are one.
    const first = back.reduceRight((at, start) => (start < at && start + lastsMs >= at ? start : at), since)
    return { isIn: true, sinceMs: first, untilMs: since + lastsMs }
  }
  // Most begin again within days; looking a month ahead at once would cost more than it finds.
  for (let day = -1, step = 2; day <= LOOK_AHEAD_DAYS; day += step + 1, step = Math.min(2 * step, 62)) {
    const next = startsOn(cron, zone, { nowMs, firstDay: day, lastDay: day + step }).find((start) => start > nowMs)
    if (next !== undefined) return { isIn: false, nextMs: next }
  }
  return { isIn: false, nextMs: undefined }
}

/** Every beginning on the days around a moment, in order. */
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
 * Whether content may begin now; `nowMs` is undefined while the time is not known for certain, and then windows are closed.
 * `look` evaluates a span; a caller that asks for many clusters remembers the answers.
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
    if (!concerns(rule, subject.bundle)) continue
    const state = judgeRule(rule, nowMs, look)
    if (state.kind === 'Closed') {
      if (!isExcepted(rule, subject)) return state
      excepted.push(rule.name)
    } else if (state.sinceMs !== undefined) sinceMs = Math.max(sinceMs ?? 0, state.sinceMs)
  }
  return {
    kind: 'Open',
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(excepted.length === 0 ? {} : { excepted }),
  }
}

/** When content may begin, as things stand: now, at a later moment, or at none that is known. */
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

// Windows that never meet would be followed for years.
const MOST_CLOSINGS = 200

function concerns({ bundles }: WindowRule, bundle: string): boolean {
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
  // A window that cannot be read keeps closed what it is for.
  const problem = windowProblem(rule)
  if (problem !== undefined) return { kind: 'Closed', by, message: problem, againMs: undefined }
  if (nowMs === undefined) {
    const message = `the time is not known for certain, so ${rule.name} counts as closed`
    return { kind: 'Closed', by: 'time', message, againMs: undefined }
  }
  const states = rule.spans.map((span) => look(span, rule.zone, nowMs))
  const within = states.flatMap((state) => (state.isIn ? [state] : []))
  if (rule.kind === 'Freeze') {
    if (within.length === 0) return { kind: 'Open' }
    const untilMs = Math.max(...within.map((state) => state.untilMs))
    const sinceMs = Math.min(...within.map((state) => state.sinceMs))
    const message = `freeze ${rule.name} holds until ${formatTime(untilMs)}, since ${formatTime(sinceMs)}${why}`
    return { kind: 'Closed', by, message, sinceMs, againMs: untilMs }
  }
  if (within.length > 0) return { kind: 'Open', sinceMs: Math.min(...within.map((state) => state.sinceMs)) }
  const nexts = states.flatMap((state) => (!state.isIn && state.nextMs !== undefined ? [state.nextMs] : []))
  const nextMs = nexts.length > 0 ? Math.min(...nexts) : undefined
  const when = nextMs === undefined ? 'does not open again' : `opens at ${formatTime(nextMs)}`
  return { kind: 'Closed', by, message: `window ${rule.name} is closed and ${when}${why}`, againMs: nextMs }
}

/** What a cluster that was away does with what it missed. */
export type CatchUp = 'Immediate' | 'NextWindow' | 'Hold'

const STRICTNESS: readonly CatchUp[] = ['Immediate', 'NextWindow', 'Hold']

/** The strictest of some policies. */
export function strictest(policies: readonly (CatchUp | undefined)[]): CatchUp {
  return STRICTNESS[Math.max(0, ...policies.map((policy) => STRICTNESS.indexOf(policy ?? 'Immediate')))]!
}

/** What decides whether a change that was missed may begin. */
export interface CatchUpFacts {
  readonly policy: CatchUp
  /** When the document was signed, and when this cluster took it; a short while apart is no absence. */
  readonly issuedMs: number
  readonly receivedMs: number
  /** When the window that is open now opened; undefined when there are no windows. */
  readonly openSinceMs: number | undefined
}

const ABSENCE_MS = 10 * 60_000

/** Why a change that a cluster missed may not begin yet; undefined when it may. */
export function catchUpHold({ policy, issuedMs, receivedMs, openSinceMs }: CatchUpFacts): string | undefined {
  if (policy === 'Immediate' || receivedMs - issuedMs < ABSENCE_MS) return undefined
  if (policy === 'Hold') return 'it came while this cluster was away, and catchUp is Hold: admit it again'
  // A window that was open on return is the one that was missed.
  if (openSinceMs === undefined || openSinceMs > receivedMs) return undefined
  return 'it came while this cluster was away, and catchUp is NextWindow: it waits for the next window'
}
