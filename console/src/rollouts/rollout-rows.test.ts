import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { countsText, messageOf, movingRollouts, newestFirst, ringOrder } from './rollout-rows.ts'

type Status = NonNullable<Rollout['status']>

function rollout(
  name: string,
  status: Status,
  at = '2026-01-01T00:00:00Z',
  rings: readonly string[] = ['all'],
): Rollout {
  const made = build(Rollout, `default/${name}`, {
    spec: { release: name, paused: false, rings: rings.map((ring) => ({ name: ring })) as never },
    status,
  })
  return { ...made, metadata: { ...made.metadata, creationTimestamp: at } }
}

const counts = { total: 5, ready: 2, progressing: 1, pending: 0, failed: 1, offline: 1 }

test('rollouts that move, the newest first', () => {
  const all = [
    rollout('a-g9', { phase: 'Completed' }),
    rollout('a-g2', { phase: 'Progressing' }),
    rollout('a-g10', { phase: 'Paused' }),
    rollout('b-g1', {}, '2026-01-02T00:00:00Z'),
  ]
  assert.deepEqual(
    newestFirst(all).map(({ metadata }) => metadata.name),
    ['b-g1', 'a-g10', 'a-g9', 'a-g2'],
  )
  assert.deepEqual(
    movingRollouts(all).map(({ metadata }) => metadata.name),
    ['b-g1', 'a-g10', 'a-g2'],
  )
})

test('counts and messages in the words of the CLI', () => {
  assert.equal(
    countsText(rollout('a', { counts: { ...counts, states: { Offline: 2 } } })),
    '2 of 5 ready · 1 progressing · 1 failed · 1 offline without it · 2 offline now',
  )
  assert.equal(countsText(rollout('a', {})), 'no counts yet')
  const at = '2026-01-01T00:00:00Z'
  const condition = (type: string, status: 'True' | 'False', message: string) => ({
    type,
    status,
    reason: 'X',
    message,
    lastTransitionTime: at,
  })
  const ready = condition('Ready', 'False', 'two of five')
  assert.equal(
    messageOf(rollout('a', { conditions: [ready, condition('Held', 'True', 'waits for approval')] })),
    'waits for approval',
  )
  assert.equal(messageOf(rollout('a', { conditions: [ready, condition('Held', 'False', 'x')] })), 'two of five')
  assert.equal(messageOf(rollout('a', {})), '')
})

test('the order of rings comes from the newest rollout with several', () => {
  const old = rollout('a', {}, '2026-01-01T00:00:00Z', ['lab', 'rest'])
  const newest = rollout('b', {}, '2026-01-02T00:00:00Z', ['lab', 'canary', 'rest'])
  const plain = rollout('c', {}, '2026-01-03T00:00:00Z')
  assert.deepEqual(ringOrder([old, newest, plain]), ['lab', 'canary', 'rest'])
  assert.deepEqual(ringOrder([plain]), [])
})
