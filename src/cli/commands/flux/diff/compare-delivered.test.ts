import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtObject, compareDelivered } from './compare-delivered.ts'
import type { DeliveredRow } from './compare-delivered.ts'

const object = (name: string, v: string, annotations = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'x', annotations },
  data: { v },
})
const built = (name: string, v: string, annotations = {}) => {
  const made = object(name, v, annotations)
  return builtObject(made, made)
}
const row = (name: string, v: string, state: DeliveredRow['state'] = 'Ready', annotations = {}): DeliveredRow => {
  const { id, digest } = built(name, v, annotations)
  return { object: { ...id, digest }, state }
}
const actions = (sides: Partial<Parameters<typeof compareDelivered>[0]>) =>
  compareDelivered({ built: [], rows: [], candidates: [], prunes: true, ...sides }).changes.map(
    ({ subject, action, isOpaque }) => `${subject} ${action}${isOpaque ? ' ?' : ''}`,
  )

test('an object is created, changed, deleted or the same', () => {
  const rows = [row('same', '1'), row('other', '1'), row('gone', '1')]
  const now = [built('same', '1'), built('other', '2'), built('new', '1')]
  assert.deepEqual(actions({ built: now, rows }), [
    'ConfigMap/x/other drifted ?',
    'ConfigMap/x/new created',
    'ConfigMap/x/gone deleted ?',
  ])
  assert.deepEqual(actions({ built: now, rows, candidates: [[built('other', '1'), built('gone', '1')]] }), [
    'ConfigMap/x/other drifted',
    'ConfigMap/x/new created',
    'ConfigMap/x/gone deleted',
  ])
  assert.deepEqual(actions({ built: now, rows, prunes: false }), [
    'ConfigMap/x/other drifted ?',
    'ConfigMap/x/new created',
  ])
})

test('what the hub never deletes is not called deleted', () => {
  const kept = (apiVersion: string, kind: string): DeliveredRow => ({
    object: { apiVersion, kind, name: 'a', digest: 'sha256:0' },
    state: 'Ready',
  })
  const rows = [
    kept('v1', 'Namespace'),
    kept('v1', 'PersistentVolumeClaim'),
    kept('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  ]
  assert.deepEqual(actions({ rows }), [])
  const never = { 'flotilla.dev/prune': 'Never' }
  const candidates = [[built('stays', '1', never)]]
  assert.deepEqual(actions({ rows: [row('stays', '1', 'Ready', never)], candidates }), [])
})

test('a change in the cluster counts, also without another digest', () => {
  const drifted = { ...row('a', '1', 'Drifted'), message: '.data.v' }
  const { changes } = compareDelivered({ built: [built('a', '1')], rows: [drifted], candidates: [], prunes: true })
  assert.deepEqual(changes, [{ subject: 'ConfigMap/x/a', action: 'drifted', fields: [], inCluster: '.data.v' }])
})

test('values of a Secret are compared only with a build that equals what is delivered', () => {
  const secret = (word: string, name = 's') => {
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { word } }
    return builtObject(made, made)
  }
  const delivered = ({ id, digest }: ReturnType<typeof secret>): DeliveredRow => ({
    object: { ...id, digest },
    state: 'Ready',
  })
  const rows = [delivered(secret('YQ==')), row('a', '1')]
  const now = [secret('Yg=='), built('a', '1')]
  const compare = (candidates: Parameters<typeof compareDelivered>[0]['candidates']) =>
    compareDelivered({ built: now, rows, candidates, prunes: true })
  assert.deepEqual(compare([]).notCompared, ['the values of Secret/s'])
  assert.deepEqual(compare([[secret('YQ=='), built('a', '2')]]).notCompared, ['the values of Secret/s'])
  const whole = compare([[secret('YQ=='), built('a', '1')]])
  assert.deepEqual(
    [whole.isProven, whole.notCompared, whole.changes.map(({ subject }) => subject)],
    [true, [], ['Secret/s']],
  )
  assert.deepEqual(compare([[secret('Yg=='), built('a', '1')]]).changes, [])
})
