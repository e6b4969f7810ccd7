import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromFleet, fromKubeFleet, fromOcm, fromRollingSync } from './rollout-strategies.ts'
import { ringOf } from '../plan/rollout/rings.ts'

test('Fleet: partitions are rings in order; maxUnavailable 0 tolerates no failure and still starts', () => {
  const eu = { matchLabels: { region: 'eu' } }
  assert.deepEqual(
    fromFleet(
      { maxUnavailable: '10%', partitions: [{ name: 'Canary EU', maxUnavailable: 0, clusterSelector: eu }, {}] },
      50,
    ),
    {
      rings: [
        { name: 'canary-eu', selector: eu, concurrency: 1, maxFailed: 0 },
        { name: 'partition-1', concurrency: '10%', maxUnavailable: '10%', maxFailed: '10%', readyShare: '90%' },
      ],
      notes: [
        "partition 1: without criteria, Fleet's partition has no cluster; the ring has all clusters that are in no other ring",
      ],
    },
  )
  assert.deepEqual(fromFleet({}, 50).rings, [
    { name: 'all', concurrency: '100%', maxUnavailable: '100%', maxFailed: '100%', readyShare: '0%' },
  ])
  assert.deepEqual(
    fromFleet({ maxUnavailable: 5 }, 230).rings.map(({ name, share }) => `${name} ${share ?? 'rest'}`),
    ['partition-0 25%', 'partition-1 25%', 'partition-2 25%', 'partition-3 rest'],
  )
  assert.equal(fromFleet({ autoPartitionSize: 57 }, 230).rings.length, 4)
  assert.match(fromFleet({ maxUnavailablePartitions: 1 }, 1).notes[0] ?? '', /maxUnavailablePartitions/)
})

test('Fleet: limits as it reads them, with no rollout that may never start', () => {
  const table: [number | string, ReturnType<typeof fromFleet>['rings'][number]][] = [
    [0, { name: 'all', concurrency: 1, maxFailed: 0 }],
    [-1, { name: 'all', concurrency: 1, maxFailed: 0 }],
    [3, { name: 'all', concurrency: 3, maxUnavailable: 3, maxFailed: 3 }],
    ['3', { name: 'all', concurrency: 3, maxUnavailable: 3, maxFailed: 3 }],
    // A percentage is at least one there.
    ['0%', { name: 'all', concurrency: 1, maxUnavailable: 1, maxFailed: 1 }],
    ['-5%', { name: 'all', concurrency: 1, maxUnavailable: 1, maxFailed: 1 }],
    ['33.3%', { name: 'all', concurrency: '33%', maxUnavailable: '33%', maxFailed: '33%', readyShare: '67%' }],
    ['150%', { name: 'all', concurrency: '100%', maxUnavailable: '100%', maxFailed: '100%', readyShare: '0%' }],
  ]
  for (const [maxUnavailable, ring] of table) assert.deepEqual(fromFleet({ maxUnavailable }, 10).rings, [ring])
  const sizes = (strategy: Parameters<typeof fromFleet>[0], clusters: number) =>
    fromFleet(strategy, clusters).rings.length
  assert.equal(sizes({}, 199), 1, 'below the threshold')
  assert.equal(sizes({}, 200), 4)
  for (const autoPartitionSize of [0, -1, '100%', 500]) assert.equal(sizes({ autoPartitionSize }, 230), 1)
  for (const autoPartitionThreshold of [0, -1, 231]) assert.equal(sizes({ autoPartitionThreshold }, 230), 1)
})

test('Open Cluster Management: all at once, mandatory groups first, group by group', () => {
  assert.deepEqual(fromOcm({ type: 'All' }, []).rings, [{ name: 'all', concurrency: '100%', maxFailed: '100%' }])
  assert.deepEqual(
    fromOcm(
      {
        type: 'Progressive',
        mandatoryGroups: [{ groupName: 'canary' }, { groupIndex: 1 }],
        maxConcurrency: '20%',
        maxFailures: 2,
        minSuccessTimeMs: 60_000,
        progressDeadlineMs: 600_000,
      },
      ['canary', ''],
    ),
    {
      rings: [
        { name: 'canary', group: 'canary', concurrency: '100%', maxFailed: 0, soakMs: 60_000 },
        { name: 'rest', concurrency: '20%', maxFailed: 2, soakMs: 60_000 },
      ],
      notes: [
        'mandatory group 1: a ring selects a group by its name; give the group a name',
        'minSuccessTime: a ring soaks as a whole; a Ready cluster releases its slot at once',
      ],
      progressDeadlineMs: 600_000,
    },
  )
  assert.deepEqual(
    fromOcm({ type: 'ProgressivePerGroup', maxFailures: '10%' }, ['a', 'b', '']).rings.map(
      ({ name, maxFailed }) => `${name} ${maxFailed}`,
    ),
    ['a 10%', 'b 10%', 'rest 10%'],
  )
  const cut = fromOcm({ type: 'ProgressivePerGroup', minSuccessTimeMs: 1 }, ['a', 'a', ''])
  assert.deepEqual(
    cut.rings.map(({ name, soakMs }) => `${name} ${soakMs}`),
    ['a 1', 'rest 1'],
  )
  assert.deepEqual(cut.notes, ['groups with the same name are one ring: clustersPerDecisionGroup does not split it'])
  const share = { type: 'Progressive', maxFailures: '10%', mandatoryGroups: [{ groupName: 'a' }] } as const
  assert.deepEqual(fromOcm(share, ['a', '']).notes, [
    'maxFailures: the percentage is of the clusters outside of the mandatory groups, not of all clusters',
  ])
})

test('RollingSync: a ring per step; who matches none is in none', () => {
  const matchExpressions = [{ key: 'env', operator: 'In' as const, values: ['dev'] }]
  assert.deepEqual(fromRollingSync([{ matchExpressions, maxUpdate: '25%' }, { maxUpdate: 0 }]), {
    rings: [
      { name: 'step-1', selector: { matchExpressions }, concurrency: '25%' },
      { name: 'step-2', selector: { matchExpressions: [] }, concurrency: 1, approvals: { count: 1 } },
    ],
    notes: ['step 2: maxUpdate 0 requires one approval for the ring, not one for each application'],
  })
})

test('RollingSync: an application is in the first step that matches it, also when that matches all clusters', () => {
  const { rings } = fromRollingSync([
    { maxUpdate: 1 },
    { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] },
  ])
  const states = rings.map(({ name }) => ({ name }))
  assert.equal(ringOf(rings, states, { name: 'a', labels: { env: 'prod' }, groups: [] }), 0)
  const { rings: dev } = fromRollingSync([{ matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] }])
  assert.equal(ringOf(dev, states, { name: 'a', labels: {}, groups: [] }), 0, 'NotIn includes who lacks the label')
  assert.equal(ringOf(dev, states, { name: 'a', labels: { env: 'prod' }, groups: [] }), -1)
})

test('KubeFleet: stages with waits and approvals; any failure stops', () => {
  const labelSelector = { matchLabels: { stage: 'one' } }
  assert.deepEqual(
    fromKubeFleet([
      { name: 'one', labelSelector, waitMs: 3_600_000, sortingLabelKey: 'order' },
      { name: 'two', maxConcurrency: '50%', approvalBefore: true, approvalAfter: true },
      { name: 'three', approvalAfter: true },
    ]),
    {
      rings: [
        { name: 'one', selector: labelSelector, concurrency: 1, maxFailed: 0, soakMs: 3_600_000 },
        { name: 'two', concurrency: '50%', maxFailed: 0, approvals: { count: 1 } },
        { name: 'three', concurrency: 1, maxFailed: 0, approvals: { count: 1 } },
      ],
      notes: [
        'stage one: clusters are ordered by name, not by order',
        'stage three: the approval after the last stage has no effect',
      ],
    },
  )
})
