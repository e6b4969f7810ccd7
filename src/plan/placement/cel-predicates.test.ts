import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placementCluster, placementQuestion, placementWorld } from '../../testing/fixtures/placement-builders.ts'
import { compileCelFor } from './cel-predicates.ts'
import { explainCluster } from './explain.ts'
import { selectClusters } from './select-clusters.ts'

const subject = placementCluster(
  'store-1',
  { tier: 'store' },
  {
    claims: { region: 'eu', nodes: '3', spec: '{"x": 1}' },
    allocatable: { cpu: '3500m' },
    scores: [{ resource: 'r', name: 's', value: 7 }],
    taints: [{ key: 'k', effect: 'PreferNoSelect' }],
  },
)

function ask(cel: string, scheduler: 'native' | 'ocm' = 'native') {
  const sets = [{ name: 'all', access: 'Bound' as const, selector: {} }]
  const world = placementWorld({ compileCel: compileCelFor(scheduler), sets, bound: ['all'] })
  const selection = selectClusters(placementQuestion({ scheduler, predicates: [{ cel: [cel] }] }), [subject], world)
  return selection.misconfigured ?? explainCluster(selection, subject, world).message
}

test('expressions see labels, claims, taints, amounts and scores of the cluster', () => {
  const holds = 'labels match: a predicate holds'
  const table: [string, string][] = [
    ["cluster.metadata.labels['tier'] == 'store'", holds],
    ["int(cluster.status.claims['nodes']) >= 3", holds],
    ["quantity(cluster.status.allocatable['cpu']).isGreaterThan(quantity('3'))", holds],
    ["cluster.scores('r').exists(s, s.name == 's' && s.value > 5)", holds],
    ["cluster.status.claims['spec'].parseJSON().x == 1", holds],
    ['size(cluster.spec.taints) == 1', holds],
    [
      "cluster.metadata.name == 'x'",
      "no predicate holds: [0] wants CEL cluster.metadata.name == 'x', but the result is false",
    ],
    [
      "cluster.scores('none').size() == 0",
      "no predicate holds: [0] wants CEL cluster.scores('none').size() == 0, but the evaluation failed: the cluster has no scores of none",
    ],
    [
      "cluster.metadata.labels['no'] == 'x'",
      "no predicate holds: [0] wants CEL cluster.metadata.labels['no'] == 'x', but the evaluation failed: no such key: no",
    ],
    ['1 + 1', 'predicates[0].cel "1 + 1": the expression returns int; want bool.'],
  ]
  for (const [expression, message] of table) assert.equal(ask(expression), message, expression)
  assert.match(ask('cluster.'), /^predicates\[0\]\.cel "cluster\.": /)
})

test('the ocm scheduler sees clusters as Open Cluster Management writes them, and has its functions only', () => {
  const bare = placementCluster('bare')
  const about = (cel: string, cluster = bare) => {
    const program = compileCelFor('ocm')(cel)
    return typeof program === 'function' ? program(cluster) : program.error
  }
  const isThere = (path: string, cluster = bare) => about(`has(managedCluster.${path})`, cluster)
  for (const path of [
    'metadata.labels',
    'spec.taints',
    'status.allocatable',
    'status.capacity',
    'status.clusterClaims',
  ]) {
    assert.equal(isThere(path), false, path)
  }
  for (const path of ['metadata.labels', 'spec.taints', 'status.allocatable', 'status.clusterClaims']) {
    assert.equal(isThere(path, subject), true, path)
  }
  assert.equal(
    about('managedCluster.spec.taints[0].timeAdded == null && !has(managedCluster.spec.taints[0].value)', subject),
    true,
  )
  const json = "managedCluster.status.clusterClaims.filter(c, c.name == 'spec')[0].value.parseJSON().x"
  assert.equal(about(`${json} + 1.0 == 2.0`, subject), true, 'a number of JSON is a double')
  for (const cel of [
    'sets.contains([1], [1])',
    '[2, 1].sort() == [1, 2]',
    'lists.range(1) == [0]',
    '[1].reverse() == [1]',
  ])
    assert.match(JSON.stringify(about(cel)), /undeclared reference|no matching overload/, cel)
  assert.equal(about("'ab'.reverse() == 'ba' && [1, 2].isSorted()"), true)
  assert.match(JSON.stringify(about("semver('v1.0.0', true).major() == 1")), /no matching overload/)
})

test('the ocm scheduler has its own variable and takes what is no truth for a no', () => {
  assert.equal(
    ask("managedCluster.status.clusterClaims.exists(c, c.name == 'region' && c.value == 'eu')", 'ocm'),
    'labels match: a predicate holds',
  )
  assert.match(ask('1 + 1', 'ocm'), /the expression does not return a bool/)
  assert.match(ask("cluster.metadata.name == 'x'", 'ocm'), /undeclared reference/)
})
