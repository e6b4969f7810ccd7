import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectState } from './object-state.ts'
import type { ObjectState, ReportedObjects } from './object-state.ts'

const MAP = 'ConfigMap shop/settings'
const WEB = 'Deployment shop/web'
const failing = { object: WEB, state: 'Failed', message: 'no image' } as const

test('each object has its own state and its own message', () => {
  const counted: ReportedObjects = { state: 'Failed', objects: [failing], objectCounts: { Ready: 2, Failed: 1 } }
  const table: [string, string, ReportedObjects | undefined, ObjectState][] = [
    ['named', WEB, counted, { state: 'Failed', message: 'no image' }],
    ['healthy beside a failing one', MAP, counted, { state: 'Ready' }],
    ['all Ready', MAP, { state: 'Ready', objectCounts: { Ready: 3 } }, { state: 'Ready' }],
    [
      'none applied yet: what the bundle waits for',
      MAP,
      { state: 'Pending', message: 'window x is closed', objectCounts: { Pending: 3 } },
      { state: 'Pending', message: 'window x is closed' },
    ],
    [
      'more than the report names',
      MAP,
      { state: 'Failed', objects: [failing], objectCounts: { Ready: 2, Failed: 300 } },
      { state: 'NotReported', message: 'The report has more objects than it names.' },
    ],
    [
      'drifted, with the fields',
      MAP,
      {
        state: 'Drifted',
        objects: [{ object: MAP, state: 'Drifted', message: 'ConfigMap: .data changed' }],
        objectCounts: { Drifted: 1, Ready: 1 },
        drift: [{ object: MAP, fields: ['.data.a (kubectl)', '.data.b (kubectl)'] }],
      },
      { state: 'Drifted', message: '.data.a (kubectl); .data.b (kubectl)' },
    ],
    [
      'another content',
      MAP,
      undefined,
      { state: 'NotReported', message: 'The agent has not reported on this content.' },
    ],
  ]
  for (const [name, label, reported, wanted] of table)
    assert.deepEqual(objectState(label, reported, false), wanted, name)
})

test('the report of an agent of 0.1 is never completed by a guess', () => {
  const old: ReportedObjects = { state: 'Failed', message: 'Deployment shop/web: no image', firstFailing: WEB }
  const silent = 'The agent does not report the state of this object.'
  assert.deepEqual(objectState(WEB, old, false), { state: 'Failed', message: 'Deployment shop/web: no image' })
  assert.deepEqual(objectState(MAP, old, false), { state: 'NotReported', message: silent })
  assert.deepEqual(objectState(MAP, { state: 'Progressing' }, false), { state: 'NotReported', message: silent })
  assert.deepEqual(objectState(MAP, { state: 'Ready' }, false), { state: 'Ready' }, 'all are, when the bundle is')
  const drift = [{ object: WEB, fields: ['.spec'] }]
  assert.equal(objectState(MAP, { state: 'Drifted', drift }, false).state, 'Ready', 'all that drifted are named')
  const many = Array.from({ length: 20 }, () => drift[0]!)
  assert.equal(objectState(MAP, { state: 'Drifted', drift: many }, false).state, 'NotReported')
})

test('objects of a silent cluster are Offline, with what was reported last', () => {
  const reported: ReportedObjects = { state: 'Failed', objects: [failing], objectCounts: { Ready: 1, Failed: 1 } }
  assert.deepEqual(objectState(WEB, reported, true), { state: 'Offline', message: 'Last reported Failed: no image' })
  assert.deepEqual(objectState(MAP, reported, true), { state: 'Offline', message: 'Last reported Ready.' })
  assert.match(objectState(MAP, undefined, true).message ?? '', /^Its state was not reported: /)
})
