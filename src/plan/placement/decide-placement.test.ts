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
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from './types.ts'

const stores = placementQuestion({ clusterSelector: { matchLabels: { tier: 'store' } } })

function decide(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  before: Partial<PlacementBefore> = {},
  around: Partial<PlacementWorld> = {},
) {
  const selected = (before.pages ?? []).flat().map((one) => one.cluster)
  const past = { pages: [], generation: 2, holds: () => true, ...before }
  return decidePlacement(question, clusters, { world: { ...placementWorld({ selected }), ...around }, before: past })
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
  const anything = { pages, question: asked, maxDropped: '100%' }
  const stays = ['b Selected', 'c Selected']

  assert.deepEqual(change({ labels: {} }), ['a Evicting', ...stays], 'a person took the label away')
  assert.deepEqual(change({ claims: {} }), stays, 'a lost claim is no intent')
  assert.deepEqual(change({ taints: [{ key: 'x', effect: 'NoSelect' }] }), stays, 'a taint is no intent')
  const windows = [
    { claimSelector: { matchExpressions: [{ key: 'os', operator: 'NotIn' as const, values: ['linux'] }] } },
  ]
  assert.deepEqual(
    states(decide({ ...stores, predicates: windows }, fleet, anything).decisions),
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
    states(
      decide(stores, [cluster('a')], { pages: from, question: stores, holds: () => holds, maxDropped: '100%' })
        .decisions,
    )
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
  assert.equal(
    held.message,
    'The change would drop 8 of 20 clusters; at most 2 can be dropped at once. c0: the selector wants tier=store, but tier is "dc"; and 7 more.',
  )
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
  assert.equal(decide(stores, fleet, { pages }).guard.kind, 'Held', 'by default a tenth may go')
  assert.equal(decide(stores, fleet, { pages, maxDropped: '50%' }).guard.kind, 'Free')
})

/** A fleet of stores after a change, decided with what was selected before. */
function after(fleet: readonly PlacementCluster[], change: (fleet: readonly PlacementCluster[]) => PlacementCluster[]) {
  const pages = decide(stores, fleet).pages
  return (before: Partial<PlacementBefore> = {}, question = stores) =>
    decide(question, change(fleet), { pages, question: stores, ...before })
}

const storesNamed = (...of: readonly string[]) => of.map((name) => cluster(name, { tier: 'store' }))

test('what the guard asks about, by default and with a limit of the author', () => {
  const five = storesNamed('a', 'b', 'c', 'd', 'e')
  const lose = (...lost: readonly string[]) =>
    after(five, (fleet) => fleet.map((one) => (lost.includes(one.name) ? cluster(one.name) : one)))
  const none = placementQuestion({ clusterSelector: { matchLabels: { tier: 'stroe' } } })
  const other = { empties: (name: string) => name === 'b' }
  const table: readonly (readonly [what: string, kind: string, answer: ReturnType<typeof decide>])[] = [
    ['one of five', 'Free', lose('a')()],
    ['two of five', 'Held', lose('a', 'b')()],
    ['one of five, and nothing else runs there', 'Held', lose('b')(other)],
    ['one of five, and something else runs there', 'Free', lose('a')(other)],
    ['one wrong letter in the selector', 'Held', lose()({}, none)],
    ['the same, and no cluster runs anything of it', 'Free', lose()({ holds: () => false }, none)],
    ['all of one', 'Held', after(storesNamed('a'), () => [cluster('a')])()],
    ['a limit that counts, and all go', 'Held', lose()({ maxDropped: 5 }, none)],
    ['a limit of all, and all go', 'Free', lose()({ maxDropped: '100%', ...other }, none)],
    ['two of five, and the author allows two', 'Free', lose('a', 'b')({ maxDropped: 2 })],
    ['one of five, and the author allows none', 'Held', lose('a')({ maxDropped: 0, holds: () => false })],
    ['the only one that has it by now', 'Held', lose('a')({ holds: (name) => name === 'a' })],
    ['clusters that are deleted', 'Free', after(five, () => storesNamed('e'))()],
    [
      'clusters that are decommissioned',
      'Free',
      after(five, (fleet) => fleet.map((one) => ({ ...one, leaving: true })))(),
    ],
    [
      'taints',
      'Free',
      after(five, (fleet) => fleet.map((one) => ({ ...one, taints: [{ key: 'x', effect: 'NoSelect' as const }] })))(),
    ],
  ]
  for (const [what, kind, { guard }] of table) assert.equal(guard.kind, kind, what)
  assert.equal(
    lose('b')(other).message,
    'The change would drop 1 of 5 clusters. No Bundle would be left on b. b: the selector wants tier=store, but the cluster has no label tier.',
  )
  assert.equal(
    lose()({}, none).message,
    'The change would drop 5 of 5 clusters; at most 1 can be dropped at once. No cluster would keep the Bundles of the Placement. a: the selector wants tier=stroe, but tier is "store"; and 4 more.',
  )
})

test('while a change is held, clusters join and leave as before it', () => {
  const fleet = storesNamed('a', 'b', 'c')
  const pages = decide(stores, fleet).pages
  const none = placementQuestion({ clusterSelector: { matchLabels: { tier: 'stroe' } } })
  const now = [cluster('a', { tier: 'store' }, { leaving: true }), ...fleet.slice(1), ...storesNamed('d')]
  const held = decide(none, [...now, cluster('e', { tier: 'dc' })], { pages, question: stores })
  assert.equal(held.guard.kind, 'Held')
  assert.deepEqual(states(held.decisions), ['b Selected', 'c Selected', 'd Selected'])
  const again = [[...held.pages[0]!.slice(0, 2), { cluster: 'd', reason: 'x', state: 'Evicting' as const }]]
  assert.deepEqual(
    states(decide(none, [...now], { pages: again, question: stores }).decisions),
    ['b Selected', 'c Selected', 'd Selected'],
    'wanted again',
  )
})

test('a held change stays held until its token is written, and the token counts once', () => {
  const twenty = storesNamed(...Array.from({ length: 19 }, (_, i) => `c${i}`))
  const without = (fleet: readonly PlacementCluster[]) =>
    fleet.map((one) => (one.name === 'c0' || one.name === 'c1' ? cluster(one.name) : one))
  const drop = after(twenty, without)
  const held = drop().guard
  assert.ok(held.kind === 'Held')
  const grown = after([...twenty, ...storesNamed('d')], without)
  assert.equal(grown().guard.kind, 'Free', 'two of twenty are a tenth')
  assert.equal(grown({ held: held.token }).guard.kind, 'Held', 'but the question was asked')
  assert.equal(drop({ held: held.token, release: held.token }).guard.kind, 'Released')
  const later = drop({ release: held.token, released: held.token }).guard
  assert.ok(later.kind === 'Held', 'the same clusters once more')
  assert.equal(drop({ release: later.token, released: held.token }).guard.kind, 'Released')
})

test('property: the guard lets no change pass that takes the Bundles from all clusters, or from more than a tenth', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ stays: fc.boolean(), holds: fc.boolean(), lone: fc.boolean() }), { maxLength: 40 }),
      (of) => {
        const fleet = storesNamed(...of.map((_, i) => `c${String(i).padStart(2, '0')}`))
        const at = new Map(fleet.map(({ name }, i) => [name, of[i]!]))
        const { guard, decisions } = after(fleet, (all) =>
          all.map((one) => (at.get(one.name)!.stays ? one : cluster(one.name))),
        )({ holds: (name) => at.get(name)!.holds, empties: (name) => at.get(name)!.lone })
        const lost = of.filter(({ stays }) => !stays)
        const losing = lost.filter(({ holds }) => holds)
        const isAll = losing.length > 0 && !of.some(({ stays, holds }) => stays && holds)
        const asks =
          losing.length > 0 &&
          (isAll || losing.some(({ lone }) => lone) || lost.length > Math.max(1, Math.floor(of.length / 10)))
        assert.equal(guard.kind, asks ? 'Held' : 'Free')
        if (asks) assert.equal(decisions.filter(({ state }) => state === 'Selected').length, of.length)
      },
    ),
  )
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
      const next = decide(stores, changed, { pages: before.pages, maxDropped: '100%' })
      const different = next.pages.filter((page, i) => JSON.stringify(page) !== JSON.stringify(before.pages[i]))
      assert.equal(different.length, 1)
    }),
    { numRuns: 30 },
  )
})

test('a spec that adds too many bundles on clusters waits; clusters that join never do', () => {
  const fleet = (from: number, count: number, labels = { tier: 'store' }) =>
    Array.from({ length: count }, (_, at) => cluster(`m${String(from + at).padStart(5, '0')}`, labels))
  const grow = { bundles: 2, holds: () => false }
  const created = decide(stores, fleet(0, 501), grow)
  assert.equal(created.guard.kind, 'Held', 'creation counts')
  assert.deepEqual(created.decisions, [])
  assert.equal(decide(stores, fleet(0, 500), grow).guard.kind, 'Free')
  assert.equal(decide(stores, fleet(0, 501), { ...grow, bundles: 0 }).guard.kind, 'Free', 'no Bundle, no growth')
  assert.equal(decide(stores, fleet(0, 501), { ...grow, holds: () => true }).guard.kind, 'Free', 'all have them')

  const few = decide(stores, fleet(0, 10), grow)
  const before = { ...grow, pages: few.pages, question: stores }
  const joined = decide(stores, fleet(0, 2000), before)
  assert.deepEqual([joined.guard.kind, joined.decisions.length], ['Free', 2000], 'joining clusters never count')

  const everything = placementQuestion()
  const others = [...fleet(0, 11), ...fleet(5000, 600, { tier: 'lab' })]
  const wider = decide(everything, others, before)
  assert.ok(wider.guard.kind === 'Held')
  assert.match(wider.guard.message, /would add 1,200 bundles on clusters, and there are 20 now/)
  assert.equal(
    wider.decisions.length,
    11,
    'the decisions before it stay in force, and the cluster that joined is in them',
  )
  const released = decide(everything, others, { ...before, release: wider.guard.token })
  assert.deepEqual([released.guard.kind, released.decisions.length], ['Released', 611])
  assert.equal(decide(everything, others, { ...before, maxAdded: 1200 }).guard.kind, 'Free')
})

test('labels or a ClusterSet that add too many bundles on clusters wait, counted together for an hour', () => {
  const fleet = (count: number, labels: Record<string, string>, from = 0) =>
    Array.from({ length: count }, (_, at) => cluster(`m${String(from + at).padStart(5, '0')}`, labels))
  const few = decide(stores, fleet(10, { tier: 'store' }), { bundles: 2, holds: () => false })
  const before = {
    bundles: 2,
    holds: () => false,
    isJoining: (name: string) => name.startsWith('n'),
    pages: few.pages,
    question: stores,
  }
  const relabelled = [...fleet(511, { tier: 'store' }), cluster('n1', { tier: 'store' })]
  const held = decide(stores, relabelled, before)
  assert.ok(held.guard.kind === 'Held')
  assert.match(held.guard.message, /would add 1,002 bundles on clusters, and there are 20 now/)
  assert.deepEqual([held.decisions.length, held.relabelled], [11, 0], 'only the cluster that joins comes in')
  assert.equal(decide(stores, fleet(510, { tier: 'store' }), before).relabelled, 500, 'not more than the limit')

  const more = [...relabelled, cluster('m09999', { tier: 'store' })]
  const { token } = held.guard
  assert.equal(decide(stores, relabelled, { ...before, release: token }).guard.kind, 'Released')
  assert.equal(decide(stores, more, { ...before, release: token }).guard.kind, 'Held', 'a token releases one change')
  const joined = [...relabelled, cluster('n2', { tier: 'store' })]
  assert.equal(decide(stores, joined, { ...before, release: token }).guard.kind, 'Released', 'a cluster that joins')

  const slowly = decide(stores, fleet(11, { tier: 'store' }), { ...before, growing: { of: 10, added: 500 } })
  assert.ok(slowly.guard.kind === 'Held')
  assert.match(slowly.guard.message, /would add 2 .* added 1,000 to 20 within the last hour/)
  const enough = decide(stores, fleet(11, { tier: 'store' }), { ...before, growing: { of: 501, added: 500 } })
  assert.equal(enough.guard.kind, 'Free', 'not more than double')

  const edge = placementQuestion({ clusterSets: ['edge'] })
  const inSet = (selector: Record<string, string>) => ({
    sets: [{ name: 'edge', access: 'Open' as const, selector: { matchLabels: selector } }],
  })
  const all = [...fleet(10, { tier: 'store' }), ...fleet(600, { tier: 'lab' }, 1000)]
  const narrow = decide(edge, all, { bundles: 2, holds: () => false }, inSet({ tier: 'store' }))
  const wide = decide(edge, all, { ...before, pages: narrow.pages, question: edge }, inSet({}))
  assert.deepEqual([wide.guard.kind, wide.decisions.length], ['Held', 10], 'one wrong selector of a ClusterSet')
})
