import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  placementCluster as cluster,
  placementQuestion,
  placementWorld,
} from '../../testing/fixtures/placement-builders.ts'
import { explainCluster } from './explain.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from './types.ts'
import { selectClusters } from './select-clusters.ts'

function explain(
  question: Partial<PlacementQuestion>,
  subject: PlacementCluster,
  around: { readonly others?: readonly PlacementCluster[]; readonly world?: Partial<PlacementWorld> } = {},
) {
  const world = placementWorld(around.world)
  const selection = selectClusters(placementQuestion(question), [subject, ...(around.others ?? [])], world)
  return explainCluster(selection, subject, world)
}

test('every cluster has a reason that names what was wanted and what was found', () => {
  const labels = (matchLabels: Record<string, string>) => ({ clusterSelector: { matchLabels } })
  const on = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', values?: string[]) => ({
    clusterSelector: { matchExpressions: [{ key, operator, ...(values ? { values } : {}) }] },
  })
  const claim = { matchExpressions: [{ key: 'os', operator: 'In' as const, values: ['linux'] }] }
  const table: [Partial<PlacementQuestion>, PlacementCluster, boolean, string][] = [
    [labels({ tier: 'store' }), cluster('a', { tier: 'store' }), true, 'labels match: tier=store'],
    [labels({ tier: 'store' }), cluster('a', { tier: 'dc' }), false, 'the selector wants tier=store, but tier is "dc"'],
    [
      labels({ tier: 'store' }),
      cluster('a'),
      false,
      'the selector wants tier=store, but the cluster has no label tier',
    ],
    [{}, cluster('a'), true, 'the selector is empty and selects every accepted cluster'],
    [
      {},
      cluster('a', {}, { accepted: false }),
      false,
      'not accepted yet; accept the cluster with: flotilla cluster accept a',
    ],
    [{ clusters: ['a', 'b'] }, cluster('a'), true, 'spec.clusters names the cluster'],
    [
      { clusters: ['a', 'b'] },
      cluster('c'),
      false,
      'the selector wants one of 2 named clusters, but c is not among them',
    ],
    [{ clusters: [] }, cluster('c'), false, 'the selector wants one of 0 named clusters, but c is not among them'],
    [{}, cluster('a', {}, { leaving: true }), false, 'the Cluster is being deleted'],
    [on('r', 'In', ['x', 'y']), cluster('a', { r: 'z' }), false, 'the selector wants r in (x, y), but r is "z"'],
    [on('r', 'NotIn', ['x', 'y']), cluster('a', { r: 'x' }), false, 'the selector wants r notin (x, y), but r is "x"'],
    [on('r', 'NotIn', ['x']), cluster('a', { r: 'x' }), false, 'the selector wants r!=x, but r is "x"'],
    [on('r', 'Exists'), cluster('a'), false, 'the selector wants the label r, but the cluster has no label r'],
    [on('r', 'DoesNotExist'), cluster('a', { r: '' }), false, 'the selector wants no label r, but r is ""'],
    [
      { predicates: [{ labelSelector: { matchLabels: { t: 'x' } } }, { claimSelector: claim }] },
      cluster('a', {}, { claims: { os: 'bsd' } }),
      false,
      'no predicate holds: [0] wants t=x, but the cluster has no label t; [1] wants claim os=linux, but os is "bsd"',
    ],
    [
      {},
      cluster('a', {}, { taints: [{ key: 'disk', value: 'full', effect: 'NoSelect' }] }),
      false,
      'taint disk=full:NoSelect is not tolerated',
    ],
  ]
  for (const [question, subject, selected, message] of table) {
    const verdict = explain(question, subject)
    assert.equal(verdict.selected, selected, message)
    assert.equal(verdict.message, message)
    assert.notEqual(verdict.wouldChange.length === 0 && !subject.leaving, true, `${message}: what would change it?`)
  }
})

test('the first check that stops decides, and later ones are not asked', () => {
  const subject = cluster('a', { tier: 'dc' }, { taints: [{ key: 'x', effect: 'NoSelect' }] })
  const verdict = explain({ clusterSelector: { matchLabels: { tier: 'store' } } }, subject)
  assert.deepEqual(
    verdict.checks.map(({ name, outcome }) => `${name} ${outcome}`),
    ['cluster Pass', 'sets Pass', 'selector Stop', 'predicates NotAsked', 'taints NotAsked'],
  )
  assert.deepEqual(verdict.wouldChange, ['tier=store on the cluster'])
})

test('a cluster below the cut knows its rank, its score and what it lacks', () => {
  const others = ['a', 'b', 'c'].map((name) => cluster(name))
  const verdict = explain({ numberOfClusters: 2 }, cluster('z'), { others })
  assert.deepEqual([verdict.selected, verdict.reason], [false, 'Outranked'])
  assert.equal(verdict.message, 'rank 4 of 4 is below the cut at 2')
  assert.deepEqual(verdict.rank, {
    rank: 4,
    of: 4,
    cut: 2,
    score: 100,
    parts: [
      { name: 'Balance', weight: 1, score: 100 },
      { name: 'Steady', weight: 3, score: 0 },
      { name: 'PreferNoSelect', weight: 1, score: 0 },
    ],
  })
  assert.deepEqual(verdict.wouldChange, ['a score of more than 100, or numberOfClusters of at least 4'])
})

test('a full domain names the term', () => {
  const spread = [
    {
      topologyKey: 'region',
      topologyKeyType: 'Label' as const,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule' as const,
    },
  ]
  const others = [cluster('a', { region: 'eu' }), cluster('b', { region: 'us' }), cluster('c', { region: 'eu' })]
  const verdict = explain({ spread }, cluster('d', { region: 'eu' }), { others })
  assert.deepEqual([verdict.selected, verdict.reason], [false, 'SpreadFull'])
  assert.equal(verdict.message, 'region "eu" already has its share of clusters (maxSkew 1)')
  assert.equal(
    explain({ spread }, cluster('d'), { others }).message,
    'the cluster has no region, which the placement spreads over',
  )
})

test('sets: an unbound set keeps its members, and the way in is named', () => {
  const sets = [
    { name: 'stores', access: 'Bound' as const, selector: { matchLabels: { tier: 'store' } } },
    { name: 'all', access: 'Open' as const, selector: {} },
  ]
  const store = cluster('s', { tier: 'store' })
  const closed = explain({}, store, { world: { sets } })
  assert.equal(
    closed.message,
    'the placement wants no ClusterSet that is reserved for other namespaces, but the cluster is in stores; stores is not bound to this namespace',
  )
  assert.deepEqual(closed.wouldChange, ['a ClusterSetBinding to stores in this namespace'])
  assert.equal(explain({}, store, { world: { sets, bound: ['stores'] } }).selected, true)
  assert.equal(
    explain({}, cluster('d'), { world: { sets } }).selected,
    true,
    'clusters in no bound set belong to all namespaces',
  )
  assert.equal(explain({ clusterSets: ['stores'] }, store, { world: { sets } }).selected, false)
  assert.equal(
    explain({ clusterSets: ['stores'] }, cluster('d'), { world: { sets, bound: ['stores'] } }).selected,
    false,
  )
  assert.equal(
    explain({ clusterSets: ['all'] }, cluster('d'), { world: { sets } }).selected,
    true,
    'an open set needs no binding',
  )
  assert.equal(explain({ scheduler: 'ocm' }, cluster('d'), { world: { sets } }).selected, false)
  const labelled = cluster('x', { 'flotilla.dev/cluster-set': 'lab' })
  const lab = [{ name: 'lab', access: 'Bound' as const }]
  assert.equal(explain({ clusterSets: ['lab'] }, labelled, { world: { sets: lab, bound: ['lab'] } }).selected, true)
})
