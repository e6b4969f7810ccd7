import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Release } from '../../kinds/native/release.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { deliveredOf, isBehind } from './delivered.ts'

const [ONE, TWO] = [digestOf('one'), digestOf('two')]
const clusters = ['a', 'b', 'c'].map((name) => buildCluster(name))
const NAMES = () => ['a', 'b', 'c']

type Entry = Partial<Release['spec']['bundles'][number]>
const release = (name: string, generation: number, entry: Entry, rollBack?: Release['spec']['rollBack']): Release =>
  build(Release, `shop/${name}`, {
    spec: {
      bundles: [{ name: 'web', generation, set: ONE, placement: 'p', ...entry }],
      ...(rollBack ? { rollBack } : {}),
    },
  })
const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const bundle = (status: Bundle['status']): Bundle => ({
  ...build(Bundle, 'shop/web', { spec: { placement: 'p', source: { name: 's' } } }),
  metadata: { name: 'web', namespace: 'shop', generation: 2 },
  status: { observedGeneration: 2, conditions: [condition('Rendered', 'True', 'Rendered')], ...status },
})
const facts = (releases: readonly Release[], assignments: readonly Assignment[] = []) => ({
  releases,
  assignments,
  clusters,
})
const assigned = (name: string, set: typeof ONE): Assignment =>
  build(Assignment, name, {
    spec: {
      clusterId: name,
      epoch: 1,
      revision: 1,
      document: ONE,
      entries: [{ bundle: 'shop/web', generation: 1, set, rollout: 'shop/web-g1' }],
    },
  })

test('a Bundle without a Release delivers nothing; one in order delivers its revision', () => {
  assert.deepEqual(deliveredOf(bundle({}), NAMES, facts([])), { kind: 'Nothing' })
  const well = bundle({ release: 'web-g2', sourceRevision: 'main@sha1:c2' })
  const known = facts([release('web-g2', 2, { revision: 'main@sha1:c1' })])
  // The commit c2 changed nothing, so there is no Release of it.
  assert.deepEqual(deliveredOf(well, NAMES, known), { kind: 'Current', revision: 'main@sha1:c2' })
})

test('a Bundle that cannot be released now delivers its newest Release', () => {
  const known = facts([release('web-g2', 2, { revision: 'main@sha1:c1' })])
  const states: Bundle['status'][] = [
    { conditions: [condition('Rendered', 'False', 'RenderFailed')] },
    { observedGeneration: 1 },
    { conditions: [condition('Rendered', 'True', 'Rendered'), condition('Stalled', 'True', 'DropHeld')] },
  ]
  for (const state of states) {
    assert.deepEqual(deliveredOf(bundle({ release: 'web-g2', ...state }), NAMES, known), {
      kind: 'Earlier',
      release: 'web-g2',
      parts: [{ set: ONE, clusters: ['a', 'b', 'c'], revisions: ['main@sha1:c1'] }],
    })
  }
  const stalled = [condition('Rendered', 'True', 'Rendered'), condition('Stalled', 'True', 'RolloutFailed')]
  assert.equal(deliveredOf(bundle({ release: 'web-g2', conditions: stalled }), NAMES, known).kind, 'Current')
})

test('after a rollback each cluster has the revision that its set came from', () => {
  const bad: Release = {
    ...release('web-g2', 2, { set: TWO, revision: 'main@sha1:c2' }),
    status: { bad: [{ bundle: 'web', by: 'admin', at: '2026-01-01T00:00:00Z', reason: 'slow' }] },
  }
  const undo = release(
    'web-g2-undo-1',
    3,
    {
      revision: 'main@sha1:c2',
      variants: [
        { when: { name: 'c' }, set: TWO },
        { when: {}, set: ONE },
      ],
    },
    { of: 'web-g2', scope: 'Clusters', by: 'admin' },
  )
  const known = facts([undo, bad, release('web-g1', 1, { revision: 'main@sha1:c1' })])
  assert.deepEqual(deliveredOf(bundle({ release: 'web-g2-undo-1', reverted: ['web-g2'] }), NAMES, known), {
    kind: 'Earlier',
    release: 'web-g2-undo-1',
    parts: [
      { set: ONE, clusters: ['a', 'b'], revisions: ['main@sha1:c1', 'main@sha1:c2'] },
      { set: TWO, clusters: ['c'], revisions: ['main@sha1:c2'] },
    ],
    heldBack: { release: 'web-g2', by: 'admin', reason: 'slow', revision: 'main@sha1:c2' },
  })
})

test('without the right to list Releases, only a Bundle in order is known', () => {
  const blind = { releases: undefined, assignments: [], clusters }
  const well = bundle({ release: 'web-g2', sourceRevision: 'main@sha1:c2' })
  assert.deepEqual(deliveredOf(well, NAMES, blind), { kind: 'Current', revision: 'main@sha1:c2' })
  const reverted = bundle({ release: 'web-g2-undo-1', reverted: ['web-g2'] })
  assert.deepEqual(deliveredOf(reverted, NAMES, blind), { kind: 'Unknown', release: 'web-g2-undo-1' })
})

test('a cluster is behind when its set is another, not when its generation is older', () => {
  const known = facts([release('web-g3', 3, { set: ONE })])
  const bundles = [bundle({ release: 'web-g3', revision: { generation: 3, set: ONE } })]
  assert.equal(isBehind(assigned('a', ONE), bundles, known), false)
  assert.equal(isBehind(assigned('a', TWO), bundles, known), true)
})
