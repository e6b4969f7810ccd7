import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition, KubeObject } from '../kinds/meta.ts'
import { NATIVE_KINDS } from '../kinds/native/native-kinds.ts'
import { conditionEvents } from './condition-events.ts'

const at = '2026-11-16T00:00:00Z'

function objectWith(...conditions: readonly (readonly [string, Condition['status'], string, string?])[]): KubeObject {
  const all = conditions.map(([type, status, reason, message = 'words']) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: at,
  }))
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' }, status: { conditions: all } } as KubeObject
}

const DECLARED = { warnWhenTrue: ['Cloned'], warnWhenFalse: ['Rendered'], warnInState: ['Drifted', 'Failed'] }
const STUCK = ['Stalled', 'True', 'A'] as const

test('a condition makes an Event when its status or reason changes, not when its message does', () => {
  const cases: readonly (readonly [string, KubeObject, KubeObject, readonly string[]])[] = [
    ['first seen', objectWith(), objectWith(['Ready', 'True', 'Done']), ['Normal Done']],
    ['same', objectWith(['Ready', 'True', 'Done']), objectWith(['Ready', 'True', 'Done']), []],
    ['other words', objectWith(['Ready', 'False', 'Busy', '1']), objectWith(['Ready', 'False', 'Busy', '2']), []],
    ['other reason', objectWith(['Ready', 'False', 'A']), objectWith(['Ready', 'False', 'B']), ['Normal B']],
    ['removed', objectWith(['Held', 'True', 'A']), objectWith(), []],
    ['echo', objectWith(), objectWith(['Ready', 'False', 'A'], ['Reconciling', 'True', 'A']), ['Normal A']],
    ['said once', objectWith(), objectWith(['Ready', 'False', 'A'], ['Held', 'True', 'A']), ['Normal A']],
    ['stuck', objectWith(), objectWith(['Rendered', 'False', 'A'], ['Stalled', 'True', 'A']), ['Warning A']],
    ['stuck and held', objectWith(), objectWith(['Ready', 'False', 'A'], ['Held', 'True', 'A'], STUCK), ['Warning A']],
    ['another answer', objectWith(STUCK), objectWith(['Available', 'True', 'Seen'], STUCK), ['Normal Seen']],
    ['bad by being there', objectWith(), objectWith(['Cloned', 'True', 'TwoAgents']), ['Warning TwoAgents']],
    [
      'over',
      objectWith(['Cloned', 'True', 'TwoAgents']),
      objectWith(['Cloned', 'False', 'OneAgent']),
      ['Normal OneAgent'],
    ],
    ['not built', objectWith(), objectWith(['Rendered', 'False', 'TooMany']), ['Warning TooMany']],
    ['not built yet', objectWith(), objectWith(['Rendered', 'Unknown', 'NoClusters']), ['Normal NoClusters']],
    ['in part', objectWith(), objectWith(['Rendered', 'True', 'PartlyRendered']), ['Warning PartlyRendered']],
    ['tried again', objectWith(), objectWith(['Ready', 'False', 'Unreachable']), ['Warning Unreachable']],
    ['offline', objectWith(), objectWith(['Available', 'False', 'Silent']), ['Normal Silent']],
  ]
  for (const [name, before, after, wanted] of cases) {
    const told = conditionEvents(before, after, DECLARED).map(({ type, reason }) => `${type} ${reason}`)
    assert.deepEqual(told, wanted, name)
  }
})

test('a state makes an Event when it is a failure, and when the object is Ready after one', () => {
  const inState = (state?: string): KubeObject =>
    ({ ...objectWith(), status: { ...(state && { state, message: `is ${state}` }) } }) as KubeObject
  const cases: readonly (readonly [string | undefined, string, readonly string[]])[] = [
    [undefined, 'Ready', []],
    ['Pending', 'Progressing', []],
    ['Progressing', 'Failed', ['Warning Failed: is Failed']],
    ['Failed', 'Failed', []],
    ['Failed', 'Progressing', []],
    ['Failed', 'Ready', ['Normal Ready: is Ready']],
    ['Ready', 'Drifted', ['Warning Drifted: is Drifted']],
    ['Drifted', 'Ready', ['Normal Ready: is Ready']],
    ['Ready', 'Offline', []],
  ]
  for (const [before, after, wanted] of cases) {
    const told = conditionEvents(inState(before), inState(after), DECLARED)
    assert.deepEqual(
      told.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
      wanted,
      `${before} to ${after}`,
    )
  }
})

test('a kind that declares nothing has Normal Events for its own conditions', () => {
  const after = { ...objectWith(['Cloned', 'True', 'TwoAgents']) } as KubeObject & { status: { state?: string } }
  after.status.state = 'Failed'
  assert.deepEqual(
    conditionEvents(objectWith(), after).map(({ type, reason }) => `${type} ${reason}`),
    ['Normal TwoAgents'],
  )
})

test('the kinds declare the conditions whose Events are Warnings', () => {
  const declared = Object.fromEntries(NATIVE_KINDS.flatMap(({ kind, events }) => (events ? [[kind, events]] : [])))
  assert.deepEqual(declared, {
    Bundle: {
      warnWhenTrue: ['Reverted', 'Unplaced', 'PlaintextSecret'],
      warnWhenFalse: ['Linted', 'Rendered', 'RulesMet'],
      revision: ['release'],
    },
    Cluster: {
      warnWhenTrue: ['AliasTaken', 'ClockSkewed', 'Cloned', 'DocumentRefused', 'HubBehind'],
      warnWhenFalse: ['Pushed'],
      warnInState: ['Drifted', 'Failed'],
    },
    Delivery: { warnWhenFalse: ['Admitted'] },
    Placement: { warnWhenTrue: ['Empty'] },
    Source: { warnWhenFalse: ['Released'], revision: ['artifact', 'revision'] },
  })
})

test('each revision has an Event of its own, although the reason stays', () => {
  const at = (revision: string, reason = 'Fetched', message = 'words'): KubeObject => {
    const object = objectWith(['Ready', 'True', reason, message])
    return { ...object, status: { ...(object as { status?: object }).status, artifact: { revision } } } as KubeObject
  }
  const declared = { revision: ['artifact', 'revision'] }
  const fetched = { type: 'Normal', reason: 'Fetched', message: 'words' }
  assert.deepEqual(conditionEvents(at('main@1'), at('main@2'), declared), [{ ...fetched, revision: 'main@2' }])
  assert.deepEqual(conditionEvents(at('main@2'), at('main@2', 'Fetched', 'other words'), declared), [])
  assert.deepEqual(conditionEvents(at('main@1'), objectWith(['Ready', 'True', 'Fetched']), declared), [])
  assert.deepEqual(conditionEvents(objectWith(), objectWith(['Ready', 'True', 'Fetched']), declared), [fetched])
})
