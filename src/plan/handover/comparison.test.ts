import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { comparisonMessage, readComparison } from './comparison.ts'
import { handoverRuleOf, isWithPeer } from './handover-rule.ts'

test('a comparison is read back from the message of its row', () => {
  for (const [objects, count] of [
    [0, 0],
    [1, 0],
    [12, 0],
    [12, 1],
    [40, 31],
  ] as const) {
    const differences = Array.from({ length: count }, (_, index) => `ConfigMap shop/x${index}: .data.a`)
    const message = comparisonMessage('ocm', { objects, differences })
    const read = readComparison(message)
    assert.deepEqual([read?.from, read?.objects, read?.differing], ['ocm', objects, count], message)
    assert.equal((read?.text.match(/ConfigMap/g) ?? []).length, Math.min(count, 10))
    assert.equal(read?.text.endsWith(`; and ${count - 10} more`), count > 10)
  }
  // The agent shortens long messages: the counts stay.
  const long = comparisonMessage('ocm', { objects: 3, differences: [`ConfigMap shop/x: ${'y'.repeat(5000)}`] })
  assert.equal(readComparison(`${long.slice(0, 900)}…`)?.differing, 1)
})

test('other messages are no comparison', () => {
  for (const message of [
    undefined,
    '',
    'wave 1 of 2: Deployment default/x: 0 of 1 ready',
    'handover from ocm',
    'ConfigMap a: handover from ocm: 1 object compared, no differences',
  ]) {
    assert.equal(readComparison(message), undefined)
  }
})

test('the rule lasts until the handover is done', () => {
  const since = '2026-11-16T08:00:00Z'
  const rule = (handover: Cluster['spec']['handover']) => handoverRuleOf(buildCluster('a', { spec: { handover } }))
  assert.equal(rule(undefined), undefined)
  assert.deepEqual(rule({ from: 'ocm', step: 'Compare', since }), {
    from: 'ocm',
    step: 'Compare',
    acceptDifferences: false,
    since,
  })
  assert.deepEqual(rule({ from: 'ocm', step: 'Take', since, acceptDifferences: true })?.acceptDifferences, true)
  assert.equal(rule({ from: 'ocm', step: 'Take', since, peerStopped: true })?.peerStopped, true)
  assert.equal(rule({ from: 'ocm', step: 'Done', since }), undefined)
  const steps = ['Compare', 'Take', 'Finish', 'Undo'] as const
  assert.deepEqual(
    steps.filter((step) => isWithPeer({ step })),
    ['Compare', 'Undo'],
  )
  assert.ok(!isWithPeer(undefined))
})
