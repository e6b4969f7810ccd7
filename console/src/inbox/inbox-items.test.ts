import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bundle } from '../../../src/kinds/native/bundle.ts'
import { Placement } from '../../../src/kinds/native/placement.ts'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { rowOf } from '../../../src/testing/hub/console-parts.ts'
import { inboxItems, linkOf, stateOfItem } from './inbox-items.ts'

const lastTransitionTime = '2026-01-01T00:00:00Z'
const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: `${reason}.`,
  lastTransitionTime,
})

function rollout(name: string, status: NonNullable<Rollout['status']>): Rollout {
  const rings = [{ name: 'rest', concurrency: 1, approvals: { count: 1, noSelfApproval: false } }]
  return build(Rollout, `default/${name}`, { spec: { release: name, paused: false, rings }, status })
}

test('what waits, what is held and what is broken are told apart', () => {
  const items = inboxItems(
    {
      rollouts: [
        rollout('asks', { phase: 'Progressing', conditions: [condition('Held', 'True', 'ApprovalPending')] }),
        rollout('over', { phase: 'Completed', conditions: [condition('Held', 'True', 'ApprovalPending')] }),
        rollout('failed', { phase: 'Failed' }),
      ],
      sources: [],
      bundles: [
        build(Bundle, 'default/back', {
          spec: { placement: 'all' },
          status: { conditions: [condition('Reverted', 'True', 'MarkedBad')] },
        }),
      ],
      placements: [
        build(Placement, 'default/held', {
          spec: {} as never,
          status: { conditions: [condition('Ready', 'False', 'Held')] },
        }),
      ],
    },
    [rowOf('a'), rowOf('new', { waitsFor: 'acceptance' })],
  )
  assert.deepEqual(
    items.approvals.map(({ rollout: { metadata }, ring, since, message }) => [metadata.name, ring, since, message]),
    [['asks', 'rest', lastTransitionTime, 'ApprovalPending.']],
  )
  assert.deepEqual(
    items.clusters.map(({ name }) => name),
    ['new'],
  )
  assert.deepEqual(
    items.held.map(({ name, since }) => [name, since]),
    [
      ['held', lastTransitionTime],
      ['back', lastTransitionTime],
    ],
  )
  assert.deepEqual(
    items.broken.map(({ name }) => name),
    ['failed'],
  )
  const sections = [items.approvals, items.clusters, items.held, items.broken, items.warnings]
  assert.equal(items.count, sections.flat().length, 'each item is in one section')
})

test('an item of a kind that is new is a warning, not a failure', () => {
  assert.deepEqual(['FailedRollout', 'HeldBack', 'SomethingNew'].map(stateOfItem), ['Failed', 'HeldBack', 'Warning'])
})

test('an item leads to the page of its object, where there is one', () => {
  const link = (kind: 'FailedRollout' | 'HeldPlacement' | 'FailingSource') =>
    linkOf({ kind, namespace: 'a', name: 'b' })
  assert.deepEqual(
    [link('FailedRollout'), link('HeldPlacement'), link('FailingSource')],
    ['/rollouts/a/b', '/placements/a/b', undefined],
  )
})
