import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkCondition } from '../works/work-status.ts'
import { setStatus } from './set-status.ts'
import type { ClusterWork, RefFacts } from './set-status.ts'

const is = (type: string, status: 'True' | 'False' | 'Unknown', message = ''): WorkCondition => ({
  type,
  status,
  reason: 'R',
  message,
})
const work = (more: Partial<ClusterWork> = {}): ClusterWork => ({
  conditions: [is('Applied', 'True'), is('Available', 'True')],
  isUpdated: true,
  state: 'Ready',
  ...more,
})
const ref = (works: Record<string, ClusterWork>, more: Partial<RefFacts> = {}): RefFacts => ({
  name: 'all',
  groups: [
    { name: '', index: 0, clusters: ['a'] },
    { name: '', index: 1, clusters: ['b'] },
  ],
  clusters: ['a', 'b'],
  works: new Map(Object.entries(works)),
  placement: { status: 'True', message: '' },
  bundle: { status: 'True', reason: 'RolledOut', message: '' },
  ...more,
})
const words = (...refs: RefFacts[]) =>
  setStatus(refs).conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim())
const groups = (...refs: RefFacts[]) =>
  setStatus(refs).placementSummary.map(({ availableDecisionGroups }) => availableDecisionGroups)

test('all clusters have it', () => {
  const all = ref({ a: work(), b: work() })
  assert.deepEqual(words(all), [
    'PlacementVerified True AsExpected',
    'ManifestworkApplied True AsExpected',
    'PlacementRolledOut True Complete',
  ])
  assert.deepEqual(groups(all), ['2/2'])
  const { summary } = setStatus([all, all])
  assert.deepEqual([summary.total, summary.desiredTotal, summary.applied, summary.updated], [4, 4, 4, 4])
})

test('a cluster with older content counts as applied, and as nothing else', () => {
  const some = ref({ a: work(), b: work({ isUpdated: false }) }, { bundle: undefined })
  const { summary } = setStatus([some])
  assert.deepEqual([summary.applied, summary.updated], [2, 1])
  assert.deepEqual(words(some).slice(1), [
    'ManifestworkApplied False Processing 1 of 2 clusters have the newest manifests; 2 have applied manifests.',
    'PlacementRolledOut False Progressing 1 of 2 clusters run the newest manifests and are healthy.',
  ])
  assert.deepEqual(groups(some), ['1/2'])
})

test('applied is not rolled out while a cluster is unhealthy; a rule about progress decides if there is one', () => {
  const slow = work({ state: 'Progressing' })
  assert.deepEqual(words(ref({ a: work(), b: slow })).slice(1), [
    'ManifestworkApplied True AsExpected',
    'PlacementRolledOut False Progressing 1 of 2 clusters run the newest manifests and are healthy.',
  ])
  const ruled = { ...slow, conditions: [...slow.conditions, is('Progressing', 'False'), is('Degraded', 'True')] }
  const { summary } = setStatus([ref({ a: slow, b: ruled })])
  assert.deepEqual([summary.progressing, summary.degraded], [1, 1])
})

test('the error of a cluster, of the Bundle and of the Placement is said', () => {
  const failed = work({ state: 'Failed', conditions: [is('Applied', 'False', 'no such kind')] })
  assert.equal(words(ref({ a: failed }))[1], 'ManifestworkApplied False NotAsExpected Cluster a: no such kind')
  const bundle = { status: 'False', reason: 'RenderFailed', message: 'a limit' } as const
  assert.equal(words(ref({}, { bundle }))[1], 'ManifestworkApplied False NotAsExpected a limit')
  const moving = { status: 'False', reason: 'RollingOut', message: 'on its way' } as const
  assert.match(words(ref({}, { bundle: moving }))[1]!, /Processing 0 of 2/)
  const placement = { status: 'False', message: 'held' } as const
  assert.equal(words(ref({}, { placement }))[0], 'PlacementVerified False NotAsExpected held')
  const none = ref({}, { clusters: [], groups: [{ name: '', index: 0, clusters: [] }] })
  assert.match(words(none)[0]!, /^PlacementVerified False PlacementDecisionEmpty/)
  assert.match(words(none)[2]!, /^PlacementRolledOut False/, 'nothing is not everything')
  assert.deepEqual(groups(none), ['0/0'])
})
