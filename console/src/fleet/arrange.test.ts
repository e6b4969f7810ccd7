import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowOf } from '../../../src/testing/hub/console-parts.ts'
import { groupRows, labelKeys, sortRows } from './arrange.ts'
import { legendOf } from './colors.ts'

const ROWS = [
  rowOf('a', { labels: { ring: 'rest', zone: '10' }, since: 30 }),
  rowOf('b', { labels: { ring: 'canary', zone: '9' }, state: 'Failed', since: 10, certificate: 5 }),
  rowOf('c', { state: 'Offline', isHeard: false, seen: 7, since: 20 }),
  rowOf('d', { labels: { ring: 'lab' }, ready: 0 }),
]

const grouped = (by: string, order?: readonly string[]) =>
  groupRows(ROWS, by, order).map(({ key, rows }) => `${key || '-'}: ${rows.map(({ name }) => name).join('')}`)

test('groups are in the order of the rings, then of their values, without a value last', () => {
  assert.deepEqual(grouped('ring'), ['canary: b', 'lab: d', 'rest: a', '-: c'])
  assert.deepEqual(grouped('ring', ['lab', 'canary', 'rest']), ['lab: d', 'canary: b', 'rest: a', '-: c'])
  assert.deepEqual(grouped('zone'), ['9: b', '10: a', '-: cd'])
  assert.deepEqual(grouped('state'), ['Failed: b', 'Offline: c', 'Ready: ad'])
  assert.deepEqual(grouped(''), ['-: abcd'])
  assert.deepEqual(groupRows([], ''), [])
})

test('keys of labels, the most used first', () => {
  assert.deepEqual(labelKeys(ROWS), ['ring', 'zone'])
})

test('orders', () => {
  const order = (key: Parameters<typeof sortRows>[1], isDescending = false) =>
    sortRows(ROWS, key, isDescending)
      .map(({ name }) => name)
      .join('')
  assert.equal(order('state'), 'bcad')
  assert.equal(order('name', true), 'dcba')
  assert.equal(order('certificate'), 'bacd')
  assert.equal(order('seen'), 'abdc')
  assert.equal(order('bundles'), 'dabc')
})

test('the legend has a colour for each value, and quiet for none', () => {
  assert.deepEqual(
    legendOf(ROWS, 'zone').map(({ value, color, count }) => [value, color, count]),
    [
      ['', '--tile-quiet', 2],
      ['10', '--hue-1', 1],
      ['9', '--hue-2', 1],
    ],
  )
  assert.deepEqual(
    legendOf(ROWS, 'state').map(({ value, color }) => `${value} ${color}`),
    ['Failed --tile-bad', 'Offline --tile-quiet', 'Ready --tile-good'],
  )
})
