import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { carryOut, commandWith } from './action.ts'
import type { Action, Asking } from './action.ts'
import { rolloutActions } from './rollout-actions.ts'

const ana: Asking = { username: 'ana', groups: [], reason: '', nowMs: 0 }

const paused = (startedBy: string[]): Rollout =>
  build(Rollout, 'shop/web-g2', { spec: { release: 'web-g2', paused: true, rings: [], startedBy } })
const resumeOf = (rollout: Rollout): Action => rolloutActions(rollout).find(({ title }) => title === 'Resume')!

test('a change of a rollout that the hub wrote meanwhile is made again from what it is now', async () => {
  const sent: unknown[] = []
  const latest = paused(['li', 'kim'])
  const send = async (_path: string, { body }: { body?: unknown }) => {
    sent.push((body as { spec: Rollout['spec'] }).spec.startedBy)
    if (sent.length < 3) throw new ApiFailure(409, 'Conflict', 'changed')
    return { value: undefined, auditId: 'a-1' }
  }
  const resume = resumeOf(paused(['li']))
  assert.equal((await carryOut(resume, ana, { send, read: async () => latest })).auditId, 'a-1')
  assert.deepEqual(sent, [
    ['li', 'ana'],
    ['li', 'kim', 'ana'],
    ['li', 'kim', 'ana'],
  ])

  const always = async () => Promise.reject(new ApiFailure(409, 'Conflict', 'changed'))
  await assert.rejects(carryOut(resume, ana, { send: always, read: async () => latest }), /changed/)
  const taken = async () => Promise.reject(new ApiFailure(409, 'AlreadyExists', 'exists'))
  await assert.rejects(carryOut(resume, ana, { send: taken, read: async () => assert.fail('read') }), /exists/)
})

test('the command has the reason as a shell takes it', () => {
  const pause = { command: 'flotilla rollout pause a', asks: 'reason' } as const
  assert.equal(commandWith(pause, ''), 'flotilla rollout pause a')
  assert.equal(commandWith(pause, `it's $HOME`), `flotilla rollout pause a --reason 'it'\\''s $HOME'`)
  assert.equal(commandWith({ ...pause, asks: 'none' }, 'x'), 'flotilla rollout pause a')
})
