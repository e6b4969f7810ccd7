import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { judgeReadiness, readyNeeded, ringOf, ringStates } from './rings.ts'
import { planRollout } from './plan-rollout.ts'
import type { RingSpec, RingState } from './rings.ts'
import type { RolloutAdmission, RolloutCluster } from './bundle-on-cluster.ts'
import type { RolloutDecision, RolloutFacts } from './types.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const MINUTE = 60_000
const cluster = (name: string, labels: Record<string, string> = {}, groups: string[] = []) => ({ name, labels, groups })
const canary: RingSpec = { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1 }
const rest: RingSpec = { name: 'rest', concurrency: 10 }

test('rings take by label and group first, then counts and shares by name, then what is left', () => {
  const rings: RingSpec[] = [
    { name: 'two', count: 2, concurrency: 1 },
    canary,
    { name: 'lab', group: 'lab', concurrency: 1 },
    { name: 'half', share: '50%', concurrency: 1 },
    rest,
  ]
  const fleet = [
    cluster('a', { ring: 'canary' }),
    cluster('b', {}, ['lab']),
    ...['c', 'd', 'e', 'f', 'g', 'h'].map((name) => cluster(name)),
  ]
  const states = ringStates(rings, [], fleet)
  assert.deepEqual(
    states.map(({ name, upTo }) => `${name} ${upTo ?? '-'}`),
    ['two d', 'canary -', 'lab -', 'half g', 'rest -'],
  )
  const placeOf = (one: ReturnType<typeof cluster>) => rings[ringOf(rings, states, one)]?.name ?? 'none'
  assert.deepEqual(fleet.map(placeOf).join(' '), 'canary lab two two half half half rest')
  assert.equal(placeOf(cluster('cc')), 'two', 'a newcomer falls into the ring of its name')
  assert.deepEqual(ringStates(rings, states, fleet.slice(4)), states, 'boundaries do not shift when clusters leave')
  assert.equal(ringOf([canary], [{ name: 'canary' }], cluster('z')), -1, 'in no ring')
})

test('a gate needs the share of those that can be reached, and a least number; then it soaks', () => {
  const count = { members: 10, ready: 9, failed: 0, excused: 0 }
  assert.equal(readyNeeded({ ...rest, readyShare: '85%' }, count), 9)
  assert.equal(readyNeeded(rest, { ...count, excused: 1 }), 9)
  assert.equal(readyNeeded(rest, { ...count, excused: 10 }), 1, 'all offline is not all ready')
  assert.equal(readyNeeded({ ...rest, readyShare: '0%', minReady: 20 }, count), 10)
  assert.deepEqual(judgeReadiness(rest, { name: 'rest' }, count, NOW), { kind: 'Short', need: 10 })
  const full = { ...count, ready: 10 }
  assert.deepEqual(judgeReadiness(rest, { name: 'rest' }, full, NOW), { kind: 'Open' })
  const soaking = judgeReadiness({ ...rest, soakMs: MINUTE }, { name: 'rest' }, full, NOW)
  assert.deepEqual(soaking, { kind: 'Soaking', readyAt: formatTime(NOW), until: NOW + MINUTE })
  const since = { name: 'rest', readyAt: formatTime(NOW - MINUTE) }
  assert.deepEqual(judgeReadiness({ ...rest, soakMs: MINUTE }, since, full, NOW), { kind: 'Open' })
  assert.deepEqual(judgeReadiness(rest, { name: 'rest' }, { ...count, members: 0, ready: 0 }, NOW), { kind: 'Open' })
})

/** A rollout over named clusters, driven by hand. */
class Ringed {
  readonly facts: Omit<RolloutFacts, 'admissions' | 'ringStates'>
  admissions: readonly RolloutAdmission[] = []
  states: readonly RingState[] = []
  now = NOW
  readonly says = new Map<string, BundleStateName>()
  readonly offline = new Set<string>()
  readonly clusters: Record<string, Record<string, string>>

  constructor(
    rings: readonly RingSpec[],
    clusters: Record<string, Record<string, string>>,
    more: Partial<RolloutFacts> = {},
  ) {
    this.facts = { namespace: 'ns', rings, paused: false, createdAt: NOW, ...more }
    this.clusters = clusters
  }

  plan(): RolloutDecision {
    const set = digestOf('v2')
    const decision = planRollout({
      rollout: { ...this.facts, admissions: this.admissions, ringStates: this.states },
      release: { bundles: [{ name: 'b', generation: 2, set, placement: 'p' }] },
      decisions: new Map([['p', Object.keys(this.clusters)]]),
      clusterOf: (name): RolloutCluster => {
        const state = this.says.get(name)
        const availability = {
          state: this.offline.has(name) ? 'Offline' : 'Available',
          reason: 'Seen',
          message: '',
        } as const
        return {
          availability,
          labels: this.clusters[name]!,
          assigned: new Map(),
          reported: new Map(state ? [['ns/b', { generation: 2, set, state, message: 'it says so' }]] : []),
        }
      },
      predecessors: [],
      now: this.now,
    })
    this.admissions = decision.admissions
    if (decision.rings) this.states = decision.rings
    return decision
  }

  /** Plans and tells it in one line. */
  tell(): string {
    const decision = this.plan()
    const why = 'hold' in decision ? ` ${decision.hold.reason}` : ''
    return `${decision.kind}${why} ${decision.ring} [${this.admissions.map((one) => one.cluster).join(' ')}]`
  }
}

const FLEET = { a: { ring: 'canary' }, b: {}, c: {} }

test('the next ring begins only after the gate of the one before was recorded, and soaked', () => {
  const world = new Ringed([{ ...canary, soakMs: 10 * MINUTE }, rest], FLEET)
  assert.equal(world.tell(), 'Admit canary [a]')
  assert.equal(world.tell(), 'Wait ReportPending canary [a]')
  world.says.set('a', 'Ready')
  assert.equal(world.tell(), 'Wait Soaking canary []')
  world.now += 9 * MINUTE
  world.says.set('a', 'Failed')
  assert.equal(world.tell(), 'Fail FailuresStopIt canary []', 'a failure during the soak')
  world.says.set('a', 'Ready')
  assert.equal(world.tell(), 'Wait Soaking canary []')
  world.now += 9 * MINUTE
  assert.equal(world.tell(), 'Wait Soaking canary []', 'the soak began anew')
  world.now += MINUTE
  assert.equal(world.tell(), 'Pass canary []', 'recorded first, with no cluster admitted')
  assert.equal(world.states[0]?.passedAt, formatTime(world.now))
  assert.equal(world.tell(), 'Admit rest [b c]')
  world.says.set('b', 'Ready').set('c', 'Ready')
  assert.equal(world.tell(), 'Complete rest []')
})

test('an overloaded canary keeps the next ring closed; an offline one is excused, but not alone', () => {
  const slow = new Ringed([canary, rest], FLEET)
  slow.plan()
  slow.says.set('a', 'Progressing')
  assert.equal(slow.tell(), 'Wait ReportPending canary [a]')
  const away = new Ringed([canary, rest], FLEET)
  away.offline.add('a')
  assert.equal(away.tell(), 'Wait AllOffline canary []')
  const two = new Ringed([canary, rest], { ...FLEET, d: { ring: 'canary' } })
  two.offline.add('a')
  assert.equal(two.tell(), 'Admit canary [d]')
  two.says.set('d', 'Ready')
  assert.equal(two.tell(), 'Pass canary []')
  two.plan()
  two.offline.delete('a')
  assert.match(two.tell(), /\[b c a\]/, 'admitted when it returns, though its ring has passed')
})

test('budgets: more failed than allowed stops; a missed deadline is a failure', () => {
  const all: RingSpec = { name: 'all', concurrency: 4, maxFailed: 1, readyShare: '50%' }
  const world = new Ringed([all], { a: {}, b: {}, c: {}, d: {} }, { progressDeadlineMs: 10 * MINUTE })
  assert.equal(world.tell(), 'Admit all [a b c d]')
  world.says.set('a', 'Failed').set('b', 'Ready').set('c', 'Ready')
  const waits = world.plan()
  assert.equal(waits.until, NOW + 10 * MINUTE + 1, 'looks again at the deadline')
  assert.notEqual(waits.kind, 'Fail')
  world.now += 10 * MINUTE + 1
  const stops = world.plan()
  assert.equal(stops.kind, 'Fail')
  assert.match(
    stops.message,
    /2 clusters failed \(a, d\), more than the 1 that maxFailed allows, so no further cluster is admitted/,
  )
  const none = new Ringed([{ ...all, maxFailed: 0 }], { a: {}, b: {} })
  none.plan()
  none.says.set('a', 'Failed')
  assert.equal(none.plan().kind, 'Fail')
})

test('maxUnavailable narrows the concurrency; a share of Ready is enough for the gate', () => {
  const early: RingSpec = {
    name: 'early',
    count: 4,
    concurrency: 4,
    maxUnavailable: 2,
    readyShare: '50%',
    maxFailed: 3,
  }
  const world = new Ringed([early, rest], { a: {}, b: {}, c: {}, d: {}, e: {} })
  assert.equal(world.tell(), 'Admit early [a b]')
  world.says.set('a', 'Ready').set('b', 'Failed')
  assert.equal(world.tell(), 'Admit early [b c]')
  world.says.set('c', 'Ready')
  assert.equal(world.tell(), 'Admit early [b d]')
  world.says.set('d', 'Progressing')
  assert.equal(world.tell(), 'Pass early [b d]', 'two of four are Ready, and that was asked for')
})

test('D27: a ring that stops names the readyShare that it lacks', () => {
  const early: RingSpec = { name: 'early', count: 4, concurrency: 4, readyShare: '80%', maxFailed: 1 }
  const world = new Ringed([early, rest], { a: {}, b: {}, c: {}, d: {}, e: {} })
  world.plan()
  for (const name of ['a', 'b', 'd']) world.says.set(name, 'Ready')
  world.says.set('c', 'Failed')
  const stops = world.plan()
  assert.equal(stops.kind, 'Fail')
  assert.match(
    stops.message,
    /^1 cluster failed \(c\); ring "early" has 3 of 4 clusters Ready and needs 4, because its readyShare is 80%\./,
  )
})

test('D11: a rollout does not wait for clusters that were offline from its beginning', () => {
  const world = new Ringed([rest], { a: {}, b: {}, c: {} })
  world.offline.add('c')
  assert.equal(world.tell(), 'Admit rest [a b]')
  world.says.set('a', 'Ready').set('b', 'Ready')
  const done = world.plan()
  assert.deepEqual(
    [done.kind, done.message],
    ['Complete', '2 of 3 ready; c is offline and is admitted when it returns.'],
  )
})

test('a pair in no ring is never admitted, and the rollout says so', () => {
  const world = new Ringed([canary], FLEET)
  world.plan()
  world.says.set('a', 'Ready')
  const decision = world.plan()
  assert.equal(
    decision.kind === 'Wait' && decision.hold.message,
    '1 of 3 ready; b, c are in no ring and are never admitted.',
  )
  assert.deepEqual(decision.unringed, ['b', 'c'])
})

test('a freeze holds a store while the rest go on; a frozen one that runs something keeps it', () => {
  const world = new Ringed([rest], { a: { maintenance: 'frozen' }, b: {}, c: {} })
  assert.equal(world.tell(), 'Admit rest [b c]')
  world.says.set('b', 'Ready').set('c', 'Ready')
  const done = world.plan()
  assert.deepEqual(
    [done.kind, done.message],
    ['Complete', '2 of 3 ready; a is frozen or on hold and is admitted afterwards.'],
  )
  world.clusters['a'] = {}
  assert.equal(world.tell(), 'Admit rest [a]')
  const all = new Ringed([rest], { a: { maintenance: 'frozen' } })
  assert.equal(
    all.plan().message,
    'No cluster of ring "rest" can change now: a. The cluster is frozen by its label maintenance=frozen. End this with `kubectl label clusters.flotilla.dev a maintenance-`.',
  )
})

test('aborted: no further cluster, for good', () => {
  const world = new Ringed([rest], FLEET, { aborted: true })
  assert.equal(world.tell(), 'Pause Aborted rest []')
  assert.equal(world.plan().phase, 'Aborted')
})

test('property: no cluster of a ring is admitted before the passes of all earlier rings are recorded (I-04)', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const act = fc.oneof(
    fc.record({
      do: fc.constant('say' as const),
      who: fc.nat(5),
      state: fc.constantFrom<BundleStateName>('Ready', 'Failed', 'Progressing'),
    }),
    fc.record({ do: fc.constant('toggle' as const), who: fc.nat(5) }),
    fc.record({ do: fc.constant('wait' as const), minutes: fc.nat(20) }),
    fc.record({ do: fc.constant('plan' as const) }),
    fc.record({ do: fc.constant('plan' as const) }),
  )
  fc.assert(
    fc.property(fc.array(act, { minLength: 5, maxLength: 60 }), fc.nat(2), fc.nat(10), (acts, canaries, soak) => {
      const rings = [{ ...canary, soakMs: soak * MINUTE }, { name: 'two', count: 2, concurrency: 1 }, rest]
      const world = new Ringed(
        rings,
        Object.fromEntries(
          names.map((name, i): [string, Record<string, string>] => [name, i < canaries ? { ring: 'canary' } : {}]),
        ),
      )
      const touched = new Set<string>()
      for (const one of acts) {
        if (one.do === 'wait') world.now += one.minutes * MINUTE
        else if (one.do === 'toggle') {
          const name = names[one.who]!
          if (!world.offline.delete(name)) world.offline.add(name)
        } else if (one.do === 'say') {
          if (touched.has(names[one.who]!)) world.says.set(names[one.who]!, one.state)
        } else {
          const before = world.states
          const held = new Set(world.admissions.map(({ cluster: name }) => name))
          world.plan()
          for (const { cluster: name, ring } of world.admissions) {
            touched.add(name)
            if (held.has(name)) continue
            const at = rings.findIndex((spec) => spec.name === ring)
            for (const earlier of rings.slice(0, at)) {
              const gate = before.find((state) => state.name === earlier.name)?.passedAt
              assert.notEqual(gate, undefined, `${name} of ${ring} before ${earlier.name} was through`)
            }
          }
        }
      }
    }),
    { numRuns: 300 },
  )
})
