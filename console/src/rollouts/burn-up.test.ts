import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { burnUp } from './burn-up.ts'

const START = Date.parse('2026-11-19T12:00:00Z')
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString()
const rollout = (status: object): Rollout =>
  ({
    metadata: { name: 'shop-g2', creationTimestamp: at(0) },
    spec: {
      rings: [
        { name: 'lab', concurrency: 1 },
        { name: 'half', concurrency: '50%', soak: '2m' },
      ],
    },
    status,
  }) as unknown as Rollout
const shown = (points: readonly { atMs: number; count: number; label: string }[] = []) =>
  points.map(({ atMs, count, label }) => `${(atMs - START) / 60_000} ${count} ${label}`)

test('clusters at the end of each ring and now, beside the plan', () => {
  const drawn = burnUp(
    rollout({
      phase: 'Progressing',
      counts: { total: 10, ready: 5 },
      rings: [
        { name: 'lab', members: 2, passedAt: at(3) },
        { name: 'half', members: 8 },
      ],
    }),
    START + 5 * 60_000,
  )
  assert.deepEqual(shown(drawn?.actual), ['0 0 started', '3 2 lab', '5 5 now'])
  // Two steps of one, then two steps of four and the soak.
  assert.deepEqual(shown(drawn?.planned), ['0 0 started', '2 2 lab', '6 10 half'])
})

test('clusters that a ring did not wait for are no part of what it did', () => {
  const drawn = burnUp(
    rollout({
      phase: 'Completed',
      counts: { total: 10, ready: 7 },
      rings: [
        { name: 'lab', members: 2, excused: 1, passedAt: at(1) },
        { name: 'half', members: 8, excused: 2, passedAt: at(4) },
      ],
    }),
    START + 60 * 60_000,
  )
  assert.deepEqual(shown(drawn?.actual), ['0 0 started', '1 1 lab', '4 7 half', '4 7 end'])
})

test('nothing is drawn of a rollout without clusters', () => {
  assert.equal(burnUp(rollout({ counts: { total: 0, ready: 0 } }), START), undefined)
  assert.equal(burnUp(rollout({}), START), undefined)
})
