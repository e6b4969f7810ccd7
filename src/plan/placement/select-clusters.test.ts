/** Spread, stable groups, native scores: tables and properties. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { approximateQuantity } from '../../core/text/quantity.ts'
import {
  placementCluster as cluster,
  placementLoad,
  placementQuestion,
  placementWorld,
} from '../../testing/fixtures/placement-builders.ts'
import { groupStably } from './decisions/decision-groups.ts'
import type { PlacementCluster, SpreadTerm } from './types.ts'
import { selectClusters } from './select-clusters.ts'
import { chooseSpread } from './spread.ts'

const term = (more: Partial<SpreadTerm> = {}): SpreadTerm => ({
  topologyKey: 'region',
  topologyKeyType: 'Label',
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  ...more,
})
const names = (clusters: readonly { readonly name: string }[]) => clusters.map(({ name }) => name).join(' ')

test('spread takes the best that keeps every region within the skew', () => {
  const ranked = [
    cluster('a', { region: 'eu' }),
    cluster('b', { region: 'eu' }),
    cluster('c', { region: 'eu' }),
    cluster('d', { region: 'us' }),
    cluster('e', { region: 'ap' }),
    cluster('f'),
  ]
  const chosen = (count: number, more: Partial<SpreadTerm> = {}) =>
    names(chooseSpread(ranked, [term(more)], count).chosen)
  assert.equal(chosen(3), 'a d e')
  assert.equal(chosen(9), 'a d e b', 'one more would be two apart; the one without a region cannot meet the term')
  assert.equal(chosen(4, { maxSkew: 2 }), 'a b d e')
  assert.equal(
    chosen(9, { whenUnsatisfiable: 'ScheduleAnyway' }),
    'a d e b f c',
    'gives way, the smallest excess first',
  )
  assert.equal(names(chooseSpread(ranked, [], 2).chosen), 'a b')
  const claims = [
    cluster('a', {}, { claims: { zone: '1' } }),
    cluster('b', {}, { claims: { zone: '1' } }),
    cluster('c', {}, { claims: { zone: '2' } }),
  ]
  const zone = term({ topologyKey: 'zone', topologyKeyType: 'Claim' })
  assert.equal(names(chooseSpread(claims, [zone], 2).chosen), 'a c')
  assert.deepEqual([...chooseSpread(ranked, [term()], 9).full.keys()], ['f', 'c'])
})

test('property: spread never exceeds the skew, and stops only when no cluster fits', () => {
  const fleet = fc.array(fc.record({ r: fc.constantFrom('x', 'y', 'z'), s: fc.constantFrom('1', '2') }), {
    maxLength: 14,
  })
  fc.assert(
    fc.property(fleet, fc.nat(15), fc.integer({ min: 1, max: 3 }), (labels, count, maxSkew) => {
      const ranked = labels.map((one, i) => cluster(`c${i}`, one))
      const terms = [term({ topologyKey: 'r', maxSkew }), term({ topologyKey: 's', maxSkew: 2 })]
      const { chosen } = chooseSpread(ranked, terms, count)
      const skew = (of: readonly PlacementCluster[], key: string) => {
        const domains = new Map(ranked.map((one) => [one.labels[key]!, 0]))
        for (const one of of) domains.set(one.labels[key]!, domains.get(one.labels[key]!)! + 1)
        return domains.size === 0 ? 0 : Math.max(...domains.values()) - Math.min(...domains.values())
      }
      const fits = (of: readonly PlacementCluster[]) => skew(of, 'r') <= maxSkew && skew(of, 's') <= 2
      assert.equal(fits(chosen), true)
      if (chosen.length < Math.min(count, ranked.length)) {
        for (const one of ranked.filter((other) => !chosen.includes(other))) assert.equal(fits([...chosen, one]), false)
      }
    }),
  )
})

test('stable groups: who has a place keeps it, newcomers fill the first with room', () => {
  const clusters = ['a', 'b', 'c', 'd', 'e'].map((name) => cluster(name, { canary: name === 'e' ? 'yes' : 'no' }))
  const question = placementQuestion({
    decisionGroups: {
      clustersPerGroup: 2,
      groups: [{ name: 'canary', labelSelector: { matchLabels: { canary: 'yes' } } }],
    },
  })
  const places = (before: ReadonlyMap<string, { name: string; index: number } | undefined>, of = clusters) => {
    const groups = groupStably(question, of, before)
    assert.equal('misconfigured' in groups, false)
    return [...(groups as Map<string, { name: string; index: number }>)]
      .map(([one, { name, index }]) => `${one} ${name}/${index}`)
      .sort()
  }
  assert.deepEqual(places(new Map()), ['a /0', 'b /0', 'c /1', 'd /1', 'e canary/0'])
  const before = new Map(['b', 'c', 'd'].map((name, i) => [name, { name: '', index: i === 0 ? 0 : 1 }] as const))
  assert.deepEqual(places(before), ['a /0', 'b /0', 'c /1', 'd /1', 'e canary/0'], 'the newcomer moves no cluster')
  const moved = new Map([['e', { name: '', index: 3 }]])
  assert.equal(places(moved).at(-1), 'e canary/0', 'a cluster that belongs elsewhere moves')
})

test('groups by the names of their clusters; a name in no group comes last', () => {
  const question = placementQuestion({
    clusters: ['a', 'b', 'c'],
    decisionGroups: {
      groups: [
        { name: 'one', clusters: ['b'] },
        { name: 'none', clusters: [] },
      ],
    },
  })
  const { selected } = selectClusters(
    question,
    ['a', 'b', 'c', 'd'].map((name) => cluster(name)),
    placementWorld(),
  )
  assert.deepEqual(
    [...selected].map(([name, { group }]) => `${name} ${group?.name}`),
    ['a ', 'b one', 'c '],
  )
})

test('native: a selected cluster is not given up for a less busy one; PreferNoSelect comes last; scores are bounded', () => {
  const load = placementLoad({ a: 3, b: 0 })
  const pick = (clusters: readonly PlacementCluster[], world: Parameters<typeof placementWorld>[0], more = {}) => [
    ...selectClusters(
      placementQuestion({ numberOfClusters: 1, ...more }),
      clusters,
      placementWorld(world),
    ).selected.keys(),
  ]
  assert.deepEqual(pick([cluster('a'), cluster('b')], { load }), ['b'])
  assert.deepEqual(pick([cluster('a'), cluster('b')], { load, selected: ['a'] }), ['a'])
  const disliked = cluster('a', {}, { taints: [{ key: 'old', effect: 'PreferNoSelect' }] })
  assert.deepEqual(pick([disliked, cluster('b')], {}), ['b'])
  assert.deepEqual(pick([disliked, cluster('b')], {}, { tolerations: [{ key: 'old', operator: 'Exists' }] }), ['a'])
  const huge = cluster('b', {}, { scores: [{ resource: 'r', name: 's', value: 100_000 }] })
  const scored = {
    prioritizers: { configurations: [{ type: 'Score', score: { resource: 'r', name: 's' }, weight: 1 }] },
  }
  assert.deepEqual(pick([cluster('a'), huge], { selected: ['a'] }, scored), ['a'])
})

test('a toleration without a time on the taint has not begun to run out', () => {
  const tainted = cluster('a', {}, { taints: [{ key: 'k', effect: 'NoSelect' }] })
  const tolerations = [{ key: 'k', operator: 'Exists', tolerationSeconds: 1 }]
  assert.equal(selectClusters(placementQuestion({ tolerations }), [tainted], placementWorld()).selected.size, 1)
})

test('quantities become numbers as Kubernetes makes them', () => {
  const table: [string, number | undefined][] = [
    ['3300m', 3300 * 0.001],
    ['0.1', 1 * 0.1],
    ['1.5Gi', 1_610_612_736],
    ['4Gi', 4_294_967_296],
    ['1e3', 1000],
    ['-2', -2],
    ['x', undefined],
  ]
  for (const [text, number] of table) assert.equal(approximateQuantity(text), number, text)
})
