import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedLabels, createLabelFights } from './label-fights.ts'

test('a label that is copied to and fro is contested until it rests', () => {
  const fights = createLabelFights()
  for (let turn = 0; turn < 4; turn += 1) {
    fights.note('a', ['tier'], turn % 2 === 0 ? 'Cluster' : 'ManagedCluster', turn * 1000)
    assert.deepEqual(fights.contested('a', turn * 1000), [])
  }
  fights.note('a', ['tier'], 'Cluster', 4_000)
  assert.deepEqual(fights.contested('a', 4_000), ['tier'])
  assert.deepEqual(fights.contested('b', 4_000), [])
  assert.deepEqual(fights.contested('a', 700_000), [])
  fights.forget('a')
  assert.deepEqual(fights.contested('a', 4_000), [])
})

test('many changes from one side, or slow ones from both, are no fight', () => {
  const fights = createLabelFights()
  for (let n = 0; n < 20; n += 1) fights.note('a', ['tier'], 'Cluster', n)
  for (let n = 0; n < 20; n += 1) fights.note('a', ['zone'], n % 2 === 0 ? 'Cluster' : 'ManagedCluster', n * 300_000)
  assert.deepEqual(fights.contested('a', 20 * 300_000), [])
})

test('labels that differ', () => {
  assert.deepEqual(changedLabels({ a: '1', b: '1' }, { b: '2', c: '1' }), ['a', 'b', 'c'])
  assert.deepEqual(changedLabels({ constructor: '1' }, {}), ['constructor'])
})
