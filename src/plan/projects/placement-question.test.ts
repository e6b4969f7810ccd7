import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPlacement } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { placementReach, placementRefusal, questionInProject } from './placement-question.ts'

test('a Placement without sets asks for the sets of its Project', () => {
  const placement = buildPlacement('shop/all', {})
  assert.equal(questionInProject(placement, buildProject('p', ['shop'])).clusterSets, undefined)
  const limited = buildProject('p', ['shop'], { clusterSets: ['a', 'b'] })
  assert.deepEqual(questionInProject(placement, limited).clusterSets, ['a', 'b'])
  const own = { ...placement, spec: { ...placement.spec, clusterSets: ['b'] } }
  assert.deepEqual(questionInProject(own, limited).clusterSets, ['b'])
  assert.equal(placementRefusal({ project: limited }, own), undefined)
  const foreign = { ...placement, spec: { ...placement.spec, clusterSets: ['c'] } }
  assert.deepEqual(placementRefusal({ project: limited }, foreign)?.lines, [
    'Project p: spec.clusterSets does not list c',
  ])
})

test('a namespace reaches the clusters of the sets that its Project lists, and no guarded set without a binding', () => {
  const sets = [
    { name: 'a', access: 'Open' as const, selector: { matchLabels: { in: 'a' } } },
    { name: 'b', access: 'Bound' as const, selector: { matchLabels: { in: 'b' } } },
  ]
  const reached = (clusterSets: readonly string[], bound: readonly string[] = []) => {
    const project = buildProject('p', ['shop'], { clusterSets: [...clusterSets] })
    const reach = placementReach({ project }, { sets, bound })
    if ('refusal' in reach) return reach.refusal
    return ['a', 'b', 'c'].filter((name) => reach.reaches({ name, labels: { in: name }, accepted: true }))
  }
  assert.deepEqual(reached(['*']), ['a', 'c'])
  assert.deepEqual(reached(['a']), ['a'])
  assert.deepEqual(reached(['a', 'b']), ['a'])
  assert.deepEqual(reached(['a', 'b'], ['b']), ['a', 'b'])
  assert.equal(reached([]), 'Project p: spec.clusterSets lists no ClusterSet.')
  const why = (clusterSets: readonly string[], name: string, bound: readonly string[] = []) => {
    const reach = placementReach(
      { project: buildProject('p', ['shop'], { clusterSets: [...clusterSets] }) },
      { sets, bound },
    )
    return 'refusal' in reach ? reach.refusal : reach.whyNot({ name, labels: { in: name }, accepted: true })
  }
  assert.equal(why(['a'], 'a'), undefined)
  assert.equal(why(['a'], 'b'), 'Project p: spec.clusterSets lists a, and the cluster is in b')
  assert.equal(why(['a'], 'c'), 'Project p: spec.clusterSets lists a, and the cluster is in no ClusterSet')
  const unbound = 'the cluster is in ClusterSet b, and the namespace has no ClusterSetBinding to it'
  assert.equal(why(['*'], 'b'), unbound)
  assert.equal(why(['b'], 'b'), unbound)
  assert.equal(why(['b'], 'b', ['b']), undefined)
})
