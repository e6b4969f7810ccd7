/**
 * Gates: checks that must pass before a ring opens, or before it passes.
 *
 * Gates with hours or another bundle are decided from facts of the hub. The hub queries webhooks and metrics; their
 * answers are inputs, with the time of the query. An answer counts only when it is fresh and newer than the ring's
 * turn, and all gates must pass at the same moment. A gate that cannot be queried, or has no data, does not pass.
 *
 * The Rollout records the verdicts together with the ring's opening or exit, before a cluster of the next ring is
 * admitted (I-04). A message is kept while its verdict stays, so that waiting causes no writes.
 */
import { compact } from '../../../core/compact.ts'
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import { formatTime, isTimeZone, parseTime } from '../../../core/time/time.ts'
import type { DeepReadonly } from '../../../core/deep-readonly.ts'
import type { GateChecks, GateKind } from '../../../kinds/fields/ring-gates.ts'
import { endSentence, holdOf } from '../holds.ts'
import type { Hold } from '../holds.ts'
import { judgeSeries } from './metric-gate.ts'
import type { MetricGate, MetricSeries } from './metric-gate.ts'
import { spanAt, windowProblem } from '../../windows/window.ts'

/** A gate of a ring; the API accepts exactly one check. */
export interface GateSpec extends DeepReadonly<Partial<GateChecks>> {
  readonly name: string
  /** Open: before a cluster of the ring is admitted. Pass: after the ring is Ready and has soaked. */
  readonly when: 'Open' | 'Pass'
}

/** The answer of a webhook or a metric; `askedAt` is the start of the query in milliseconds since 1970. */
export type GateAnswer = { readonly askedAt: number } & (
  | { readonly kind: 'Said'; readonly allowed: boolean; readonly message: string }
  | { readonly kind: 'Series'; readonly answer: MetricSeries }
  | { readonly kind: 'Unreachable'; readonly message: string }
)

/** Whether another bundle is rolled out completely. */
export interface BundleReadiness {
  readonly isReady: boolean
  readonly message: string
}

/** Inputs of `judgeGates`. */
export interface GateFacts {
  readonly now: number
  /** Start of the gates' turn; older answers do not count. */
  readonly since: number
  answerOf(gate: string): GateAnswer | undefined
  standingOf(bundle: string): BundleReadiness | undefined
}

/** The recorded verdict of a gate. */
export interface GateRecord {
  readonly name: string
  readonly state: 'Passed' | 'Waiting' | 'Refused' | 'Unknown'
  /** RFC 3339; start of this verdict. */
  readonly since: string
  readonly message: string
}

/** A query to send; for a metric with its range of time. */
export interface GateQuery {
  readonly gate: GateSpec
  readonly window?: { readonly startMs: number; readonly endMs: number; readonly stepMs: number }
}

/** The verdict of all gates of a ring. */
export interface GatesVerdict {
  readonly isPassed: boolean
  readonly records: readonly GateRecord[]
  /** Queries to send now. */
  readonly asks: readonly GateQuery[]
  /** Time of the next pass in milliseconds since 1970. */
  readonly until?: number
  /** Absent when all gates pass. */
  readonly hold?: Hold
}

/** Interval of the queries of a webhook or metric. */
export const ASK_EVERY_MS = 30_000
/** Maximum age of an answer that lets a ring pass. */
const FRESH_MS = 75_000
// At most 121 samples, at least 15 s apart.
const LEAST_STEP_MS = 15_000
const MOST_STEPS = 120
// Webhooks can answer with long messages; the record is limited.
const LONGEST_MESSAGE = 900

interface Judged {
  readonly state: GateRecord['state']
  readonly message: string
  /** A sentence that says what ends the wait; absent where the message says it. */
  readonly next?: string
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
    // A passing verdict is recorded with its samples; while the ring waits, new samples cause no write.
    return gate.metric && !isPassed ? known : { ...known, message }
  })
  const asks = judged.flatMap(({ ask }) => (ask ? [ask] : []))
  const times = judged.flatMap(({ until }) => (until === undefined ? [] : [until]))
  const at = judged.findIndex(({ state }) => state !== 'Passed')
  const first = judged[at]
  return compact({
    isPassed,
    records,
    asks,
    until: times.length > 0 ? Math.min(...times) : undefined,
    hold: first ? gateHold(ring, first, records[at]!) : undefined,
  })
}

function gateHold(ring: string, { gate, next }: Judged & { gate: GateSpec }, record: GateRecord): Hold {
  const what = gate.when === 'Open' ? `Ring "${ring}" opens after` : `Ring "${ring}" is Ready and waits for`
  const message = `${what} gate "${gate.name}": ${endSentence(record.message)}`
  return holdOf('GatePending', message, next, parseTime(record.since))
}

/** A judge for each kind of gate: a kind of `kinds/fields/ring-gates.ts` without a judge does not compile. */
const JUDGES: { readonly [kind in GateKind]: (gate: GateSpec, facts: GateFacts) => Judged | undefined } = {
  bundleReady: (gate, facts) => gate.bundleReady && judgeBundle(gate.bundleReady, facts),
  hours: (gate, facts) => gate.hours && judgeHours(gate.name, gate.hours, facts),
  webhook: (gate, facts) => gate.webhook && judgeWebhook(gate, gate.webhook, facts),
  metric: (gate, facts) => gate.metric && judgeMetric(gate, gate.metric, facts),
}

function judgeGate(gate: GateSpec, facts: GateFacts): Judged {
  for (const judge of Object.values(JUDGES)) {
    const judged = judge(gate, facts)
    if (judged) return judged
  }
  return { state: 'Unknown', message: 'the gate has no check', next: 'Configure a check in the RolloutPlan.' }
}

function judgeBundle({ bundle }: { readonly bundle: string }, facts: GateFacts): Judged {
  const readiness = facts.standingOf(bundle)
  const next = `Waits until Bundle "${bundle}" is rolled out completely.`
  if (!readiness) return { state: 'Unknown', message: `Bundle "${bundle}" does not exist in this namespace`, next }
  return { state: readiness.isReady ? 'Passed' : 'Waiting', message: readiness.message, next }
}

function judgeHours(name: string, { zone, times }: DeepReadonly<GateChecks['hours']>, { now }: GateFacts): Judged {
  const problem = isTimeZone(zone)
    ? windowProblem({ name, kind: 'Open', zone, spans: times })
    : `unknown time zone "${zone}"`
  if (problem !== undefined) {
    return { state: 'Unknown', message: problem, next: 'Correct the hours in the RolloutPlan.' }
  }
  const spans = times.map((span) => spanAt(span, zone, now))
  const within = spans.flatMap((span) => (span.isIn ? [span.untilMs] : []))
  if (within.length > 0) {
    return { state: 'Passed', message: `within the configured hours until ${formatTime(Math.max(...within))}` }
  }
  const nexts = spans.flatMap((span) => (!span.isIn && span.nextMs !== undefined ? [span.nextMs] : []))
  if (nexts.length === 0) {
    const message = 'the configured hours never occur again'
    return { state: 'Unknown', message, next: 'Change the hours in the RolloutPlan.' }
  }
  const next = Math.min(...nexts)
  return { state: 'Waiting', message: `outside the configured hours until ${formatTime(next)}`, until: next }
}

function judgeWebhook(gate: GateSpec, { url }: { readonly url: string }, facts: GateFacts): Judged {
  const host = hostOf(url)
  return judgeAnswer({ gate }, facts, {
    next: `The hub asks ${host} every ${formatDuration(ASK_EVERY_MS)}.`,
    asking: `waiting for an answer of ${host}`,
    unexpected: 'unexpected response: want {"allowed": true or false}',
    read: (answer) =>
      answer.kind === 'Said'
        ? { state: answer.allowed ? 'Passed' : 'Refused', message: describeAnswer(host, answer) }
        : undefined,
  })
}

function describeAnswer(
  host: string,
  { allowed, message }: { readonly allowed: boolean; readonly message: string },
): string {
  return `${host} ${allowed ? 'allowed' : 'refused'} it${message === '' ? '' : `: ${message}`}`
}

function judgeMetric(gate: GateSpec, metric: MetricGate, facts: GateFacts): Judged {
  const durationMs = parseDuration(metric.duration)
  if (durationMs === undefined || durationMs <= 0) {
    const message = `${JSON.stringify(metric.duration)} is not a duration`
    return { state: 'Unknown', message, next: 'Set a duration such as 10m in the RolloutPlan.' }
  }
  const bounds = boundsText(metric)
  const next = `The metric must be ${bounds} for ${metric.duration} without a gap.`
  // Samples from before the ring was Ready do not count.
  const earliest = gate.when === 'Open' ? facts.now : facts.since + durationMs
  if (facts.now < earliest) {
    const message = `the metric must be ${bounds} for ${metric.duration}, at least until ${formatTime(earliest)}`
    return { state: 'Waiting', message, until: earliest }
  }
  const stepMs = Math.max(LEAST_STEP_MS, Math.ceil(durationMs / MOST_STEPS / 1000) * 1000)
  const steps = Math.max(1, Math.floor(durationMs / stepMs))
  const window = { startMs: facts.now - steps * stepMs, endMs: facts.now, stepMs }
  return judgeAnswer({ gate, window }, facts, {
    next,
    asking: `waiting for an answer of ${hostOf(metric.url)}`,
    unexpected: 'the response covers less time than the query',
    read: (answer) => {
      if (answer.kind !== 'Series') return undefined
      const covers = answer.answer.endMs - answer.answer.startMs >= steps * stepMs
      // An answer for less time than the present query (the plan changed meanwhile) proves less.
      return covers ? judgeSeries(metric, answer.answer) : undefined
    },
  })
}

interface Reading {
  readonly next: string
  /** The message while the first answer is missing. */
  readonly asking: string
  /** The message for an answer that `read` does not accept. */
  readonly unexpected: string
  read(answer: GateAnswer): Pick<Judged, 'state' | 'message'> | undefined
}

function judgeAnswer(ask: GateQuery, { now, since, answerOf }: GateFacts, reading: Reading): Judged {
  const { next } = reading
  const answer = answerOf(ask.gate.name)
  const isDue = !answer || now - answer.askedAt >= ASK_EVERY_MS || answer.askedAt < since
  const again = compact({
    ask: isDue ? ask : undefined,
    until: isDue ? now + ASK_EVERY_MS : answer.askedAt + ASK_EVERY_MS,
  })
  if (!answer || answer.askedAt < since || now - answer.askedAt > FRESH_MS) {
    return { state: 'Waiting', message: reading.asking, next, ...again }
  }
  const read = reading.read(answer)
  if (read) return { ...read, next, ...again }
  const message = answer.kind === 'Unreachable' ? `the query failed: ${answer.message}` : reading.unexpected
  return { state: 'Unknown', message, next: `The hub asks again every ${formatDuration(ASK_EVERY_MS)}.`, ...again }
}

function boundsText({ min, max }: MetricGate): string {
  if (min !== undefined && max !== undefined) return `between ${min} and ${max}`
  return min === undefined ? `at most ${max ?? 'infinity'}` : `at least ${min}`
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url
}
