import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPlacement } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { placementRefusal, questionInProject } from './placement-question.ts'

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
