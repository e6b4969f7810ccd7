import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../../src/core/time/time.ts'
import { windowObjectProblem } from '../../../src/plan/windows/window-rules.ts'
import { freezeAction, liftAction } from './freeze-actions.ts'
import type { freezeOf, FreezeWish } from './freeze-actions.ts'

const NOW = parseTime('2026-11-19T12:00:00Z')!
const WISH: FreezeWish = {
  name: 'calm',
  until: '2026-12-01T06:00:00+01:00',
  selector: 'tier=store',
  role: 'fire brigade',
}
const ASKING = { username: 'ana', groups: [], reason: ' Black Friday ', nowMs: NOW }

test('a freeze is the object that the API accepts and the command makes', () => {
  const action = freezeAction(WISH, { nowMs: NOW, count: 1 })
  assert.equal(action.problem, undefined)
  assert.match(action.effect, /on 1 cluster until/)
  assert.equal(
    action.command,
    "flotilla freeze create calm --until 2026-12-01T06:00:00+01:00 -l 'tier=store' --except 'role=fire brigade'",
  )
  const { path, method, body } = action.change(ASKING)
  assert.deepEqual([method, path], ['POST', '/apis/flotilla.dev/v1alpha1/clusterwindows?fieldManager=flotilla-console'])
  const object = body as NonNullable<ReturnType<typeof freezeOf>>
  assert.deepEqual(object.spec.times, [{ from: '2026-11-19T12:00:00Z', until: '2026-12-01T05:00:00Z' }])
  assert.equal(object.spec.reason, 'Black Friday')
  assert.equal(windowObjectProblem(object), undefined)
})

test('an incomplete wish is refused before it is sent, with the reason', () => {
  const problem = (change: Partial<FreezeWish>) =>
    freezeAction({ ...WISH, ...change }, { nowMs: NOW, count: 0 }).problem
  assert.equal(problem({ name: '' }), 'Give the freeze a name.')
  assert.match(problem({ name: 'A b' })!, /^The name is not valid: /)
  assert.equal(problem({ until: '' }), 'Say when the freeze ends.')
  assert.equal(problem({ until: '2026-11-01T00:00:00Z' }), 'The end is in the past.')
  assert.match(problem({ selector: 'a in (' })!, /^The labels are not valid/)
})

test('lifting deletes the object that was seen, not another of its name', () => {
  const action = liftAction(
    { metadata: { name: 'calm', namespace: 'shop', uid: 'u1' }, spec: { mode: 'Freeze', times: [], reason: 'x' } },
    3,
  )
  assert.equal(action.command, 'flotilla freeze lift calm -n shop')
  assert.deepEqual(action.change(ASKING), {
    path: '/apis/flotilla.dev/v1alpha1/namespaces/shop/windows/calm',
    method: 'DELETE',
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u1' } },
  })
})
