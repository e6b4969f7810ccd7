import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowOf } from '../../../src/testing/hub/console-parts.ts'
import { labelSelectorOf, parseFilter, selectedStates, toggleState } from './filter.ts'

const ROWS = [
  rowOf('store-1', { labels: { region: 'eu', ring: 'canary' } }),
  rowOf('store-2', { state: 'Failed', message: 'Deployment web: no image', labels: { region: 'us' } }),
  rowOf('plant-1', { state: 'NotSelected', badges: 'Held,Frozen', version: 'v1.34.1', waitsFor: 'rollout' }),
]

test('words of a filter', () => {
  const cases: Readonly<Record<string, string>> = {
    '': 'store-1 store-2 plant-1',
    store: 'store-1 store-2',
    '!store': 'plant-1',
    'no image': 'store-2',
    'state:failed': 'store-2',
    'state:Failed,ready': 'store-1 store-2',
    'state:!ready': 'store-2 plant-1',
    'state:notselected': 'plant-1',
    'region:eu': 'store-1',
    'region=eu,us': 'store-1 store-2',
    'region:!eu': 'store-2 plant-1',
    'badge:held': 'plant-1',
    'version:1.33': 'store-1 store-2',
    'waits:rollout': 'plant-1',
    'state:': 'store-1 store-2 plant-1',
    'store state:ready': 'store-1',
    'constructor:x': '',
    ':x': '',
  }
  for (const [filter, expected] of Object.entries(cases)) {
    const found = ROWS.filter(parseFilter(filter)).map(({ name }) => name)
    assert.equal(found.join(' '), expected, filter)
  }
})

test('no text breaks a filter', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const row of ROWS) assert.equal(typeof parseFilter(text)(row), 'boolean')
    }),
  )
})

test('a state is switched on and off, and the other words stay', () => {
  assert.equal(toggleState('', 'Failed'), 'state:failed')
  assert.equal(toggleState('eu state:failed x', 'Offline'), 'eu state:failed,offline x')
  assert.equal(toggleState('eu state:failed x', 'Failed'), 'eu x')
  assert.equal(toggleState('state:!ready', 'Failed'), 'state:!ready state:failed')
  assert.deepEqual([...selectedStates('a state:failed,offline')], ['failed', 'offline'])
  assert.deepEqual([...selectedStates('state:!ready')], [])
})

test('words about labels are a selector, and no other word is', () => {
  assert.equal(labelSelectorOf('store-1 state:failed region:north badge:held'), 'region=north')
  assert.equal(labelSelectorOf('region:!north tier:a,b'), 'region!=north,tier in (a,b)')
  assert.equal(labelSelectorOf('x:!a,b region:'), 'x notin (a,b)')
  assert.equal(labelSelectorOf(''), '')
})
