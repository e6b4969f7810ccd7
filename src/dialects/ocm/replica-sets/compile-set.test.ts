import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { OcmPlacementDecision } from '../kinds.ts'
import { bundleNameOf, compileSet, labelOf, templateOf } from './compile-set.ts'
import type { PlacedRef } from './compile-set.ts'
import { groupsOfPages } from '../rollout/decided-groups.ts'
import { ManifestWorkReplicaSet } from './kinds.ts'

const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'x' },
  data: { k: '---\n' },
}
const set = (template: object = {}, metadata: object = {}): ManifestWorkReplicaSet => {
  const built = build(ManifestWorkReplicaSet, 'shop/web', {
    spec: {
      manifestWorkTemplate: { workload: { manifests: [CONFIG_MAP as never] }, ...template },
      placementRefs: [{ name: 'all' }],
      cascadeDeletionPolicy: 'Background',
    },
  })
  return { ...built, metadata: { ...built.metadata, uid: 'u-1', ...metadata } }
}
const ref = (name: string, clusters: readonly string[], more: Partial<PlacedRef> = {}): PlacedRef => ({
  name,
  strategy: { type: 'All' },
  groups: [{ name: '', index: 0, clusters }],
  tolerations: undefined,
  kept: [],
  ...more,
})

function compiled(...[made, refs]: Parameters<typeof compileSet>) {
  const result = compileSet(made, refs)
  assert.ok('refs' in result, 'problem' in result ? result.problem : '')
  return result.refs.map(({ objects, ...rest }) => ({
    ...rest,
    placement: objects[0]!.object.spec as Placement['spec'],
    bundle: objects[2]!.object as Bundle,
    names: objects.map(({ kind, object }) => `${kind.kind} ${object.metadata.name}`),
  }))
}

test('a set is one Placement, RolloutPlan and Bundle, from which its work can be read again', () => {
  const template = { deleteOption: { propagationPolicy: 'Orphan' as const } }
  const [one] = compiled(set(template), [ref('all', ['b', 'a'])])
  assert.deepEqual(one!.names, ['Placement web.all', 'RolloutPlan web.all', 'Bundle web.all'])
  assert.deepEqual(one!.placement.clusters, ['a', 'b'])
  assert.equal(one!.placement.decisionGroups, undefined)
  assert.deepEqual(templateOf(one!.bundle), { ...template, workload: { manifests: [CONFIG_MAP] } })
  assert.equal(one!.bundle.spec.delete?.unplaced, 'Orphan')
  assert.equal(one!.bundle.spec.secrets, undefined)
  assert.equal(templateOf({ ...one!.bundle, metadata: { ...one!.bundle.metadata, annotations: {} } }), undefined)
})

test('a cluster of two Placements has one work, of the first; an unreachable cluster stays', () => {
  const [first, second] = compiled(set(), [ref('one', ['a', 'b']), ref('two', ['b', 'c'], { kept: ['d', 'a'] })])
  assert.deepEqual(
    [first!.clusters, second!.clusters],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  )
})

test('groups are there where the strategy has use for them', () => {
  const strategy = { type: 'ProgressivePerGroup' }
  const groups = [
    { name: 'canary', index: 0, clusters: ['a'] },
    { name: 'canary', index: 1, clusters: ['b'] },
  ]
  const [one] = compiled(set(), [ref('all', [], { strategy, groups })])
  assert.deepEqual(one!.placement.decisionGroups?.groups, [
    { name: 'group-0', clusters: ['a'] },
    { name: 'group-1', clusters: ['b'] },
  ])
})

test('what cannot be delivered is said with its field', () => {
  const empty = compileSet(set({ workload: { manifests: [] } }), [ref('all', ['a'])])
  assert.match('problem' in empty ? empty.problem : '', /^spec\.manifestWorkTemplate\.workload\.manifests: /)
  const strategy = { type: 'All', all: { progressDeadline: 'soon' } }
  const late = compileSet(set(), [ref('all', ['a'], { strategy })])
  assert.match('problem' in late ? late.problem : '', /^spec\.placementRefs all: progressDeadline: /)
})

test('long names are cut with a digest: two of them stay two', () => {
  const long = 'x'.repeat(240)
  const names = ['a', 'b'].map((end) => bundleNameOf(set({}, { name: `${long}${end}` }), 'all'))
  assert.ok(names.every((name) => name.length <= 189) && names[0] !== names[1])
  assert.equal(labelOf(set({}, { name: long })).length <= 63, true)
})

test('decision groups are in order, and a cluster is in one of them', () => {
  const page = (name: string, index: string, group: string, clusters: string[]) => {
    const built = build(OcmPlacementDecision, `shop/${name}`, {
      status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
    })
    const label = 'cluster.open-cluster-management.io/decision-group'
    return {
      ...built,
      metadata: { ...built.metadata, labels: { [`${label}-index`]: index, [`${label}-name`]: group } },
    }
  }
  const pages = [page('c', '1', 'late', ['d', 'a']), page('a', '0', 'canary', ['b']), page('b', '0', 'canary', ['a'])]
  assert.deepEqual(groupsOfPages(pages), [
    { name: 'canary', index: 0, clusters: ['a', 'b'] },
    { name: 'late', index: 1, clusters: ['d'] },
  ])
})
