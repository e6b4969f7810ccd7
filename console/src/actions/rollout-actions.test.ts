import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import type { Asking } from './action.ts'
import { approvalAction, ringToApprove, rollBackAction, rolloutActions, waitsForApproval } from './rollout-actions.ts'

type Spec = Partial<Rollout['spec']>
type Status = NonNullable<Rollout['status']>

const ana: Asking = { username: 'ana', groups: ['ops'], reason: ' calls ', nowMs: Date.parse('2026-01-01T10:00:00.5Z') }
const counts = { total: 5, ready: 2, progressing: 0, pending: 2, failed: 1, offline: 0 }
const RINGS = [
  { name: 'lab', concurrency: 1 },
  { name: 'rest', concurrency: 5, approvals: { count: 1, groups: ['ops'], noSelfApproval: true } },
]

function rollout(spec: Spec = {}, status: Status = { phase: 'Progressing', counts }): Rollout {
  const made = build(Rollout, 'shop/web-g2', {
    spec: { release: 'web-g2', paused: false, rings: RINGS, ...spec },
    status,
  })
  return { ...made, metadata: { ...made.metadata, uid: 'u-1', resourceVersion: '7' } }
}

const titles = (one: Rollout) => rolloutActions(one).map(({ title }) => title)
const action = (one: Rollout, title: string) => rolloutActions(one).find((found) => found.title === title)!

test('a rollout offers what can be done with it now', () => {
  assert.deepEqual(titles(rollout()), ['Pause', 'Retry', 'Abort…'])
  assert.deepEqual(titles(rollout({ paused: true })), ['Resume', 'Retry', 'Abort…'])
  assert.deepEqual(titles(rollout({}, { phase: 'Progressing' })), ['Pause', 'Abort…'])
  assert.deepEqual(titles(rollout({}, { phase: 'Completed', counts })), [])
  assert.deepEqual(titles(rollout({}, { phase: 'Aborted', counts })), [])
})

test('pause and resume write what the CLI writes, and only if the rollout is as it was read', () => {
  const annotations = { 'flotilla.dev/reason': 'calls' }
  assert.deepEqual(action(rollout(), 'Pause').change(ana), {
    path: '/apis/flotilla.dev/v1alpha1/namespaces/shop/rollouts/web-g2?fieldManager=flotilla-console',
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion: '7', annotations }, spec: { paused: true } },
  })
  const resumed = action(rollout({ paused: true, startedBy: ['li'] }), 'Resume').change({ ...ana, reason: '' })
  assert.deepEqual(resumed.body, {
    metadata: { resourceVersion: '7', annotations: { 'flotilla.dev/reason': null } },
    spec: { paused: false, startedBy: ['li', 'ana'] },
  })
})

test('retry and rollback add an act with the next number', () => {
  const past = { n: 4, verb: 'Retry' as const, by: 'li', at: '2026-01-01T00:00:00Z' }
  const body = action(rollout({ acts: [past] }), 'Retry').change(ana).body as { spec: Spec }
  const at = '2026-01-01T10:00:00Z'
  assert.deepEqual(body.spec.acts, [past, { n: 5, by: 'ana', at, verb: 'Retry', reason: 'calls' }])
  const back = rollBackAction(rollout(), '', { problem: undefined }).change({ ...ana, reason: '' }).body as {
    spec: Spec
  }
  assert.deepEqual(back.spec.acts, [{ n: 1, by: 'ana', at, verb: 'RollBack' }])
})

test('an abort must be typed', () => {
  assert.equal(action(rollout(), 'Abort…').typed, 'web-g2')
})

test('an approval is made for the ring that waits, in the name of the groups that count', () => {
  const waiting = rollout()
  const ring = ringToApprove(waiting)!
  assert.equal(ring.name, 'rest')
  const approve = approvalAction(waiting, ring, 'Approve', ana)
  assert.equal(approve.problem, undefined)
  assert.equal(approve.command, 'flotilla rollout approve web-g2 -n shop --ring rest')
  assert.deepEqual(approve.change(ana).body, {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Approval',
    metadata: {
      generateName: 'web-g2-rest-',
      namespace: 'shop',
      ownerReferences: [{ apiVersion: 'flotilla.dev/v1alpha1', kind: 'Rollout', name: 'web-g2', uid: 'u-1' }],
    },
    spec: { rollout: 'web-g2', ring: 'rest', decision: 'Approve', reason: 'calls', author: 'ana', groups: ['ops'] },
  })
  const opened = { phase: 'Progressing' as const, rings: [{ name: 'rest', openedAt: '2026-01-01T00:00:00Z' }] }
  assert.equal(ringToApprove(rollout({}, opened)), undefined)
})

test('an approval that would not count says why', () => {
  const ring = RINGS[1] as Rollout['spec']['rings'][number]
  const problem = (one: Rollout, user: Asking, decision: 'Approve' | 'Reject' = 'Approve') =>
    approvalAction(one, ring, decision, user).problem
  assert.match(problem(rollout(), { ...ana, groups: ['dev'] })!, /a member of group ops/)
  assert.match(problem(rollout({ startedBy: ['ana'] }), ana)!, /by another user/)
  assert.equal(problem(rollout({ startedBy: ['ana'] }), ana, 'Reject'), undefined)
})

test('a rollout waits for an approval when its condition says so', () => {
  const held = (reason: string) => ({
    conditions: [
      { type: 'Held', status: 'True' as const, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  })
  assert.equal(waitsForApproval(rollout({}, held('ApprovalPending'))), true)
  assert.equal(waitsForApproval(rollout({}, held('Frozen'))), false)
  assert.equal(waitsForApproval(rollout()), false)
})

test('a rollback can be limited to a ring or to clusters, as in the CLI', () => {
  const problem = undefined
  const ring = rollBackAction(rollout(), '', { problem, scope: { ring: 'canary' } })
  assert.match(ring.command, /^flotilla rollback \S+ -n \S+ --ring canary$/)
  const actOf = (action: typeof ring) => (action.change(ana).body as { spec: Spec }).spec.acts!.at(-1)!
  assert.equal(actOf(ring).ring, 'canary')
  const some = rollBackAction(rollout(), '', { problem, scope: { clusters: ['a', 'b'] } })
  assert.match(some.command, / --cluster a --cluster b$/)
  assert.deepEqual(actOf(some).clusters, ['a', 'b'])
})
