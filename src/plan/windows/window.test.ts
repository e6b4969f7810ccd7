import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseTime } from '../../core/time/time.ts'
import { parseCron } from './cron.ts'
import { catchUpHold, decideWindows, spanAt, strictest, windowProblem } from './window.ts'
import type { TimeSpan, WindowRule } from './window.ts'

const at = (text: string) => parseTime(text)!
const shown = (span: TimeSpan, zone: string, now: string) => {
  const state = spanAt(span, zone, at(now))
  const text = (ms: number | undefined) =>
    ms === undefined ? 'never' : `${Temporal.Instant.fromEpochMilliseconds(ms).toString().slice(0, 16)}Z`
  return state.isIn ? `in ${text(state.sinceMs)} ${text(state.untilMs)}` : `next ${text(state.nextMs)}`
}
const night = { schedule: '0 2 * * *', duration: '4h' }
const BERLIN = 'Europe/Berlin'

describe('spans of time', () => {
  const cases: [string, TimeSpan, string, string, string][] = [
    ['within', night, BERLIN, '2026-01-10T02:00:00Z', 'in 2026-01-10T01:00Z 2026-01-10T05:00Z'],
    ['at its very beginning', night, BERLIN, '2026-01-10T01:00:00Z', 'in 2026-01-10T01:00Z 2026-01-10T05:00Z'],
    ['at its end', night, BERLIN, '2026-01-10T05:00:00Z', 'next 2026-01-11T01:00Z'],
    ['in summer the same hour is another moment', night, BERLIN, '2026-07-10T05:00:00Z', 'next 2026-07-11T00:00Z'],
    [
      'clocks go forward over its beginning: the next moment',
      night,
      BERLIN,
      '2026-03-29T00:59:00Z',
      'next 2026-03-29T01:00Z',
    ],
    ['and it lasts as long as ever', night, BERLIN, '2026-03-29T04:59:00Z', 'in 2026-03-29T01:00Z 2026-03-29T05:00Z'],
    [
      'clocks go back through its beginning: the first time only',
      night,
      BERLIN,
      '2026-10-25T00:30:00Z',
      'in 2026-10-25T00:00Z 2026-10-25T04:00Z',
    ],
    ['not a second time', { ...night, duration: '30m' }, BERLIN, '2026-10-25T01:10:00Z', 'next 2026-10-26T01:00Z'],
    [
      'over midnight',
      { schedule: '0 22 * * fri', duration: '10h' },
      'UTC',
      '2026-11-21T03:00:00Z',
      'in 2026-11-20T22:00Z 2026-11-21T08:00Z',
    ],
    [
      'longer than a day',
      { schedule: '0 18 * * 5', duration: '60h' },
      'UTC',
      '2026-11-23T05:00:00Z',
      'in 2026-11-20T18:00Z 2026-11-23T06:00Z',
    ],
    [
      'by name and list',
      { schedule: '30 1 1,15 JAN-mar ?', duration: '1h' },
      'UTC',
      '2026-03-16T00:00:00Z',
      'next 2027-01-01T01:30Z',
    ],
    [
      'either day counts when both are given',
      { schedule: '0 0 13 * fri', duration: '1h' },
      'UTC',
      '2026-11-17T00:00:00Z',
      'next 2026-11-20T00:00Z',
    ],
    [
      'a day that comes every four years',
      { schedule: '0 0 29 2 *', duration: '1h' },
      'UTC',
      '2026-01-01T00:00:00Z',
      'next 2028-02-29T00:00Z',
    ],
    ['a day that never comes', { schedule: '0 0 31 2 *', duration: '1h' }, 'UTC', '2026-01-01T00:00:00Z', 'next never'],
    [
      'without a pause it is one',
      { schedule: '0 * * * *', duration: '1h' },
      'UTC',
      '2026-01-01T10:30:00Z',
      'in 2025-12-30T00:00Z 2026-01-01T11:00Z',
    ],
    [
      'half past hours of a zone',
      { schedule: '0 9 * * *', duration: '1h' },
      'Asia/Kolkata',
      '2026-01-01T00:00:00Z',
      'next 2026-01-01T03:30Z',
    ],
    [
      'once',
      { from: '2026-11-20T00:00:00+01:00', until: '2026-12-01T06:00:00+01:00' },
      BERLIN,
      '2026-11-25T00:00:00Z',
      'in 2026-11-19T23:00Z 2026-12-01T05:00Z',
    ],
    [
      'once, before',
      { from: '2026-11-20T00:00:00Z', until: '2026-12-01T06:00:00Z' },
      BERLIN,
      '2026-11-01T00:00:00Z',
      'next 2026-11-20T00:00Z',
    ],
    [
      'once, after',
      { from: '2026-11-20T00:00:00Z', until: '2026-12-01T06:00:00Z' },
      BERLIN,
      '2027-11-01T00:00:00Z',
      'next never',
    ],
  ]
  for (const [name, span, zone, now, expected] of cases) {
    it(`${name}: ${expected}`, () => assert.equal(shown(span, zone, now), expected))
  }

  it('agree with themselves: what begins next is in at that moment, and not the moment before', () => {
    const zones = fc.constantFrom(
      'UTC',
      BERLIN,
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'Africa/Casablanca',
    )
    const schedules = fc.constantFrom('0 2 * * *', '30 1 * * sun', '15 3 1 * *', '59 23 * * 1-5')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 * 365 * 24 }), zones, schedules, (hours, zone, schedule) => {
        const now = at('2024-01-01T00:00:00Z') + hours * 3_600_000
        const span = { schedule, duration: '45m' }
        const state = spanAt(span, zone, now)
        const next = state.isIn ? state.sinceMs : state.nextMs!
        assert.ok(spanAt(span, zone, next).isIn)
        assert.ok(!spanAt(span, zone, next - 1).isIn)
        assert.ok(!spanAt(span, zone, next + 45 * 60_000).isIn)
      }),
      { numRuns: 100 },
    )
  })
})

describe('schedules', () => {
  const wrong: [string, RegExp][] = [
    ['0 2 * *', /has 4 fields; want minute, hour/],
    ['60 2 * * *', /"60" is not a valid minute \(0 to 59\)/],
    ['0 2 * * mun', /"mun" is not a valid day of week/],
    ['0 5-2 * * *', /"5-2" is not a valid hour/],
    ['*/0 * * * *', /is not a valid minute/],
    ['0 2 * * 1-2-3', /is not a valid day of week/],
  ]
  for (const [text, expected] of wrong) {
    it(`refuse ${text}`, () => {
      const read = parseCron(text)
      assert.match(read.ok ? '' : read.problem, expected)
    })
  }
  it('know steps, Sunday twice, and short forms', () => {
    const read = (text: string) => {
      const cron = parseCron(text)
      assert.ok(cron.ok)
      return cron.cron
    }
    assert.deepEqual(read('*/15 8-18/5 * * *').minutes, [0, 15, 30, 45])
    assert.deepEqual(read('5/20 8-18/5 * * *').hours, [8, 13, 18])
    assert.deepEqual(read('5/20 * * * *').minutes, [5, 25, 45])
    for (const sunday of ['0', '7', 'sun'])
      assert.ok(read(`0 0 * * ${sunday}`).matchesDay({ month: 1, day: 1, weekday: 0 }))
    assert.deepEqual([read('@daily').hours, read('@hourly').hours.length], [[0], 24])
  })
})

describe('windows', () => {
  const open: WindowRule = { name: 'nights', kind: 'Open', zone: 'UTC', spans: [night] }
  const other: WindowRule = {
    name: 'sundays',
    kind: 'Open',
    zone: 'UTC',
    spans: [{ schedule: '0 0 * * sun', duration: '24h' }],
  }
  const freeze: WindowRule = {
    name: 'season',
    kind: 'Freeze',
    zone: 'UTC',
    spans: [{ from: '2026-11-20T00:00:00Z', until: '2026-12-01T00:00:00Z' }],
    bundles: ['shop/*'],
  }
  const cases: [string, WindowRule[], string | undefined, string][] = [
    ['none', [], '2026-01-01T00:00:00Z', 'Open'],
    ['none, and no time', [], undefined, 'Open'],
    ['open', [open], '2026-01-01T03:00:00Z', 'Open'],
    ['closed', [open], '2026-01-01T12:00:00Z', 'window "nights" is closed and opens at 2026-01-02T02:00:00Z'],
    [
      'the tighter wins',
      [open, other],
      '2026-01-01T03:00:00Z',
      'window "sundays" is closed and opens at 2026-01-04T00:00:00Z',
    ],
    ['both open', [open, other], '2026-01-04T03:00:00Z', 'Open'],
    [
      'a freeze beats a window',
      [open, freeze],
      '2026-11-25T03:00:00Z',
      'freeze "season" lasts until 2026-12-01T00:00:00Z',
    ],
    ['a freeze that is over', [open, freeze], '2026-12-02T03:00:00Z', 'Open'],
    [
      'a time that is not known',
      [freeze],
      undefined,
      'the time is not known for certain, so freeze "season" counts as closed',
    ],
    ['a freeze for others', [{ ...freeze, bundles: ['infra/*'] }], '2026-11-25T03:00:00Z', 'Open'],
  ]
  for (const [name, rules, now, expected] of cases) {
    it(`${name}: ${expected}`, () => {
      const decision = decideWindows(
        rules,
        { bundle: 'shop/app', generation: 3 },
        now === undefined ? undefined : at(now),
      )
      assert.equal(decision.kind === 'Closed' ? decision.message : 'Open', expected)
    })
  }

  it('that cannot be read are named', () => {
    assert.equal(windowProblem(open), undefined)
    assert.match(windowProblem({ ...open, zone: 'Berlin' }) ?? '', /window nights: "Berlin" is not a time zone/)
    assert.match(windowProblem({ ...open, zone: '+02:00' }) ?? '', /not a time zone/)
    assert.match(windowProblem({ ...open, spans: [] }) ?? '', /has no times/)
    assert.match(windowProblem({ ...open, spans: [{ schedule: '0 2 * * *', duration: '4 hours' }] }) ?? '', /"4 hours"/)
    assert.match(
      windowProblem({ ...freeze, spans: [{ from: '2026-11-20T00:00:00Z', until: '2026-11-20T00:00:00Z' }] }) ?? '',
      /must be later than/,
    )
  })
})

describe('catching up', () => {
  const hour = 3_600_000
  const facts = { policy: 'NextWindow' as const, issuedMs: 0, receivedMs: 5 * hour, openSinceMs: undefined }
  it('is as strict as the strictest of what was missed', () => {
    assert.equal(strictest([]), 'Immediate')
    assert.equal(strictest(['Immediate', undefined]), 'Immediate')
    assert.equal(strictest(['NextWindow', 'Hold', 'Immediate']), 'Hold')
  })
  it('holds only what came while the cluster was away', () => {
    assert.equal(catchUpHold({ ...facts, policy: 'Immediate' }), undefined)
    assert.match(catchUpHold({ ...facts, policy: 'Hold' }) ?? '', /catchUp is Hold/)
    assert.equal(catchUpHold({ ...facts, policy: 'Hold', receivedMs: 60_000 }), undefined)
    assert.equal(catchUpHold(facts), undefined, 'no windows to wait for')
    assert.match(catchUpHold({ ...facts, openSinceMs: 4 * hour }) ?? '', /next window/)
    assert.equal(catchUpHold({ ...facts, openSinceMs: 6 * hour }), undefined)
  })
})
