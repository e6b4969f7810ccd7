import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  placementCluster,
  placementLoad,
  placementQuestion,
  placementWorld,
} from '../../testing/fixtures/placement-builders.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from './types.ts'
import { OCM_DEVIATIONS, ocmPages, scheduleAsOcm } from './ocm-scheduler.ts'

const SETS = [{ name: 'global', access: 'Bound' as const, selector: {} }]
const at = (seconds: number) => new Date(Date.parse('2026-11-16T00:00:00Z') + seconds * 1000).toISOString()

function schedule(
  question: Partial<PlacementQuestion>,
  clusters: readonly PlacementCluster[],
  world: Parameters<typeof placementWorld>[0] = {},
) {
  const around = placementWorld({ sets: SETS, bound: ['global'], ...world })
  return scheduleAsOcm(placementQuestion(question), clusters, around)
}

const fleet = (...names: string[]) => names.map((name) => placementCluster(name))
const scores = (answer: ReturnType<typeof schedule>) =>
  answer.ranked.map(({ cluster, score }) => `${cluster.name} ${score}`)
const selected = (answer: ReturnType<typeof schedule>) => answer.selected.map(({ name }) => name)
const exact = (builtIn: string, weight = 1) => ({
  prioritizers: { mode: 'Exact', configurations: [{ type: 'BuiltIn', builtIn, weight }] },
})

test('balance: even numbers, over all decisions of the hub but its own', () => {
  const load = placementLoad({ a: 1, b: 2, c: 3, elsewhere: 3 })
  assert.deepEqual(scores(schedule(exact('Balance'), fleet('a', 'b', 'c', 'd'), { load })), [
    'd 100',
    'a 32',
    'b -32',
    'c -100',
  ])
})

test('steady: 100 for who is selected, 0 for the others', () => {
  assert.deepEqual(scores(schedule(exact('Steady'), fleet('a', 'b'), { selected: ['b'] })), ['b 100', 'a 0'])
})

test('allocatable: relative to who passes the filters; without capacity there is no score; all equal is 100', () => {
  const of = (name: string, cpu: string, capacity?: string) =>
    placementCluster(name, {}, { allocatable: { cpu }, ...(capacity ? { capacity: { cpu: capacity } } : {}) })
  const clusters = [of('a', '3300m', '8'), of('b', '1', '8'), of('c', '8', '8'), of('d', '100')]
  assert.deepEqual(scores(schedule(exact('ResourceAllocatableCPU'), clusters)), ['c 100', 'd 0', 'a -34', 'b -100'])
  assert.deepEqual(scores(schedule(exact('ResourceAllocatableCPU'), [of('a', '2', '2'), of('b', '2000m', '2')])), [
    'a 100',
    'b 100',
  ])
})

test('custom scores: taken as they are, 0 when they have ended, each configuration counts', () => {
  const scored = (name: string, value: number, validUntil?: string) =>
    placementCluster(name, {}, { scores: [{ resource: 'r', name: 's', value, ...(validUntil ? { validUntil } : {}) }] })
  const one = { type: 'Score', score: { resource: 'r', name: 's' }, weight: 2 }
  const clusters = [scored('a', 250), scored('b', 90, at(-1)), scored('c', 10, at(0)), placementCluster('d')]
  const answer = schedule({ prioritizers: { mode: 'Exact', configurations: [one, one] } }, clusters)
  assert.deepEqual(scores(answer), ['a 1000', 'c 40', 'b 0', 'd 0'])
  assert.deepEqual(answer.expired, ['b'])
})

test('weights: the last of a built-in counts, 0 switches off, a misspelt one is refused unless it is off', () => {
  const of = (...weights: number[]) => weights.map((weight) => ({ type: 'BuiltIn', builtIn: 'Steady', weight }))
  const run = (configurations: ReturnType<typeof of>) =>
    scores(schedule({ prioritizers: { configurations } }, fleet('a', 'b'), { selected: ['b'] }))
  assert.deepEqual(run(of(5, -1)), ['a 100', 'b 0'])
  assert.deepEqual(run(of(0)), ['a 100', 'b 100'])
  const typo = (weight: number) =>
    schedule({ prioritizers: { configurations: [{ type: 'BuiltIn', builtIn: 'Spread', weight }] } }, fleet('a'))
  assert.match(typo(1).misconfigured ?? '', /Spread/)
  assert.equal(typo(0).misconfigured, undefined)
  const twice = (...weights: number[]) =>
    ['BuiltIn', 'AddOn'].map((type) => {
      const configurations = weights.map((weight) => ({ type, builtIn: 'Spread', weight }))
      return schedule({ prioritizers: { configurations } }, fleet('a')).misconfigured !== undefined
    })
  assert.deepEqual(twice(1, 0), [false, false], 'the last weight counts, also of what there is not')
  assert.deepEqual(twice(0, 1), [true, true])
  assert.match(schedule({ prioritizers: { mode: 'Odd' } }, fleet('a')).misconfigured ?? '', /Odd/)
})

test('order: total, then name; cut by number; the missing are counted', () => {
  const answer = schedule({ numberOfClusters: 2 }, fleet('c', 'a', 'b'), { selected: ['c'] })
  assert.deepEqual(selected(answer), ['c', 'a'])
  assert.equal(answer.satisfied, 'AllDecisionsScheduled')
  const more = schedule({ numberOfClusters: 5 }, fleet('a'))
  assert.deepEqual([more.unscheduled, more.satisfied], [4, 'NotAllDecisionsScheduled'])
  assert.equal(schedule({ numberOfClusters: 0 }, fleet('a')).satisfied, 'NoManagedClusterMatched')
})

test('taints: every one must be tolerated, for a time at most; new ones only keep newcomers out', () => {
  const tainted = (effect: 'NoSelect' | 'NoSelectIfNew' | 'PreferNoSelect', timeAdded?: string) => [
    placementCluster('a', {}, { taints: [{ key: 'k', value: 'v', effect, ...(timeAdded ? { timeAdded } : {}) }] }),
  ]
  const pass = (
    tolerations: PlacementQuestion['tolerations'],
    clusters: readonly PlacementCluster[],
    world?: Parameters<typeof placementWorld>[0],
  ) => selected(schedule(tolerations ? { tolerations } : {}, clusters, world)).length === 1
  assert.equal(pass(undefined, tainted('NoSelect')), false)
  assert.equal(pass(undefined, tainted('PreferNoSelect')), true)
  assert.equal(pass(undefined, tainted('NoSelectIfNew')), false)
  assert.equal(pass(undefined, tainted('NoSelectIfNew'), { selected: ['a'] }), true)
  assert.equal(pass([{ key: 'k', value: 'v' }], tainted('NoSelect')), true)
  assert.equal(pass([{ key: 'k', operator: 'Equal', value: 'w' }], tainted('NoSelect')), false)
  assert.equal(pass([{ operator: 'Exists' }], tainted('NoSelect')), true)
  assert.equal(pass([{ key: 'k', operator: 'Exists', effect: 'NoSelectIfNew' }], tainted('NoSelect')), false)
  const timed = (tolerationSeconds: number) => [{ key: 'k', operator: 'Exists', tolerationSeconds }]
  assert.equal(pass(timed(60), tainted('NoSelect', at(-59))), true)
  assert.equal(pass(timed(60), tainted('NoSelect', at(-60))), false)
  assert.equal(pass(timed(60), tainted('NoSelect')), false, 'no time is long ago')
  assert.equal(pass(timed(9_223_372_037), tainted('NoSelect', at(-1))), false, 'more than 292 years wraps')
  assert.equal(
    schedule({ tolerations: timed(60) }, tainted('NoSelect', at(-10)), { selected: ['a'] }).until,
    Date.parse(at(50)),
  )
})

test('what is wrong is only seen when there is a cluster to filter', () => {
  const bad = { predicates: [{ labelSelector: { matchExpressions: [{ key: 'k', operator: 'In' as const }] } }] }
  assert.match(schedule(bad, fleet('a')).misconfigured ?? '', /predicates\[0\]: k: In needs values/)
  assert.equal(schedule(bad, []).misconfigured, undefined)
  const never = { predicates: [{ labelSelector: { matchLabels: { no: 'body' } } }], tolerations: [{ key: '' }] }
  assert.equal(schedule(never, fleet('a')).misconfigured, undefined)
  assert.equal(
    schedule({ tolerations: [{ key: '' }] }, fleet('a')).misconfigured,
    'If the key is empty, operator must be Exists.',
  )
})

test('sets: only bound ones that exist; the words say what is missing', () => {
  const words = (world: Partial<PlacementWorld>, clusterSets?: string[]) =>
    schedule(clusterSets ? { clusterSets } : {}, fleet('a'), world).satisfied
  assert.equal(words({ bound: [] }), 'NoManagedClusterSetBindings')
  assert.equal(words({ bound: ['gone'] }), 'NoManagedClusterSetBindings')
  assert.equal(words({}, ['other']), 'NoIntersection')
  assert.equal(words({ sets: [{ name: 'global', access: 'Bound' }] }), 'AllManagedClusterSetsEmpty')
  assert.equal(words({}), 'AllDecisionsScheduled')
  const broken = { name: 'global', access: 'Bound' as const, selector: { matchLabels: { 'a b': 'c' } } }
  assert.match(schedule({}, fleet('a'), { sets: [broken] }).misconfigured ?? '', /ClusterSet global: key "a b"/)
})

test('groups: named ones first, cut by name, percentages rounded up, never none; pages of 100 through all groups', () => {
  const clusters = ['a', 'b', 'c', 'd', 'e'].map((name, i) => placementCluster(name, { odd: String(i % 2) }))
  const odd = { name: 'odd', labelSelector: { matchLabels: { odd: '1' } } }
  const groups = (decisionGroups: PlacementQuestion['decisionGroups'], of = clusters) =>
    schedule(decisionGroups ? { decisionGroups } : {}, of).groups.map(({ name, clusters: members }) =>
      [name, ...members].join(' '),
    )
  assert.deepEqual(groups({ clustersPerGroup: 2, groups: [odd] }), ['odd b d', ' a c', ' e'])
  assert.deepEqual(groups({ clustersPerGroup: '30%' }), [' a b', ' c d', ' e'])
  assert.deepEqual(groups({ clustersPerGroup: 0 }), [' a b c d e'])
  assert.deepEqual(groups({ clustersPerGroup: 9 }), [' a b c d e'])
  assert.deepEqual(groups(undefined, []), [''])
  assert.match(schedule({ decisionGroups: { clustersPerGroup: '5' } }, clusters).misconfigured ?? '', /"5" is neither/)
  const many = Array.from({ length: 120 }, (_, i) => placementCluster(`c${i}`, { odd: String(i % 2) }))
  const pages = ocmPages('p', schedule({ decisionGroups: { groups: [odd] } }, [...many, ...clusters]).groups)
  assert.deepEqual(
    pages.map(
      ({ name, groupName, groupIndex, clusters: { length } }) => `${name} ${groupName}/${groupIndex} ${length}`,
    ),
    ['p-decision-1 odd/0 62', 'p-decision-2 /1 63'],
  )
  const two = ocmPages('p', [{ name: '', clusters: many.map(({ name }) => name) }])
  assert.deepEqual(
    two.map(({ name, clusters: { length } }) => `${name} ${length}`),
    ['p-decision-1 100', 'p-decision-2 20'],
  )
})

test('the deviations are few and named', () => {
  assert.deepEqual(
    OCM_DEVIATIONS.map(({ name }) => name),
    ['MisconfiguredKeepsDecisions', 'SpreadWorks', 'TaintsKeepDeliveredWork'],
  )
})
