import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { hookOutcome, nextHookStep } from './hook-step.ts'
import type { HookFacts, HookLive } from './hook-step.ts'

const MINUTE = 60_000
const live = (more: Partial<HookLive> = {}): HookLive => ({
  uid: 'u1',
  isOurs: true,
  isLeaving: false,
  outcome: { state: 'Running', message: 'it is running' },
  ...more,
})
const move = (facts: Partial<HookFacts>) =>
  nextHookStep({
    record: undefined,
    formerUids: [],
    live: undefined,
    deletes: ['before-creation'],
    nowMs: MINUTE,
    deadlineMs: 5 * MINUTE,
    ...facts,
  })
const starting = { state: 'Starting' as const, sinceMs: 0 }
const started = { state: 'Started' as const, sinceMs: 0, uid: 'u1' }

describe('a hook', () => {
  it('starts when nothing is in its way', () => {
    assert.deepEqual(move({}), { kind: 'Start' })
    assert.deepEqual(move({ live: live() }), { kind: 'Clear', uid: 'u1' })
    assert.deepEqual(move({ live: live({ isOurs: false }), formerUids: ['u1'] }), { kind: 'Clear', uid: 'u1' })
    assert.deepEqual(move({ live: live({ isLeaving: true }) }), { kind: 'AwaitGone' })
    assert.equal(move({ live: live({ isOurs: false }) }).kind, 'Refuse')
    assert.equal(move({ live: live(), deletes: ['succeeded'] }).kind, 'Refuse')
  })

  it('that is written down is made once, and what was made is taken up', () => {
    assert.deepEqual(move({ record: starting }), { kind: 'Make' })
    assert.deepEqual(move({ record: starting, live: live() }), { kind: 'TakeUp', uid: 'u1' })
    assert.equal(move({ record: starting, live: live({ isOurs: false }) }).kind, 'Refuse')
    assert.equal(move({ record: starting, live: live(), formerUids: ['u1'] }).kind, 'Refuse')
  })

  it('is watched to its end, its deadline or its disappearance', () => {
    assert.equal(move({ record: started, live: live() }).kind, 'Wait')
    const ended = { state: 'Succeeded' as const, message: '' }
    assert.deepEqual(move({ record: started, live: live({ outcome: ended }) }), {
      kind: 'End',
      state: 'Succeeded',
      message: '',
    })
    assert.deepEqual(move({ record: started, live: live(), nowMs: 5 * MINUTE }), {
      kind: 'End',
      state: 'Failed',
      message: 'the hook did not end within 5m0s: it is running',
    })
    const gone = { kind: 'End', state: 'Failed', message: 'the hook was deleted before its end was observed' }
    assert.deepEqual(move({ record: started }), gone)
    assert.deepEqual(move({ record: started, live: live({ uid: 'u2' }) }), gone)
  })

  it('that has ended stays so, whatever is there', () => {
    for (const state of ['Succeeded', 'Failed'] as const) {
      const record = { ...started, state }
      for (const there of [undefined, live(), live({ uid: 'u2' })]) {
        assert.deepEqual(move({ record, live: there }), { kind: 'End', state, message: '' })
      }
    }
  })
})

describe('the end of what a hook made', () => {
  const object = (apiVersion: string, kind: string, status: object): UnknownObject => ({
    apiVersion,
    kind,
    metadata: { name: 'x', namespace: 'default' },
    status,
  })
  const condition = (type: string) => ({ startTime: 't', conditions: [{ type, status: 'True', message: 'words' }] })
  const table: readonly (readonly [string, UnknownObject, string])[] = [
    ['a running Job', object('batch/v1', 'Job', { startTime: 't', active: 1 }), 'Running'],
    ['a Job that has not started', object('batch/v1', 'Job', {}), 'Running'],
    ['a suspended Job', { ...object('batch/v1', 'Job', condition('Suspended')), spec: { suspend: true } }, 'Running'],
    ['a complete Job', object('batch/v1', 'Job', condition('Complete')), 'Succeeded'],
    ['a failed Job', object('batch/v1', 'Job', condition('Failed')), 'Failed'],
    [
      'a running Pod',
      object('v1', 'Pod', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      'Running',
    ],
    ['a Pod that ended', object('v1', 'Pod', { phase: 'Succeeded' }), 'Succeeded'],
    ['a Pod that failed', object('v1', 'Pod', { phase: 'Failed' }), 'Failed'],
    ['a ConfigMap', object('v1', 'ConfigMap', {}), 'Succeeded'],
  ]
  for (const [what, there, expected] of table) {
    it(`of ${what}`, () => assert.equal(hookOutcome(there).state, expected))
  }
})
