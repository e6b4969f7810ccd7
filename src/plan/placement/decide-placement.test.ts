import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesSelector } from '../../core/text/label-selector.ts'
import {
  placementCluster as cluster,
  placementQuestion,
  placementWorld,
} from '../../testing/fixtures/placement-builders.ts'
import { decidePlacement } from './decide-placement.ts'
import { PAGE_SIZE } from './decisions/paginate.ts'
import type { ClusterDecision } from './decisions/paginate.ts'
import type { PlacementBefore } from './decide-placement.ts'
import type { PlacementCluster, PlacementQuestion } from './types.ts'

const stores = placementQuestion({ clusterSelector: { matchLabels: { tier: 'store' } } })

function decide(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  before: Partial<PlacementBefore> = {},
) {
  const selected = (before.pages ?? []).flat().map((one) => one.cluster)
  const past = { pages: [], generation: 2, holds: () => true, ...before }
  return decidePlacement(question, clusters, { world: placementWorld({ selected }), before: past })
}

const names = (decisions: readonly ClusterDecision[]) => decisions.map((decision) => decision.cluster)
const states = (decisions: readonly ClusterDecision[]) =>
  decisions.map(({ cluster: name, state }) => `${name} ${state}`)

test('the answer is in order of name', () => {
  const answer = decide(stores, [
    cluster('b', { tier: 'store' }),
    cluster('c', { tier: 'dc' }),
    cluster('a', { tier: 'store' }),
    cluster('d', { tier: 'store' }, { accepted: false }),
  ])
  assert.deepEqual(answer.decisions, [
    { cluster: 'a', reason: 'labels match: tier=store', state: 'Selected' },
    { cluster: 'b', reason: 'labels match: tier=store', state: 'Selected' },
  ])
  assert.equal(answer.message, '2 clusters selected.')
  assert.deepEqual(answer.pages, [answer.decisions])
})

test('no selected cluster is one empty page and a sentence that says why', () => {
  const none = decide(stores, [])
  assert.deepEqual(none.pages, [[]])
  assert.match(none.message, /No cluster is registered yet; add a cluster/)
  const taints = [{ key: 'broken', effect: 'NoSelect' as const }]
  const fleet = [
    cluster('c', { tier: 'dc' }),
    cluster('d', { tier: 'store' }, { accepted: false }),
    cluster('e', { tier: 'store' }, { taints }),
  ]
  assert.equal(
    decide(stores, fleet).message,
    'No cluster is selected: 1 with labels that do not match the selector, 1 with a taint that is not tolerated, 1 not accepted yet.',
  )
  assert.equal(
    decide(placementQuestion({ numberOfClusters: 0 }), [cluster('a')]).message,
    'No cluster is selected: 1 cluster would pass, but numberOfClusters or spread takes none.',
  )
})

test('a cluster keeps its page; a newcomer takes the first free place', () => {
  const fleet = Array.from({ length: PAGE_SIZE + 2 }, (_, i) => cluster(`m${String(i).padStart(4, '0')}`))
  const first = decide(placementQuestion(), fleet)
  assert.deepEqual(
    first.pages.map((page) => page.length),
    [PAGE_SIZE, 2],
  )
  const grown = decide(placementQuestion(), [...fleet, cluster('a0')], { pages: first.pages })
  assert.deepEqual(grown.pages[0], first.pages[0], 'a name that sorts first does not push others to the next page')
  assert.deepEqual(names(grown.pages[1]!), ['a0', 'm0500', 'm0501'])
})

test('what takes a cluster out decides whether what it runs is removed', () => {
  const fleet = ['a', 'b', 'c'].map((name) => cluster(name, { tier: 'store' }, { claims: { os: 'linux' } }))
  const linux = { claimSelector: { matchExpressions: [{ key: 'os', operator: 'In' as const, values: ['linux'] }] } }
  const asked = { ...stores, predicates: [linux] }
  const pages = decide(asked, fleet).pages
  const change = (to: Partial<PlacementCluster>, question: PlacementQuestion = asked, was = asked) =>
    states(decide(question, [{ ...fleet[0]!, ...to }, fleet[1]!, fleet[2]!], { pages, question: was }).decisions)
  const stays = ['b Selected', 'c Selected']

  assert.deepEqual(change({ labels: {} }), ['a Evicting', ...stays], 'a person took the label away')
  assert.deepEqual(change({ claims: {} }), stays, 'a lost claim is no intent')
  assert.deepEqual(change({ taints: [{ key: 'x', effect: 'NoSelect' }] }), stays, 'a taint is no intent')
  const windows = [
    { claimSelector: { matchExpressions: [{ key: 'os', operator: 'NotIn' as const, values: ['linux'] }] } },
  ]
  assert.deepEqual(
    states(decide({ ...stores, predicates: windows }, fleet, { pages, question: asked }).decisions),
    ['a Evicting', 'b Evicting', 'c Evicting'],
    'the spec took them out, with the facts as they were',
  )
  assert.deepEqual(
    change({ claims: {} }, { ...asked, tolerations: [] }),
    stays,
    'a claim lost at the time of an edit is not taken for the edit',
  )
  assert.deepEqual(
    states(decide({ ...asked, numberOfClusters: 2 }, fleet, { pages, question: asked }).decisions),
    ['a Selected', 'b Selected', 'c Evicting'],
    'a smaller number is intent',
  )
  assert.deepEqual(
    states(
      decide(asked, [{ ...fleet[0]!, leaving: true }, fleet[1]!, fleet[2]!], { pages, question: asked }).decisions,
    ),
    stays,
  )
})

test('who was let go and is wanted again before that began is kept, whatever keeps newcomers out', () => {
  const pages = [[{ cluster: 'a', reason: 'x', state: 'Evicting' as const }]]
  const back = (effect: 'NoSelect' | 'NoSelectIfNew', runs: boolean, question = stores) => {
    const tainted = cluster('a', { tier: 'store' }, { taints: [{ key: 'k', effect }] })
    const sets = [{ name: 'all', access: 'Bound' as const, selector: {} }]
    const world = placementWorld({ evicting: new Set(runs ? ['a'] : []), sets, bound: ['all'] })
    const before = { pages, question, generation: 1, holds: () => true }
    return states(decidePlacement(question, [tainted], { world, before }).decisions)
  }
  assert.deepEqual(back('NoSelectIfNew', true), ['a Selected'], 'it is no newcomer')
  assert.deepEqual(back('NoSelect', true), [], 'it leaves the decisions, and keeps what it runs')
  assert.deepEqual(back('NoSelectIfNew', false), ['a Evicting'], 'what is going already goes')
  const asOcm = { ...stores, scheduler: 'ocm' as const }
  assert.deepEqual(back('NoSelectIfNew', true, asOcm), [], 'who is not in the decisions is new there')
})

test('a cluster that runs nothing any more is not Evicting', () => {
  const pages = decide(stores, [cluster('a', { tier: 'store' })]).pages
  const out = (holds: boolean, from = pages) =>
    states(decide(stores, [cluster('a')], { pages: from, question: stores, holds: () => holds }).decisions)
  assert.deepEqual(out(false), [])
  const evicting = [[{ cluster: 'a', reason: 'x', state: 'Evicting' as const }]]
  assert.deepEqual(out(true, evicting), ['a Evicting'])
  assert.deepEqual(out(false, evicting), [])
})

test('a change that drops more than the guard allows stops, and a release lets exactly that one through', () => {
  const fleet = Array.from({ length: 20 }, (_, i) => cluster(`c${i}`, { tier: i < 8 ? 'dc' : 'store' }))
  const pages = decide(placementQuestion(), fleet).pages
  const held = decide(stores, fleet, { pages, question: placementQuestion(), maxDropped: '10%' })
  assert.equal(held.guard.kind, 'Held')
  assert.equal(held.message, 'The change would drop 8 of 20 clusters; at most 2 can be dropped at once.')
  assert.deepEqual(held.pages, pages, 'the decisions before it stay in force')
  const token = held.guard.kind === 'Held' ? held.guard.token : ''
  const again = (release: string, drop = 8) =>
    decide(
      stores,
      fleet.map((one, i) => (i < drop ? cluster(one.name) : one)),
      { pages, maxDropped: '10%', release },
    )
  assert.equal(again(token).guard.kind, 'Released')
  assert.equal(names(again(token).decisions.filter(({ state }) => state === 'Selected')).length, 12)
  assert.equal(again(token, 9).guard.kind, 'Held', 'the release does not cover a larger drop')
  assert.equal(decide(stores, fleet, { pages }).guard.kind, 'Free', 'by default half may go')
})

test('clusters that are gone do not count as dropped', () => {
  const fleet = Array.from({ length: 20 }, (_, i) => cluster(`c${i}`))
  const pages = decide(placementQuestion(), fleet).pages
  assert.equal(decide(placementQuestion(), fleet.slice(0, 2), { pages }).guard.kind, 'Free')
})

test('a question without an answer keeps the last good decisions', () => {
  const fleet = [cluster('a', { tier: 'store' }), cluster('b')]
  const pages = decide(stores, fleet).pages
  const bad = placementQuestion({
    prioritizers: { configurations: [{ type: 'BuiltIn', builtIn: 'Spread', weight: 1 }] },
  })
  const answer = decide(bad, fleet, { pages })
  assert.match(answer.message, /unknown built-in prioritizer "Spread"; valid names: Balance, Steady/)
  assert.deepEqual(answer.pages, pages)
})

test('a score is written when the cluster is chosen, and not again', () => {
  const fleet = ['a', 'b', 'c'].map((name) => cluster(name))
  const question = placementQuestion({ numberOfClusters: 2 })
  const first = decide(question, fleet)
  assert.deepEqual(first.decisions[0], {
    cluster: 'a',
    reason: first.decisions[0]!.reason,
    state: 'Selected',
    score: 100,
  })
  assert.deepEqual(decide(question, fleet, { pages: first.pages }).pages, first.pages, 'though Steady adds 300 now')
})

const arbitraryCluster = fc.record({
  name: fc.stringMatching(/^[a-e][a-e0-9]{0,3}$/),
  labels: fc.dictionary(fc.constantFrom('t', 'r'), fc.constantFrom('x', 'y')),
  accepted: fc.boolean(),
})
const arbitraryFleet = fc.uniqueArray(arbitraryCluster, { selector: ({ name }) => name, maxLength: 20 })
const arbitraryQuestion = fc.record({
  clusterSelector: fc.record({
    matchLabels: fc.dictionary(fc.constantFrom('t', 'r'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
  }),
})

test('property: decisions are exactly the accepted matches, in one place each, whatever the order of the fleet', () => {
  fc.assert(
    fc.property(arbitraryQuestion, arbitraryFleet, fc.nat(), (question, fleet, turn) => {
      const answer = decide(question, fleet)
      const expected = fleet
        .filter(({ accepted, labels }) => accepted && matchesSelector(labels, question.clusterSelector))
        .map(({ name }) => name)
        .sort()
      assert.deepEqual(names(answer.decisions), expected)
      assert.deepEqual(names(answer.pages.flat()).sort(), expected)
      const at = fleet.length === 0 ? 0 : turn % fleet.length
      assert.deepEqual(decide(question, [...fleet.slice(at), ...fleet.slice(0, at)]).pages, answer.pages)
    }),
  )
})

test('property: a second look at the same fleet changes nothing, and one relabelled cluster changes one page', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1200 }), fc.nat(), fc.boolean(), (size, pick, joins) => {
      const fleet = Array.from({ length: size }, (_, i) => cluster(`c${i}`, { tier: 'store' }))
      const before = decide(stores, fleet)
      assert.deepEqual(decide(stores, fleet, { pages: before.pages }).pages, before.pages)
      const changed = joins
        ? [...fleet, cluster('newcomer', { tier: 'store' })]
        : fleet.map((one, i) => (i === pick % size ? cluster(one.name) : one))
      const after = decide(stores, changed, { pages: before.pages })
      const different = after.pages.filter((page, i) => JSON.stringify(page) !== JSON.stringify(before.pages[i]))
      assert.equal(different.length, 1)
    }),
    { numRuns: 30 },
  )
})
