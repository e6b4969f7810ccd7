import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { laneOf, passedBefore } from './lane.ts'
import { movesText } from './moves-text.ts'

const at = '2026-01-01T00:00:00Z'
type Ring = Rollout['spec']['rings'][number]

function lane(ring: Ring, status: NonNullable<Rollout['status']>) {
  return laneOf(build(Rollout, 'a/b', { spec: { release: 'b', paused: false, rings: [ring] }, status }), ring)
}

test('a ring with its doors and limits', () => {
  const ring: Ring = {
    name: 'early',
    concurrency: '10%',
    soak: '10m',
    approvals: { count: 2, groups: ['ops'], noSelfApproval: false },
  }
  const one = lane(ring, {
    ring: 'early',
    rings: [{ name: 'early', members: 9, ready: 4, failed: 2, excused: 2, excusedFor: { offline: 1, notBuilt: 1 } }],
  })
  assert.deepEqual(
    [one.state, one.members, one.ready, one.failed, one.excused],
    ['Progressing', 9, 4, 1, ['1 offline, not waited for', '1 not built, not waited for']],
  )
  assert.equal(one.approval, 'needs approval of 2 people by group ops')
  assert.deepEqual(one.limits, ['at most 10% at a time', 'soak 10m'])
})

test('a ring that passed, one that was opened, one that waits', () => {
  const ring: Ring = { name: 'x', concurrency: 1, approvals: { count: 1, noSelfApproval: false } }
  const passed = lane(ring, { rings: [{ name: 'x', passedAt: at }] })
  assert.deepEqual([passed.state, passed.approval], ['Passed', undefined])
  const approvedBy = [{ author: 'li', approval: 'y', at }]
  assert.equal(lane(ring, { rings: [{ name: 'x', openedAt: at, approvedBy }] }).approval, 'approved by li')
  assert.deepEqual([lane(ring, {}).state, lane(ring, {}).members], ['Waiting', 0])
})

test('the plan of a rollback names clusters, and why there is nothing to do', () => {
  const move = (cluster: string, isOnline = true) => ({ bundle: 'web', cluster, from: 3, to: 2, isOnline })
  const plan = { bundle: 'web', stuck: [], moves: ['a', 'b', 'c', 'd'].map((name) => move(name, name !== 'd')) }
  assert.deepEqual(movesText([plan] as never), {
    lines: ['web: g3 → g2 on 4 clusters (a, b, c and 1 more), 1 offline, which follow when they are back'],
    problem: undefined,
  })
  assert.match(movesText([]).problem!, /Newer releases/)
  assert.match(movesText([{ ...plan, moves: [], stuck: ['a'] }] as never).problem!, /a ran no earlier release/)
  assert.equal(movesText([{ ...plan, problem: 'x' }] as never).problem, 'x')
})

test('an approval shows the rings before its ring, with their gates', () => {
  const rings: Ring[] = [
    { name: 'lab', concurrency: 1, gates: [{ name: 'board', webhook: { url: 'https://a' } } as never] },
    { name: 'early', concurrency: 1 },
    { name: 'rest', concurrency: 1 },
  ]
  const status = {
    rings: [{ name: 'lab', members: 2, ready: 1, failed: 1, gates: [{ name: 'board', state: 'Passed' as const }] }],
  }
  const rollout = build(Rollout, 'a/b', { spec: { release: 'b', paused: false, rings }, status: status as never })
  const before = passedBefore(rollout, 'rest')
  assert.deepEqual(
    before.map(({ name, ready, members, failed, gates }) => [
      name,
      ready,
      members,
      failed,
      gates.map((one) => one.state),
    ]),
    [
      ['lab', 1, 2, 1, ['Passed']],
      ['early', 0, 0, 0, []],
    ],
  )
  assert.deepEqual(passedBefore(rollout, 'lab'), [])
})
