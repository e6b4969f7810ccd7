import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromFleet, fromKubeFleet, fromOcm, fromRollingSync } from './rollout-mappings.ts'

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
      notes: ['partition 1: only clusterSelector can be said; the ring takes all that is left'],
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
      notes: ['mandatory group 1: a ring takes a group by its name; give it one'],
      progressDeadlineMs: 600_000,
    },
  )
  assert.deepEqual(
    fromOcm({ type: 'ProgressivePerGroup', maxFailures: '10%' }, ['a', 'b', '']).rings.map(
      ({ name, maxFailed }) => `${name} ${maxFailed}`,
    ),
    ['a 10%', 'b 10%', 'rest 10%'],
  )
})

test('RollingSync: a ring per step; who matches none is in none', () => {
  const matchExpressions = [{ key: 'env', operator: 'In' as const, values: ['dev'] }]
  assert.deepEqual(fromRollingSync([{ matchExpressions, maxUpdate: '25%' }, { maxUpdate: 0 }]), {
    rings: [
      { name: 'step-1', selector: { matchExpressions }, concurrency: '25%' },
      { name: 'step-2', concurrency: 1, approvals: { count: 1 } },
    ],
    notes: ['step 2: maxUpdate 0 waits for a person; one approval opens the ring, not each application'],
  })
})

test('KubeFleet: stages with waits and approvals; any failure stops', () => {
  const labelSelector = { matchLabels: { stage: 'one' } }
  assert.deepEqual(
    fromKubeFleet([
      { name: 'one', labelSelector, waitMs: 3_600_000 },
      { name: 'two', maxConcurrency: '50%', approvalBefore: true, approvalAfter: true },
      { name: 'three', approvalAfter: true },
    ]),
    {
      rings: [
        { name: 'one', selector: labelSelector, concurrency: 1, maxFailed: 0, soakMs: 3_600_000 },
        { name: 'two', concurrency: '50%', maxFailed: 0, approvals: { count: 1 } },
        { name: 'three', concurrency: 1, maxFailed: 0, approvals: { count: 1 } },
      ],
      notes: ['stage three: approval after the last stage; nothing waits for it'],
    },
  )
})
