/**
 * Gates: what the world must say before a ring opens, or before it counts as through.
 *
 * Staffed hours and other bundles are read off facts at hand. Webhooks and metrics are asked by the hub; their answers come in as
 * facts with the time they were asked at. Only an answer that is fresh and younger than the ring's turn counts, all
 * gates must pass at the same moment, and what cannot be asked, or has no data, holds: silence is never a yes.
 *
 * The verdicts are written down on the Rollout together with the record that they let pass, before anybody of the next ring
 * is admitted (I-04). A message is kept while its verdict stays, so that waiting writes nothing.
 */
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import { formatTime, isTimeZone, parseTime } from '../../../core/time/time.ts'
import { holdOf } from '../holds.ts'
import type { Hold } from '../holds.ts'
import { judgeSeries } from './metric-gate.ts'
import type { MetricGate, MetricSeries } from './metric-gate.ts'
import { spanAt, windowProblem } from '../../windows/window.ts'

/** One gate of a ring; exactly one of the four is there. */
export interface GateSpec {
  readonly name: string
  /** Open: before anybody of the ring is admitted. Pass: after the ring is Ready and has soaked. */
  readonly when: 'Open' | 'Pass'
  readonly bundleReady?: { readonly bundle: string }
  readonly hours?: {
    readonly zone: string
    readonly times: readonly { readonly schedule: string; readonly duration: string }[]
  }
  readonly webhook?: { readonly url: string; readonly credentials?: string }
  readonly metric?: MetricGate
}

/** What a webhook or a metric answered; `askedAt` is when the hub began to ask, in milliseconds since 1970. */
export type GateAnswer = { readonly askedAt: number } & (
  | { readonly kind: 'Said'; readonly allowed: boolean; readonly message: string }
  | { readonly kind: 'Series'; readonly answer: MetricSeries }
  | { readonly kind: 'Unreachable'; readonly message: string }
)

/** How another bundle stands. */
export interface BundleReadiness {
  readonly isReady: boolean
  readonly message: string
}

/** What gates are judged from. */
export interface GateFacts {
  readonly now: number
  /** Since when it is these gates' turn; an older answer was about something else. */
  readonly since: number
  answerOf(gate: string): GateAnswer | undefined
  standingOf(bundle: string): BundleReadiness | undefined
}

/** What is written down about a gate. */
export interface GateRecord {
  readonly name: string
  readonly state: 'Passed' | 'Waiting' | 'Refused' | 'Unknown'
  /** RFC 3339; since when it says so. */
  readonly since: string
  readonly message: string
}

/** Something to ask the world; a metric for the time from `startMs` to `endMs`. */
export interface GateQuery {
  readonly gate: GateSpec
  readonly window?: { readonly startMs: number; readonly endMs: number; readonly stepMs: number }
}

/** What the gates of a ring say together. */
export interface GatesVerdict {
  readonly isPassed: boolean
  readonly records: readonly GateRecord[]
  /** What to ask now. */
  readonly asks: readonly GateQuery[]
  /** Milliseconds since 1970 at which to look again. */
  readonly until?: number
  /** Why not; absent when they pass. */
  readonly hold?: Hold
}

/** How often a webhook or metric is asked, and how old an answer may be that lets a ring pass. */
export const ASK_EVERY_MS = 30_000
const FRESH_MS = 75_000
// Enough points for a picture of the time, few enough for any server.
const LEAST_STEP_MS = 15_000
const MOST_STEPS = 120
// What others say is theirs; how much of it is kept is ours.
const LONGEST_MESSAGE = 900

interface Judged {
  readonly state: GateRecord['state']
  readonly message: string
  readonly releasedBy: string
  readonly ask?: GateQuery
  readonly until?: number
}

/** Judges the gates of a ring at one moment. */
export function judgeGates(
  ring: string,
  gates: readonly GateSpec[],
  recorded: readonly GateRecord[],
  facts: GateFacts,
): GatesVerdict {
  const judged = gates.map((gate) => {
    const one = judgeGate(gate, facts)
    return { ...one, gate, message: one.message.slice(0, LONGEST_MESSAGE) }
  })
  const isPassed = judged.every(({ state }) => state === 'Passed')
  const records = judged.map(({ gate, state, message }): GateRecord => {
    const known = recorded.find(({ name }) => name === gate.name)
    if (known?.state !== state) return { name: gate.name, state, since: formatTime(facts.now), message }
    // What lets the ring pass is said as it is; while it waits, samples that come and go write nothing.
    return gate.metric && !isPassed ? known : { ...known, message }
  })
  const asks = judged.flatMap(({ ask }) => (ask ? [ask] : []))
  const times = judged.flatMap(({ until }) => (until === undefined ? [] : [until]))
  const at = judged.findIndex(({ state }) => state !== 'Passed')
  const first = judged[at]
  return {
    isPassed,
    records,
    asks,
    ...(times.length > 0 ? { until: Math.min(...times) } : {}),
    ...(first ? { hold: gateHold(ring, first, records[at]!) } : {}),
  }
}

function gateHold(ring: string, { gate, releasedBy }: Judged & { gate: GateSpec }, record: GateRecord): Hold {
  const what = gate.when === 'Open' ? `Ring ${ring} waits to open` : `Ring ${ring} is Ready and waits`
  const said = `${what} for gate ${gate.name}: ${record.message.replace(/\.?$/, '.')}`
  return holdOf('GatePending', said, releasedBy, parseTime(record.since))
}

function judgeGate(gate: GateSpec, facts: GateFacts): Judged {
  if (gate.bundleReady) return judgeBundle(gate.bundleReady.bundle, facts)
  if (gate.hours) return judgeHours(gate, facts)
  if (gate.webhook) return judgeWebhook(gate, gate.webhook.url, facts)
  if (gate.metric) return judgeMetric(gate, gate.metric, facts)
  return { state: 'Unknown', message: 'it says nothing to look at', releasedBy: 'a RolloutPlan whose gate says what' }
}

function judgeBundle(bundle: string, facts: GateFacts): Judged {
  const standing = facts.standingOf(bundle)
  const releasedBy = `Bundle ${bundle} being rolled out completely`
  if (!standing) return { state: 'Unknown', message: `there is no Bundle ${bundle} beside it`, releasedBy }
  return { state: standing.isReady ? 'Passed' : 'Waiting', message: standing.message, releasedBy }
}

function judgeHours({ name, hours }: GateSpec, { now }: GateFacts): Judged {
  const { zone, times } = hours!
  const problem = isTimeZone(zone) ? windowProblem({ name, kind: 'Open', zone, spans: times }) : `no time zone ${zone}`
  if (problem !== undefined) {
    return { state: 'Unknown', message: problem, releasedBy: 'a RolloutPlan whose hours can be read' }
  }
  const spans = times.map((span) => spanAt(span, zone, now))
  const within = spans.flatMap((span) => (span.isIn ? [span.untilMs] : []))
  if (within.length > 0) {
    const message = `staffed until ${formatTime(Math.max(...within))}`
    return { state: 'Passed', message, releasedBy: 'time' }
  }
  const nexts = spans.flatMap((span) => (!span.isIn && span.nextMs !== undefined ? [span.nextMs] : []))
  if (nexts.length === 0) {
    const message = 'its hours never come again'
    return { state: 'Unknown', message, releasedBy: 'a RolloutPlan with hours that come' }
  }
  const next = Math.min(...nexts)
  return {
    state: 'Waiting',
    message: `nobody is there before ${formatTime(next)}`,
    releasedBy: `time: ${formatTime(next)}`,
    until: next,
  }
}

function judgeWebhook(gate: GateSpec, url: string, facts: GateFacts): Judged {
  const host = hostOf(url)
  const releasedBy = `a yes of ${host}, which is asked every ${formatDuration(ASK_EVERY_MS)}`
  return judgeAnswer({ gate }, facts, {
    releasedBy,
    asking: `${host} is being asked`,
    read: (answer) =>
      answer.kind === 'Said'
        ? { state: answer.allowed ? 'Passed' : 'Refused', message: saidBy(host, answer) }
        : undefined,
  })
}

function saidBy(host: string, { allowed, message }: { readonly allowed: boolean; readonly message: string }): string {
  return `${host} says ${allowed ? 'yes' : 'no'}${message === '' ? '' : `: ${message}`}`
}

function judgeMetric(gate: GateSpec, metric: MetricGate, facts: GateFacts): Judged {
  const durationMs = parseDuration(metric.duration)
  if (durationMs === undefined || durationMs <= 0) {
    const message = `${JSON.stringify(metric.duration)} is no duration`
    return { state: 'Unknown', message, releasedBy: 'a RolloutPlan with a duration such as 10m' }
  }
  const bounds = boundsText(metric)
  const releasedBy = `the metric being ${bounds} for ${metric.duration}, without a gap`
  // Before the ring was Ready the metric was about something else.
  const earliest = gate.when === 'Open' ? facts.now : facts.since + durationMs
  if (facts.now < earliest) {
    const message = `the metric must be ${bounds} for ${metric.duration}, until ${formatTime(earliest)} at least`
    return { state: 'Waiting', message, releasedBy, until: earliest }
  }
  const stepMs = Math.max(LEAST_STEP_MS, Math.ceil(durationMs / MOST_STEPS / 1000) * 1000)
  const steps = Math.max(1, Math.floor(durationMs / stepMs))
  const window = { startMs: facts.now - steps * stepMs, endMs: facts.now, stepMs }
  return judgeAnswer({ gate, window }, facts, {
    releasedBy,
    asking: `${hostOf(metric.url)} is being asked`,
    read: (answer) => {
      if (answer.kind !== 'Series') return undefined
      const covers = answer.answer.endMs - answer.answer.startMs >= steps * stepMs
      // An answer for less time than asked for now (the plan changed meanwhile) proves less.
      return covers ? judgeSeries(metric, answer.answer) : undefined
    },
  })
}

interface Reading {
  readonly releasedBy: string
  readonly asking: string
  read(answer: GateAnswer): Pick<Judged, 'state' | 'message'> | undefined
}

function judgeAnswer(ask: GateQuery, { now, since, answerOf }: GateFacts, reading: Reading): Judged {
  const { releasedBy } = reading
  const answer = answerOf(ask.gate.name)
  const isDue = !answer || now - answer.askedAt >= ASK_EVERY_MS || answer.askedAt < since
  const again = { ...(isDue ? { ask } : {}), until: isDue ? now + ASK_EVERY_MS : answer.askedAt + ASK_EVERY_MS }
  if (!answer || answer.askedAt < since || now - answer.askedAt > FRESH_MS) {
    return { state: 'Waiting', message: reading.asking, releasedBy, ...again }
  }
  const read = reading.read(answer)
  if (read) return { ...read, releasedBy, ...again }
  const message =
    answer.kind === 'Unreachable' ? `it cannot be asked: ${answer.message}` : 'its answer is none to the question'
  return {
    state: 'Unknown',
    message,
    releasedBy: `an answer; it is asked every ${formatDuration(ASK_EVERY_MS)}`,
    ...again,
  }
}

function boundsText({ min, max }: MetricGate): string {
  if (min !== undefined && max !== undefined) return `between ${min} and ${max}`
  return min === undefined ? `at most ${max ?? 'anything'}` : `at least ${min}`
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url
}
