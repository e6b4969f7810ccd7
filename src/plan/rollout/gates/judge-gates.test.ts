import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASK_EVERY_MS, judgeGates } from './judge-gates.ts'
import type { BundleReadiness, GateAnswer, GateSpec, GatesVerdict } from './judge-gates.ts'
import { holdSentence } from '../holds.ts'
import { judgeSeries } from './metric-gate.ts'
import type { MetricSeries } from './metric-gate.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z') // a Monday
const MINUTE = 60_000

const webhook: GateSpec = { name: 'cab', when: 'Pass', webhook: { url: 'https://cab.example/ask?x=1' } }
const metric: GateSpec = {
  name: 'errors',
  when: 'Pass',
  metric: { url: 'https://prom.example', query: 'sum(x)', duration: '10m', max: '0.01' },
}
const hours = (schedule: string, zone = 'Europe/Berlin'): GateSpec => ({
  name: 'staffed',
  when: 'Pass',
  hours: { zone, times: [{ schedule, duration: '8h' }] },
})
const other: GateSpec = { name: 'base', when: 'Open', bundleReady: { bundle: 'base' } }

interface Known {
  readonly answer?: GateAnswer
  readonly standing?: BundleReadiness
  readonly since?: number
}

function judge(gate: GateSpec, { answer, standing, since = NOW - 20 * MINUTE }: Known = {}): GatesVerdict {
  return judgeGates('canary', [gate], [], { now: NOW, since, answerOf: () => answer, standingOf: () => standing })
}

function tell({ isPassed, hold, asks, until }: GatesVerdict): string {
  const look = until === undefined ? '' : ` again in ${(until - NOW) / 1000} s`
  return `${isPassed ? 'passed' : holdSentence(hold!)}${asks.length > 0 ? ' (asks)' : ''}${look}`
}

const series = (values: readonly number[], more: Partial<MetricSeries> = {}): MetricSeries => ({
  startMs: NOW - (values.length - 1) * 15_000,
  endMs: NOW,
  stepMs: 15_000,
  series: [values.map((value, i): [number, number] => [NOW - (values.length - 1 - i) * 15_000, value])],
  ...more,
})
const steady = Array.from({ length: 41 }, () => 0.002)

const WAIT = 'Ring "canary" is Ready and waits for gate'
const SINCE = 'Since 2026-11-16T12:00:00Z.'
const CASES: readonly (readonly [string, GateSpec, Known, string])[] = [
  [
    'another bundle that is not there',
    other,
    {},
    `Ring "canary" opens after gate "base": Bundle "base" does not exist in this namespace. ${SINCE} Waits until Bundle "base" is rolled out completely.`,
  ],
  [
    'another bundle on its way',
    other,
    { standing: { isReady: false, message: 'Rollout base-g2 is Progressing' } },
    `Ring "canary" opens after gate "base": Rollout base-g2 is Progressing. ${SINCE} Waits until Bundle "base" is rolled out completely.`,
  ],
  ['another bundle that is rolled out', other, { standing: { isReady: true, message: 'complete' } }, 'passed'],
  ['within staffed hours, on the wall of the zone', hours('0 8 * * 1-5'), {}, 'passed'],
  [
    'outside: until they come',
    hours('0 14 * * 1-5'),
    {},
    `${WAIT} "staffed": outside the configured hours until 2026-11-16T13:00:00Z. ${SINCE} again in 3600 s`,
  ],
  [
    'hours of no zone',
    hours('0 8 * * 1-5', 'Mars/Base'),
    {},
    `${WAIT} "staffed": unknown time zone "Mars/Base". ${SINCE} Correct the hours in the RolloutPlan.`,
  ],
  [
    'hours that cannot be read',
    hours('0 8 * * 1-9'),
    {},
    `${WAIT} "staffed": window staffed: schedule "0 8 * * 1-9": "1-9" is not a valid day of week (0 to 7). ${SINCE} Correct the hours in the RolloutPlan.`,
  ],
  [
    'hours that never come',
    hours('0 8 30 2 *'),
    {},
    `${WAIT} "staffed": the configured hours never occur again. ${SINCE} Change the hours in the RolloutPlan.`,
  ],
  [
    'no answer yet',
    webhook,
    {},
    `${WAIT} "cab": waiting for an answer of cab.example. ${SINCE} The hub asks cab.example every 30s. (asks) again in 30 s`,
  ],
  [
    'a fresh yes',
    webhook,
    { answer: { kind: 'Said', askedAt: NOW - 5000, allowed: true, message: '' } },
    'passed again in 25 s',
  ],
  [
    'a yes that is due to be asked again still counts',
    webhook,
    { answer: { kind: 'Said', askedAt: NOW - 40_000, allowed: true, message: '' } },
    'passed (asks) again in 30 s',
  ],
  [
    'a yes that is old',
    webhook,
    { answer: { kind: 'Said', askedAt: NOW - 80_000, allowed: true, message: '' } },
    `${WAIT} "cab": waiting for an answer of cab.example. ${SINCE} The hub asks cab.example every 30s. (asks) again in 30 s`,
  ],
  [
    'a yes from before it was ready',
    webhook,
    { since: NOW - 4000, answer: { kind: 'Said', askedAt: NOW - 5000, allowed: true, message: '' } },
    `${WAIT} "cab": waiting for an answer of cab.example. ${SINCE} The hub asks cab.example every 30s. (asks) again in 30 s`,
  ],
  [
    'a no',
    webhook,
    { answer: { kind: 'Said', askedAt: NOW, allowed: false, message: 'change CHG-7 is not approved' } },
    `${WAIT} "cab": cab.example refused it: change CHG-7 is not approved. ${SINCE} The hub asks cab.example every 30s. again in 30 s`,
  ],
  [
    'no connection',
    webhook,
    { answer: { kind: 'Unreachable', askedAt: NOW, message: 'connect refused' } },
    `${WAIT} "cab": the query failed: connect refused. ${SINCE} The hub asks again every 30s. again in 30 s`,
  ],
  [
    'an answer to another question',
    webhook,
    { answer: { kind: 'Series', askedAt: NOW, answer: series(steady) } },
    `${WAIT} "cab": unexpected response: want {"allowed": true or false}. ${SINCE} The hub asks again every 30s. again in 30 s`,
  ],
  [
    'a metric whose time has not passed',
    metric,
    { since: NOW - 4 * MINUTE, answer: { kind: 'Series', askedAt: NOW, answer: series(steady) } },
    `${WAIT} "errors": the metric must be at most 0.01 for 10m, at least until 2026-11-16T12:06:00Z. ${SINCE} again in 360 s`,
  ],
  [
    'a metric that held',
    metric,
    { answer: { kind: 'Series', askedAt: NOW, answer: series(steady) } },
    'passed again in 30 s',
  ],
  [
    'an answer for less time',
    metric,
    { answer: { kind: 'Series', askedAt: NOW, answer: series(steady.slice(1)) } },
    `${WAIT} "errors": the response covers less time than the query. ${SINCE} The hub asks again every 30s. again in 30 s`,
  ],
]

for (const [title, gate, known, expected] of CASES) {
  test(`gates: ${title}`, () => assert.equal(tell(judge(gate, known)), expected))
}

test('a metric is asked for exactly its duration, in at most 121 samples', () => {
  const [ask] = judge(metric).asks
  assert.deepEqual(ask?.window, { startMs: NOW - 10 * MINUTE, endMs: NOW, stepMs: 15_000 })
  const long = { ...metric, metric: { ...metric.metric!, duration: '24h' } }
  const [wide] = judge(long, { since: NOW - 30 * 60 * MINUTE }).asks
  assert.deepEqual(wide?.window, { startMs: NOW - 24 * 60 * MINUTE, endMs: NOW, stepMs: 720_000 })
})

test('a metric: every series at every step; missing data and NaN are no success', () => {
  const say = (
    values: readonly number[],
    more: Partial<MetricSeries> = {},
    bounds: { min?: string; max?: string } = { max: '1' },
  ) => {
    const { state, message } = judgeSeries({ url: '', query: '', duration: '10m', ...bounds }, series(values, more))
    return `${state}: ${message}`
  }
  assert.equal(
    say([0, 1, 0.5]),
    'Passed: the metric was never above 1 from 2026-11-16T11:59:30Z to 2026-11-16T12:00:00Z; 1 at worst',
  )
  assert.equal(say([0, 1.01, 0]), 'Refused: the metric was 1.01 at 2026-11-16T11:59:45Z, above 1')
  assert.equal(say([5, 4], {}, { min: '5' }), 'Refused: the metric was 4 at 2026-11-16T12:00:00Z, below 5')
  assert.equal(say([0, Number.NaN]), 'Unknown: the metric is not a number at 2026-11-16T12:00:00Z')
  assert.equal(say([0, Infinity]), 'Refused: the metric was Infinity at 2026-11-16T12:00:00Z, above 1')
  assert.equal(say([0], { series: [] }), 'Unknown: the query returned no data, which does not count as success')
  assert.equal(
    say([0], { series: [[]] }),
    'Unknown: the metric has no value at 2026-11-16T12:00:00Z, which does not count as success',
  )
  const gap: [number, number][] = [
    [NOW - 30_000, 0],
    [NOW, 0],
  ]
  assert.equal(
    say([0, 0, 0], { series: [series([0, 0, 0]).series[0]!, gap] }),
    'Unknown: the metric of one of its 2 series has no value at 2026-11-16T11:59:45Z, which does not count as success',
  )
})

test('all gates must pass at one moment; a metric that waits writes nothing new, what passes is said as it is', () => {
  const refuse: GateAnswer = { kind: 'Series', askedAt: NOW, answer: series([...steady.slice(1), 0.5]) }
  const ask = (answers: Record<string, GateAnswer>, recorded: GatesVerdict['records'], now = NOW) =>
    judgeGates('canary', [webhook, metric], recorded, {
      now,
      since: NOW - 20 * MINUTE,
      answerOf: (name) => answers[name],
      standingOf: () => undefined,
    })
  const yes: GateAnswer = { kind: 'Said', askedAt: NOW, allowed: true, message: '' }
  const first = ask({ cab: yes, errors: refuse }, [])
  assert.deepEqual(
    first.records.map(({ name, state }) => `${name} ${state}`),
    ['cab Passed', 'errors Refused'],
  )
  const worse: GateAnswer = { ...refuse, askedAt: NOW + ASK_EVERY_MS, answer: series([...steady.slice(1), 0.9]) }
  const second = ask({ cab: yes, errors: worse }, first.records, NOW + ASK_EVERY_MS)
  assert.deepEqual(second.records, first.records)
  const passes: GateAnswer = { kind: 'Series', askedAt: NOW, answer: series(steady) }
  const third = ask({ cab: yes, errors: passes }, first.records)
  assert.equal(third.isPassed, true)
  assert.match(third.records[1]!.message, /0\.002 at worst/)
  const gone = ask({ cab: { ...yes, allowed: false }, errors: passes }, third.records)
  assert.equal(gone.isPassed, false, 'a yes that was taken back is none')
})
