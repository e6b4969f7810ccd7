import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import { removalQuestion, departingClusters, removalName, removalPairs } from './removal.ts'
import type { IntentFacts, RemovalFacts, ReportedRemoval } from './removal.ts'
import { planRollout } from '../rollout/plan-rollout.ts'
import type { RolloutInput } from '../rollout/types.ts'
import type { RolloutCluster } from '../rollout/bundle-on-cluster.ts'
import { shrinkToken } from '../placement/shrink-guard.ts'

const SET = digestOf('x')
const intent = (over: Partial<IntentFacts> = {}): IntentFacts => ({
  deleted: false,
  placement: 'stores',
  decided: { selected: new Set(['a']), evicting: new Map([['b', 'no longer selected (labels)']]) },
  holders: [
    { cluster: 'a', placement: 'stores' },
    { cluster: 'b', placement: 'stores' },
    { cluster: 'c', placement: 'stores' },
  ],
  covered: new Set(),
  selectedBy: () => false,
  stoppedBy: () => 'SelectorDiffers',
  ...over,
})

test('only what was evicted, moved or deleted leaves; what merely is not selected stays', () => {
  assert.deepEqual(departingClusters(intent()), {
    cause: 'unplaced',
    clusters: ['b'],
    reason: 'Placement stores no longer selects these clusters; b: no longer selected (labels).',
  })
  assert.deepEqual(departingClusters(intent({ deleted: true }))?.clusters, ['a', 'b', 'c'])
  assert.equal(departingClusters(intent({ covered: new Set(['b']) })), undefined, 'it is on its way already')
  const { decided: _, ...undecided } = intent()
  assert.equal(departingClusters(undecided), undefined, 'half an answer removes nothing (I-06)')
  assert.equal(departingClusters(intent({ holders: [] })), undefined, 'no cluster has it')
  assert.equal(
    departingClusters(intent({ stoppedBy: () => 'Tainted' })),
    undefined,
    'its labels are back, and a taint is no intent',
  )
})

test('a Bundle that moved to another Placement leaves where the former would still have it, and never for circumstances', () => {
  const decided = { selected: new Set(['a']), evicting: new Map<string, string>() }
  const holders = [{ cluster: 'c', placement: 'former' }]
  const moved = (over: Partial<IntentFacts>) => departingClusters(intent({ decided, holders, ...over }))?.clusters
  const former = (placement: string) => placement === 'former'
  assert.deepEqual(moved({ selectedBy: former }), ['c'])
  assert.equal(moved({}), undefined, 'the former one does not have it either')
  assert.equal(moved({ selectedBy: former, holders: [{ cluster: 'c' }] }), undefined, 'not known whence it came')
  for (const reason of ['Tainted', 'NotAccepted', 'Leaving'] as const) {
    assert.equal(moved({ selectedBy: former, stoppedBy: () => reason }), undefined, reason)
  }
})

test('property: no cluster leaves that is selected, that does not hold it, or without a change of intent', () => {
  const some = fc.subarray(['a', 'b', 'c', 'd', 'e'])
  fc.assert(
    fc.property(fc.tuple(some, some, some, some), fc.boolean(), ([selected, evicting, holding, covered], deleted) => {
      const leave = departingClusters(
        intent({
          deleted,
          decided: { selected: new Set(selected), evicting: new Map(evicting.map((name) => [name, 'x'])) },
          holders: holding.map((cluster) => ({ cluster, placement: 'stores' })),
          covered: new Set(covered),
        }),
      )
      for (const name of leave?.clusters ?? []) {
        assert.ok(holding.includes(name) && !covered.includes(name))
        assert.ok(deleted || (evicting.includes(name) && !selected.includes(name)))
      }
    }),
  )
})

test('a deletion that drops more than the guard allows asks first, and a person says yes by naming it', () => {
  const clusters = Array.from({ length: 12 }, (_, i) => `c${i}`)
  const leave = { cause: 'bundleDeleted', clusters, reason: 'The Bundle was deleted.' } as const
  const holders = clusters.map((cluster) => ({ cluster, placement: 'x' }))
  const about = { holders, placement: 'x', generation: 4 }
  assert.equal(
    removalQuestion(leave, about),
    'The change would drop 12 of 12 clusters; at most 6 can be dropped at once.',
  )
  assert.equal(
    removalQuestion(leave, { ...about, release: shrinkToken({ generation: 4, dropped: clusters }) }),
    undefined,
  )
  assert.ok(removalQuestion(leave, { ...about, release: shrinkToken({ generation: 3, dropped: clusters }) }))
  assert.equal(removalQuestion({ ...leave, clusters: clusters.slice(0, 5) }, about), undefined)
  assert.equal(
    removalQuestion({ ...leave, cause: 'unplaced', reason: 'Placement x' }, about),
    undefined,
    "the Placement's guard",
  )
})

test('a Bundle that moves asks as a change of the selection does, also where some of its clusters were evicted', () => {
  const names = Array.from({ length: 20 }, (_, i) => `c${String(i).padStart(2, '0')}`)
  const holders = (last?: string) =>
    names.map((cluster) => ({ cluster, placement: 'old', ...(cluster === last ? { isLast: true } : {}) }))
  const ask = (moved: readonly string[], about: { last?: string; more?: readonly { cluster: string }[] } = {}) =>
    removalQuestion(
      { cause: 'unplaced', clusters: moved, moved, reason: 'x' },
      { holders: [...holders(about.last), ...(about.more ?? [])], placement: 'new', generation: 1 },
    )
  assert.equal(ask(names.slice(0, 2)), undefined)
  assert.equal(ask(names.slice(0, 3)), 'The change would drop 3 of 20 clusters; at most 2 can be dropped at once.')
  assert.equal(
    ask(names.slice(0, 1), { last: 'c00' }),
    'The change would drop 1 of 20 clusters. No Bundle would be left on c00.',
  )
  assert.match(ask(names) ?? '', /The Bundle would stay on none of its clusters\.$/)
  const arrived = [{ cluster: 'd', placement: 'new' }]
  assert.match(
    ask(names, { more: arrived }) ?? '',
    /stay on none of its clusters\.$/,
    'also when the new clusters have it first',
  )

  const leave = departingClusters(
    intent({
      placement: 'new',
      decided: { selected: new Set(), evicting: new Map([['a', 'x']]) },
      holders: ['a', 'b'].map((cluster) => ({ cluster, placement: cluster === 'a' ? 'new' : 'old' })),
      selectedBy: () => true,
    }),
  )
  assert.deepEqual([leave?.clusters, leave?.moved], [['a', 'b'], ['b']])
})

test('a removal is named after what it removes', () => {
  const at = (revision: number, ...after: string[]) => ({ a: { revision, after } })
  const first = removalName('hello', at(3))
  assert.equal(removalName('hello', at(3)), first)
  assert.notEqual(removalName('hello', at(4)), first)
  assert.notEqual(removalName('hello', at(3, first)), first, 'what was through once and left it there is not this one')
  assert.match(first, /^hello-removal-[0-9a-f]{10}$/)
  assert.ok(removalName('x'.repeat(253), at(1)).length <= 253)
})

interface Site {
  readonly entry?: number
  readonly grave?: number
  readonly said?: ReportedRemoval
  readonly offline?: boolean
}

const site = ({ entry, grave, said, offline }: Site): RolloutCluster => ({
  availability: { state: offline ? 'Offline' : 'Available', reason: 'Seen', message: 'last seen' },
  labels: {},
  assigned: new Map(entry === undefined ? [] : [['ns/b', { generation: entry, set: SET }]]),
  reported: new Map(),
  buried: new Map(grave === undefined ? [] : [['ns/b', { generation: grave }]]),
  removals: new Map(said ? [['ns/b', said]] : []),
})

function input(sites: Record<string, Site>, over: Partial<RemovalFacts> = {}, admitted: string[] = []): RolloutInput {
  const clusters = Object.fromEntries(Object.entries(sites).map(([name, one]) => [name, site(one)]))
  return {
    rollout: {
      namespace: 'ns',
      rings: [{ name: 'all', concurrency: 2 }],
      paused: false,
      admissions: admitted.map((cluster) => ({
        bundle: 'b',
        cluster,
        ring: 'all',
        admittedAt: '2026-01-01T00:00:00Z',
      })),
    },
    release: undefined,
    decisions: new Map(),
    clusterOf: (name) => clusters[name],
    predecessors: [],
    now: 0,
    removal: {
      bundle: 'b',
      clusters: Object.keys(sites),
      settled: [],
      placement: 'p',
      keep: new Set(),
      coming: new Set(),
      ...over,
    },
  }
}

test('a removal is admitted by rings and budgets, and a slot comes back only when the tombstone is gone', () => {
  const first = planRollout(input({ a: { entry: 1 }, b: { entry: 1 }, c: { entry: 1 } }))
  assert.equal(first.kind, 'Admit')
  assert.deepEqual(
    first.admissions.map(({ cluster }) => cluster),
    ['a', 'b'],
  )
  assert.equal(first.message, 'Admitted a, b; 0 of 3 removed.')

  const handed = planRollout(input({ a: { grave: 1 }, b: { grave: 1 }, c: { entry: 1 } }, {}, ['a', 'b']))
  assert.equal(handed.kind, 'Wait')
  assert.deepEqual(handed.settled, [])

  const half = planRollout(input({ a: {}, b: { grave: 1 }, c: { entry: 1 } }, {}, ['a', 'b']))
  assert.deepEqual([half.settled, half.admissions.map(({ cluster }) => cluster)], [['a'], ['b', 'c']])

  const done = planRollout(input({ a: {}, b: {}, c: {} }, { settled: ['a'] }, ['b', 'c']))
  assert.deepEqual([done.kind, done.phase, done.message], ['Complete', 'Completed', '3 of 3 removed.'])
  assert.deepEqual(done.settled, ['a', 'b', 'c'])
})

test('what was settled stays settled: a bundle that comes again is not removed by an old removal', () => {
  const again = planRollout(input({ a: { entry: 1 } }, { settled: ['a'] }))
  assert.deepEqual([again.kind, again.admissions], ['Complete', []])
})

test('who is selected again keeps it, unless its tombstone is out', () => {
  const sites = { a: { entry: 1 }, b: { grave: 1 }, c: { entry: 1 } }
  const { settled, freed, pairs } = removalPairs(
    input(sites, { keep: new Set(['a', 'b']) }, ['a', 'b']),
    input(sites, { keep: new Set(['a', 'b']) }).removal!,
  )
  assert.deepEqual(settled, ['a'])
  assert.deepEqual(
    freed.map(({ admission, by }) => [admission.cluster, by]),
    [['a', 'Overtaken']],
  )
  assert.deepEqual(
    pairs.map(({ cluster }) => cluster),
    ['b', 'c'],
  )
})

test('who kept the bundle is told apart from who lost it, now and at every later look', () => {
  const rows: readonly [string, Record<string, Site>, Partial<RemovalFacts>, string][] = [
    ['removed', { a: {} }, {}, '1 of 1 removed.'],
    ['kept now', { a: { entry: 1 } }, { keep: new Set(['a']) }, '0 removed, 1 kept because they are selected again.'],
    [
      'kept before',
      { a: { entry: 2 } },
      { settled: ['a'], kept: ['a'] },
      '0 removed, 1 kept because they are selected again.',
    ],
    [
      'kept, and no longer wanted',
      { a: {} },
      { settled: ['a'], kept: ['a'] },
      '0 removed, 1 kept because they are selected again.',
    ],
    [
      'undecided',
      { a: { entry: 1 } },
      { settled: ['a'], kept: ['a'], keep: undefined },
      'Placement p has no complete decisions yet.',
    ],
    [
      'one of two',
      { a: {}, b: { entry: 1 } },
      { keep: new Set(['b']) },
      '1 of 1 removed, 1 kept because they are selected again.',
    ],
    [
      'one to go',
      { a: { entry: 1 }, b: {} },
      { settled: ['b'], kept: ['b'] },
      'Admitted a; 0 of 1 removed, 1 kept because they are selected again.',
    ],
    ['selected after it was removed', { a: {} }, { settled: ['a'], keep: new Set(['a']) }, '1 of 1 removed.'],
    ['of before it was written down', { a: {} }, { settled: ['a'] }, '1 of 1 removed.'],
  ]
  const said = { generation: 1, state: 'Removed' } as const
  const keep = new Set(['a'])
  const both = '1 of 1 removed, 1 kept because they are selected again.'
  const back = planRollout(
    input({ a: { entry: 2, said }, b: { entry: 1, said } }, { keep: new Set(['a', 'b']) }, ['a']),
  )
  assert.deepEqual(
    [back.message, back.settled, back.kept],
    [both, ['a', 'b'], ['b']],
    'a has its receipt, and has it again',
  )
  const overtaken = planRollout(input({ a: { entry: 2 } }, { keep }, ['a']))
  assert.deepEqual(overtaken.kept, ['a'], 'a newer generation took the place of its tombstone')
  for (const [name, sites, over, message] of rows) {
    const decision = planRollout(input(sites, over))
    assert.equal(decision.message, message, name)
    assert.ok(
      decision.kept?.every((cluster) => decision.settled?.includes(cluster)),
      name,
    )
  }
})

test('a ring in which all clusters kept the bundle does not hold up the next one', () => {
  const facts = input({ a: { entry: 1 }, b: { entry: 1 } }, { settled: ['a'], kept: ['a'] })
  const rings = [
    { name: 'canary', concurrency: 1, count: 1 },
    { name: 'rest', concurrency: 1 },
  ]
  const ringStates = [{ name: 'canary', upTo: 'a' }, { name: 'rest' }]
  const passed = planRollout({ ...facts, rollout: { ...facts.rollout, rings, ringStates } })
  assert.deepEqual([passed.kind, passed.kind === 'Pass' && passed.passed], ['Pass', 'canary'])
})

test('an undecided Placement, an absent document and a bundle on its way remove and settle nothing', () => {
  const undecided = planRollout(input({ a: { entry: 1 }, b: {} }, { keep: undefined }))
  assert.equal(undecided.kind === 'Wait' && undecided.hold.reason, 'PlacementPending')
  assert.deepEqual(undecided.settled, [])
  const coming = planRollout(input({ a: {} }, { coming: new Set(['a']) }))
  assert.deepEqual([coming.kind, coming.settled], ['Admit', []])
  const { buried: _, ...unknown } = site({})
  const absent = planRollout({ ...input({ a: {} }), clusterOf: () => unknown })
  assert.deepEqual([absent.kind, absent.settled], ['Complete', []])
})

test('an offline cluster waits for its return; a refused removal stops the rest and says why', () => {
  const away = planRollout(input({ a: { entry: 1, offline: true } }))
  assert.deepEqual([away.kind, away.admissions], ['Wait', []])
  const said: ReportedRemoval = { generation: 1, state: 'Failed', message: 'may not delete ConfigMap x' }
  const refused = planRollout(input({ a: { grave: 1, said }, b: { grave: 1, said }, c: { entry: 1 } }, {}, ['a', 'b']))
  assert.equal(refused.kind, 'Fail')
  assert.match(refused.message, /2 clusters failed \(a, b\).* may not delete ConfigMap x/)
})

test('a removal that asks waits for a person', () => {
  const facts = input({ a: { entry: 1 } })
  const rollout = { ...facts.rollout, name: 'b-removal-1', namespace: 'ns', paused: true, asks: 'Would drop 1 of 1.' }
  const asking = planRollout({ ...facts, rollout })
  assert.equal(asking.message, 'Would drop 1 of 1. No cluster is admitted before a person resumes the rollout.')
  assert.equal(asking.phase, 'Paused')
  assert.match(JSON.stringify(asking), /`flotilla rollout resume b-removal-1 -n ns`/)
})
