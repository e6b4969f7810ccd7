import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { holdSentence } from './holds.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import { planRollout } from './plan-rollout.ts'
import { START_BY_MARGIN_MS } from './slots.ts'
import type { RolloutAdmission, RolloutCluster } from './bundle-on-cluster.ts'
import type { RolloutDecision, RolloutFacts, RolloutInput } from './types.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const target = { name: 'b', generation: 2, set: digestOf('v2'), placement: 'p' }

interface Sketch {
  /** Reported: state and generation. */
  readonly says?: readonly [BundleStateName, number]
  readonly assigned?: number
  readonly availability?: RolloutCluster['availability']['state']
  readonly firstFailing?: string
}

function clusterOf(sketch: Sketch): RolloutCluster {
  const revision = (generation: number) => ({ generation, set: digestOf(`v${generation}`) })
  const [state, generation] = sketch.says ?? []
  const message = state === 'Failed' ? 'back-off pulling image' : 'fine'
  const { firstFailing } = sketch
  return {
    availability: { state: sketch.availability ?? 'Available', reason: 'Seen', message: 'heard.' },
    assigned: new Map(sketch.assigned === undefined ? [] : [['ns/b', revision(sketch.assigned)]]),
    reported: new Map(
      state === undefined || generation === undefined
        ? []
        : [['ns/b', { ...revision(generation), state, message, ...(firstFailing ? { firstFailing } : {}) }]],
    ),
    reportedAt: NOW - 5000,
  }
}

function input(
  clusters: Record<string, Sketch>,
  rollout: Partial<RolloutFacts> = {},
  extra: Partial<RolloutInput> = {},
): RolloutInput {
  const known = new Map(Object.entries(clusters).map(([name, sketch]) => [name, clusterOf(sketch)]))
  return {
    rollout: {
      namespace: 'ns',
      rings: [{ name: 'all', concurrency: 1 }],
      paused: false,
      admissions: [],
      createdAt: NOW - 60_000,
      ...rollout,
    },
    release: { bundles: [target] },
    decisions: new Map([['p', Object.keys(clusters)]]),
    clusterOf: (name) => known.get(name),
    predecessors: [],
    now: NOW,
    ...extra,
  }
}

const slot = (cluster: string, extra: Partial<RolloutAdmission> = {}): RolloutAdmission => ({
  bundle: 'b',
  cluster,
  ring: 'all',
  admittedAt: formatTime(NOW - 30_000),
  ...extra,
})

/** One line per decision, as a person would tell it. */
function tell(decision: RolloutDecision): string {
  const slots = decision.admissions.map(({ cluster }) => cluster).join(' ') || '-'
  const freed = decision.freed.map(({ admission, by }) => `${admission.cluster} ${by}`).join(', ')
  const why = 'hold' in decision ? ` ${decision.hold.reason}` : decision.kind === 'Supersede' ? ` ${decision.by}` : ''
  return `${decision.kind}${why} [${slots}]${freed ? ` freed ${freed}` : ''} ${decision.phase}`
}

const ready = (generation: number): Sketch => ({ assigned: generation, says: ['Ready', generation] })
const failed = (generation: number): Sketch => ({ assigned: generation, says: ['Failed', generation] })
const offline: Sketch = { assigned: 1, says: ['Ready', 1], availability: 'Offline' }

test('decisions', () => {
  const two = { rings: [{ name: 'all', concurrency: 2 }] }
  const table: [string, RolloutInput, string][] = [
    ['the first one is admitted', input({ a: ready(1), b: ready(1) }), 'Admit [a] Progressing'],
    ['first installs too', input({ a: {}, b: {} }), 'Admit [a] Progressing'],
    ['no more than the concurrency', input({ a: {}, b: {}, c: {} }, two), 'Admit [a b] Progressing'],
    ['the others wait', input({ a: {}, b: {} }, { admissions: [slot('a')] }), 'Wait BudgetFull [a] Progressing'],
    [
      'a report of an older generation frees nothing',
      input({ a: { assigned: 2, says: ['Ready', 1] }, b: {} }, { admissions: [slot('a')] }),
      'Wait BudgetFull [a] Progressing',
    ],
    [
      'progressing at the target frees nothing',
      input({ a: { assigned: 2, says: ['Progressing', 2] }, b: {} }, { admissions: [slot('a')] }),
      'Wait BudgetFull [a] Progressing',
    ],
    [
      'a Ready report frees',
      input({ a: ready(2), b: {} }, { admissions: [slot('a')] }),
      'Admit [b] freed a Report Progressing',
    ],
    [
      'all ready',
      input({ a: ready(2), b: ready(2) }, { admissions: [slot('b')] }),
      'Complete [-] freed b Report Completed',
    ],
    [
      'a failure keeps its slot and stops',
      input({ a: failed(2), b: {} }, { admissions: [slot('a')] }),
      'Fail FailuresStopIt [a] Failed',
    ],
    [
      'one failure of two leaves one slot',
      input({ a: failed(2), b: {}, c: {} }, { ...two, admissions: [slot('a')] }),
      'Admit [a b] Progressing',
    ],
    [
      'nothing left but failures',
      input({ a: failed(2), b: ready(2) }, { ...two, admissions: [slot('a')] }),
      'Fail FailuresStopIt [a] Failed',
    ],
    [
      'a recovered failure goes on',
      input({ a: ready(2), b: {} }, { phase: 'Failed', admissions: [slot('a')] }),
      'Admit [b] freed a Report Progressing',
    ],
    ['offline before its turn is excused', input({ a: offline, b: ready(2) }), 'Complete [-] Completed'],
    ['never connected is excused', input({ a: { availability: 'Unknown' }, b: ready(2) }), 'Complete [-] Completed'],
    [
      'offline after its admission is not',
      input({ a: offline, b: {} }, { admissions: [slot('a')] }),
      'Wait BudgetFull [a] Progressing',
    ],
    ['back after completion', input({ a: ready(1), b: ready(2) }, { phase: 'Completed' }), 'Admit [a] Progressing'],
    ['all offline', input({ a: offline, b: offline }), 'Wait AllOffline [-] Pending'],
    ['none selected', input({}), 'Wait NoClusters [-] Pending'],
    ['placement not decided', input({ a: {} }, {}, { decisions: new Map() }), 'Wait PlacementPending [-] Pending'],
    [
      'release gone',
      input({ a: {} }, { admissions: [slot('a')] }, { release: undefined }),
      'Wait ReleaseMissing [a] Progressing',
    ],
    [
      'bundle deleted: it is over',
      input({ a: {} }, {}, { deletedBundles: ['b'] }),
      'Wait BundleDeleted [-] Superseded',
    ],
    ['paused', input({ a: {} }, { paused: true }), 'Pause Paused [-] Paused'],
    [
      'paused still frees',
      input({ a: ready(2), b: {} }, { paused: true, admissions: [slot('a')] }),
      'Pause Paused [-] freed a Report Paused',
    ],
    [
      'superseded',
      input({ a: {} }, { admissions: [slot('a')] }, { newer: new Map([['b', 'b-g3']]) }),
      'Supersede b-g3 [a] Superseded',
    ],
    [
      'superseded after completion',
      input({ a: ready(2) }, { phase: 'Completed' }, { newer: new Map([['b', 'b-g3']]) }),
      'Supersede b-g3 [-] Completed',
    ],
    ['closed stays closed', input({ a: {} }, { closed: true }), 'Supersede a newer Release [-] Superseded'],
    [
      'a newer document takes the pair over',
      input({ a: { assigned: 3 } }, { admissions: [slot('a')] }, { newer: new Map([['b', 'b-g3']]) }),
      'Supersede b-g3 [-] freed a Overtaken Superseded',
    ],
    [
      'an older rollout must be closed first',
      input(
        { a: {} },
        {},
        { predecessors: [{ name: 'b-g1', bundle: 'b', generation: 1, closed: false, admissions: [] }] },
      ),
      'Wait PredecessorOpen [-] Pending',
    ],
    [
      'what an older rollout has in flight counts',
      input(
        { a: {}, z: offline },
        {},
        { predecessors: [{ name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('z')] }] },
      ),
      'Wait BudgetFull [-] Pending',
    ],
    [
      'and is admitted first, at no cost',
      input(
        { a: {}, z: {} },
        {},
        { predecessors: [{ name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('z')] }] },
      ),
      'Admit [z] Progressing',
    ],
    [
      'a lowered concurrency still lets a fix through',
      input(
        { a: {}, y: failed(1), z: failed(1) },
        {},
        {
          predecessors: [
            { name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('y'), slot('z')] },
          ],
        },
      ),
      'Admit [y] Progressing',
    ],
    [
      'also where several older rollouts have slots',
      input(
        { a: {}, y: {}, z: {} },
        {},
        {
          predecessors: [
            { name: 'b-g0', bundle: 'b', generation: 0, closed: true, admissions: [slot('y')] },
            { name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('z')] },
          ],
        },
      ),
      'Admit [y] Progressing',
    ],
    [
      'a slot of an older rollout counts until it is given back there, however well its cluster is here',
      input(
        { a: {}, z: ready(2) },
        {},
        { predecessors: [{ name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('z')] }] },
      ),
      'Wait BudgetFull [-] Progressing',
    ],
    [
      'of many that went bad after they were Ready, each is tried again in its turn',
      input({ a: failed(2), b: failed(2), c: failed(2) }, { ...two, attemptOf: () => 1 }),
      'Admit [a b] Progressing',
    ],
    [
      'but not beside slots that an older rollout has not given back',
      input(
        { a: failed(2), z: offline },
        { attemptOf: () => 1 },
        { predecessors: [{ name: 'b-g1', bundle: 'b', generation: 1, closed: true, admissions: [slot('z')] }] },
      ),
      'Wait ReportPending [-] Pending',
    ],
    ['those that fail now come first', input({ a: ready(1), z: failed(1) }), 'Admit [z] Progressing'],
    [
      'what it keeps is not handed to it once more',
      input(
        { a: { assigned: 1, says: ['Progressing', 1] } },
        {},
        { release: { bundles: [{ ...target, set: digestOf('v1') }] } },
      ),
      'Wait ReportPending [-] Pending',
    ],
    ['handed out without a slot takes it again', input({ a: {}, z: { assigned: 2 } }), 'Admit [z] Progressing'],
    [
      'a cluster that is gone frees',
      input({ a: {} }, { admissions: [slot('zz')] }),
      'Admit [a] freed zz ClusterGone Progressing',
    ],
    [
      'not begun by start-by and margin',
      input({ a: {}, b: {} }, { admissions: [slot('a', { startBy: formatTime(NOW - START_BY_MARGIN_MS - 1000) })] }),
      'Admit [a] freed a StartByPassed Progressing',
    ],
    [
      'start-by without the margin',
      input({ a: {}, b: {} }, { admissions: [slot('a', { startBy: formatTime(NOW - START_BY_MARGIN_MS + 1000) })] }),
      'Wait BudgetFull [a] Progressing',
    ],
    [
      'begun in time',
      input(
        { a: { assigned: 2, says: ['Progressing', 2] }, b: {} },
        { admissions: [slot('a', { startBy: formatTime(NOW - 3_600_000) })] },
      ),
      'Wait BudgetFull [a] Progressing',
    ],
    [
      'offline at start-by: it may have begun',
      input({ a: offline, b: {} }, { admissions: [slot('a', { startBy: formatTime(NOW - 3_600_000) })] }),
      'Wait BudgetFull [a] Progressing',
    ],
    ['a document ahead of the release', input({ a: { assigned: 7 } }), 'Wait GenerationTaken [-] Pending'],
    [
      'a percentage',
      input({ a: {}, b: {}, c: {}, d: {} }, { rings: [{ name: 'all', concurrency: '50%' }] }),
      'Admit [a b] Progressing',
    ],
  ]
  for (const [name, facts, expected] of table) assert.equal(tell(planRollout(facts)), expected, name)
})

test('a hold says why, since when, and what ends it', () => {
  const sentence = (facts: RolloutInput) => {
    const decision = planRollout(facts)
    assert.ok('hold' in decision)
    return holdSentence(decision.hold)
  }
  assert.equal(
    sentence(input({ a: {}, b: {} }, { admissions: [slot('a')] })),
    'The only slot is taken by a. Since 2026-11-16T11:59:30Z. Waits for a Ready report of one of these clusters, or a higher concurrency.',
  )
  assert.equal(
    sentence(input({ a: { ...failed(2), firstFailing: 'Deployment web' }, b: {} }, { admissions: [slot('a')] })),
    '1 cluster failed (a); the concurrency is 1, so no further cluster is admitted. a failed at Deployment web: back-off pulling image. Since 2026-11-16T11:59:55Z. Waits for Ready reports of the failed clusters, or a corrected Bundle.',
  )
  assert.match(
    sentence(input({ a: { ...failed(2), firstFailing: 'back-off' }, b: {} }, { admissions: [slot('a')] })),
    / a failed: back-off pulling image\. /,
    'what the message names is not named twice',
  )
  assert.equal(
    sentence(input({})),
    'The Placement selects no cluster. Since 2026-11-16T11:59:00Z. Waits for a cluster that matches.',
  )
  assert.equal(
    sentence(input({}, {}, { deletedBundles: ['b'] })),
    'Bundle b was deleted; no further cluster receives it. A separate Rollout removes it. Create the Bundle again to continue.',
  )
})

test('counts per state sum up to the total', () => {
  const decision = planRollout(
    input(
      { a: ready(2), b: failed(2), c: offline, d: {}, e: { assigned: 2 }, f: { assigned: 2, says: ['Drifted', 2] } },
      { paused: true, admissions: [slot('b'), slot('e')] },
    ),
  )
  assert.deepEqual(decision.counts, {
    total: 6,
    ready: 2,
    progressing: 1,
    pending: 1,
    failed: 1,
    offline: 1,
    states: { Ready: 1, Progressing: 1, Pending: 1, Offline: 1, Drifted: 1, Failed: 1 },
  })
})

test('a ring counts why it does not wait: offline, frozen, held, not built', () => {
  const hold = (badge: 'Frozen' | 'Held'): BundleHold => ({ for: 'freeze', badge, message: 'held.' })
  const holds: Readonly<Record<string, BundleHold>> = { frozen: hold('Frozen'), held: hold('Held') }
  const contentOf = (cluster: string) =>
    cluster === 'unbuilt'
      ? ({ kind: 'Problem', problem: 'no till' } as const)
      : ({ kind: 'Set', set: target.set } as const)
  const { ringCounts } = planRollout(
    input(
      { away: offline, frozen: {}, held: {}, unbuilt: {}, fine: ready(2) },
      {},
      { holdOf: (_, cluster) => holds[cluster], release: { bundles: [{ ...target, contentOf }] } },
    ),
  )
  assert.deepEqual(ringCounts?.[0], {
    members: 5,
    ready: 1,
    failed: 1,
    excused: 4,
    excusedFor: { offline: 1, frozen: 1, held: 1, notBuilt: 1 },
  })
  assert.equal(planRollout(input({ a: ready(2) })).ringCounts?.[0]?.excusedFor, undefined)
})

test('a removal that waits for a revoked cluster names the way out, and takes it', () => {
  const removing = (clusters: readonly string[], registered: readonly string[]) => {
    const removal = {
      bundle: 'b',
      clusters,
      settled: [],
      placement: 'p',
      keep: new Set<string>(),
      coming: new Set<string>(),
    }
    const world = input(
      Object.fromEntries(registered.map((name) => [name, { availability: 'Unknown', assigned: 2 }])),
      {},
      { removal },
    )
    const clusterOf = (name: string) => {
      const known = world.clusterOf(name)
      const isDelivered = name === 'delivered'
      const buried = new Map(isDelivered ? [['ns/b', { generation: 2 }]] : [])
      return known && { ...known, buried, ...(isDelivered || name === 'done' ? { assigned: new Map() } : {}) }
    }
    return planRollout({ ...world, clusterOf })
  }
  const way = /A revoked cluster never confirms; `flotilla delete cluster NAME` ends the wait for it\./
  const alone = removing(['revoked'], ['revoked'])
  assert.match(JSON.stringify(alone), way)
  const short = removing(['done', 'delivered'], ['done', 'delivered'])
  assert.match(JSON.stringify(short), way)
  assert.match(short.message, /^Waits for the report of delivered; 1 of 2 removed\./)
  assert.equal(removing(['done', 'delivered'], ['done']).phase, 'Completed', 'the Cluster was deleted')
})

test('completion names those who were not connected', () => {
  const decision = planRollout(input({ a: ready(2), b: offline }))
  assert.equal(decision.message, '1 of 2 ready; b is offline and is admitted when it returns.')
})

test('completion adds up: who has it and is away is told apart from who never got it', () => {
  const { says, assigned } = ready(2)
  const gone = { ...offline, says, assigned }
  const decision = planRollout(input({ a: ready(2), b: offline, c: gone }))
  assert.equal(
    decision.message,
    '2 of 3 ready; 1 cluster with this content is offline; b is offline and is admitted when it returns.',
  )
})

test('an agent that says it has not begun by start-by is admitted again, with a new start-by (I-23)', () => {
  const startBy = formatTime(NOW - START_BY_MARGIN_MS - 1000)
  const rings = [{ name: 'all', concurrency: 1, startByMs: 600_000 }]
  const late: Sketch = { assigned: 2, says: ['Pending', 2] }
  const again = planRollout(input({ a: late, b: {} }, { rings, admissions: [slot('a', { startBy })] }))
  assert.equal(tell(again), 'Admit [a] freed a StartByPassed Progressing')
  assert.equal(again.admissions[0]?.startBy, '2026-11-16T12:10:00Z')
  const soon = formatTime(NOW + 1000)
  const waits = planRollout(input({ a: late, b: {} }, { rings, admissions: [slot('a', { startBy: soon })] }))
  assert.equal(waits.until, NOW + 1000 + START_BY_MARGIN_MS + 1, 'and the next look is when it is time')
  const begun: Sketch = { assigned: 2, says: ['Progressing', 2] }
  const busy = planRollout(input({ a: begun, b: {} }, { rings, admissions: [slot('a', { startBy })] }))
  assert.deepEqual(busy.freed, [], 'one that has begun keeps its slot')
})

test('who is frozen after its admission keeps its slot until start-by has passed: then its agent does not begin any more', () => {
  const rings = [{ name: 'all', concurrency: 1, startByMs: 600_000 }]
  const frozen = (startBy: string | undefined, admitted: boolean) => {
    const facts = input(
      { a: { assigned: 2, says: ['Pending', 2] }, b: {} },
      { rings, admissions: admitted ? [slot('a', startBy === undefined ? {} : { startBy })] : [] },
    )
    const clusterOf = (name: string) => {
      const cluster = facts.clusterOf(name)!
      return { ...cluster, assigned: new Map([...cluster.assigned].map(([key, one]) => [key, { ...one, startBy }])) }
    }
    const hold = { for: 'freeze', badge: 'Held', message: 'Held.' } as const
    return { ...facts, clusterOf, holdOf: (_: unknown, name: string) => (name === 'a' ? hold : undefined) }
  }
  const passed = formatTime(NOW - START_BY_MARGIN_MS - 1000)
  assert.match(tell(planRollout(frozen(undefined, true))), /^Wait BudgetFull/)
  assert.match(tell(planRollout(frozen(formatTime(NOW), true))), /^Wait BudgetFull/)
  assert.equal(tell(planRollout(frozen(passed, true))), 'Admit [b] freed a StartByPassed Progressing')
  assert.match(tell(planRollout(frozen(passed, false))), /^Admit \[b\]/)
  const free = planRollout({ ...frozen(passed, false), holdOf: () => undefined })
  assert.match(tell(free), /^Admit \[a\]/, 'free again, it takes a slot like any cluster')
})

test('a start-by is set when asked for', () => {
  const decision = planRollout(input({ a: {} }, { rings: [{ name: 'all', concurrency: 1, startByMs: 600_000 }] }))
  assert.equal(decision.admissions[0]?.startBy, '2026-11-16T12:10:00Z')
})
