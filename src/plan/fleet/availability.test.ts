import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgeAvailability } from './availability.ts'
import type { Availability, AvailabilityFacts, GatewayView } from './availability.ts'

const minutes = (n: number) => n * 60_000
const facts = (views: GatewayView[], extra: Partial<AvailabilityFacts> = {}): AvailabilityFacts => ({
  offlineAfterMs: minutes(2),
  freshWithinMs: 30_000,
  views,
  ...extra,
})
const view = (ageMs: number | undefined, continuityMs = minutes(600), sinceObservedMs = 5000): GatewayView => ({
  continuityMs,
  sinceObservedMs,
  ...(ageMs === undefined ? {} : { ageMs }),
})

test('verdicts', () => {
  const table: [string, AvailabilityFacts, Availability['state'], Availability['reason']][] = [
    ['heard lately', facts([view(10_000)]), 'Available', 'Seen'],
    ['one second before its deadline', facts([view(minutes(2) - 1000)]), 'Available', 'Seen'],
    ['at its deadline', facts([view(minutes(2))]), 'Offline', 'Silent'],
    ['heard by another gateway', facts([view(minutes(9)), view(1000)]), 'Available', 'Seen'],
    ['never heard, gateway young', facts([view(undefined, 1000)]), 'Unknown', 'NeverSeen'],
    ['never heard, gateway old', facts([view(undefined)]), 'Offline', 'NeverSeen'],
    ['never heard by a summary, but reported', facts([view(undefined, 1000)], { reported: true }), 'Available', 'Seen'],
    [
      'reported long ago, judged offline since',
      facts([view(undefined, 1000)], { reported: true, previous: 'Offline' }),
      'Offline',
      'NeverSeen',
    ],
    ['no summary at all', facts([]), 'Unknown', 'NoSummary'],
    ['no summary at all, known before', facts([], { previous: 'Available' }), 'Available', 'NoSummary'],
    ['gateway just started again', facts([view(undefined, 1000)], { previous: 'Available' }), 'Available', 'NeverSeen'],
    [
      'gateway was paused and says so',
      facts([view(minutes(60), 3000)], { previous: 'Available' }),
      'Available',
      'Seen',
    ],
    [
      'hub blind',
      facts([view(minutes(60), minutes(600), minutes(60))], { previous: 'Available' }),
      'Available',
      'HubBlind',
    ],
    [
      'hub blind, was offline',
      facts([view(1000, minutes(600), minutes(60))], { previous: 'Offline' }),
      'Offline',
      'HubBlind',
    ],
    [
      'its gateway died a minute ago',
      facts([view(1000, minutes(600), minutes(1)), view(undefined)]),
      'Available',
      'Seen',
    ],
    [
      'its gateway died three minutes ago',
      facts([view(1000, minutes(600), minutes(3)), view(undefined)]),
      'Offline',
      'Silent',
    ],
  ]
  for (const [name, input, state, reason] of table) {
    const verdict = judgeAvailability(input)
    assert.deepEqual([verdict.state, verdict.reason], [state, reason], name)
    assert.match(verdict.message, /\.$|hub\.$/, name)
  }
})

test('property: no cluster becomes offline while every gateway has watched for less than the tolerance (I-15)', () => {
  const views = fc.array(
    fc.record({
      continuityMs: fc.integer({ min: 0, max: minutes(2) - 1 }),
      sinceObservedMs: fc.integer({ min: 0, max: 30_000 }),
      ageMs: fc.integer({ min: 0, max: minutes(1000) }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  fc.assert(
    fc.property(views, (list) => {
      assert.notEqual(judgeAvailability(facts(list, { previous: 'Available' })).state, 'Offline')
    }),
  )
})

test('property: a hub that reads nothing new never changes its mind', () => {
  const stale = fc.record({
    continuityMs: fc.nat(),
    sinceObservedMs: fc.integer({ min: 30_001, max: minutes(10_000) }),
    ageMs: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(stale), fc.constantFrom('Available', 'Offline', 'Unknown'), (list, previous) => {
      assert.equal(judgeAvailability(facts(list, { previous })).state, previous)
    }),
  )
})
