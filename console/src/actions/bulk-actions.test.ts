import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { bulkActions } from './bulk-actions.ts'

const row = (name: string, change: Partial<FleetRow> = {}): FleetRow => ({
  name,
  state: 'Ready',
  isApart: false,
  since: 0,
  seen: 0,
  isHeard: true,
  certificate: 0,
  ready: 1,
  bundles: 1,
  version: '',
  agent: '',
  waitsFor: '',
  badges: '',
  message: '',
  labels: {},
  ...change,
})
const shown = (rows: readonly FleetRow[]) =>
  bulkActions(rows).map(({ sample, names }) => `${sample.title} ${names.join()}`)

test('each action is for the clusters it applies to, and is missing without one', () => {
  assert.deepEqual(shown([row('a'), row('b', { badges: 'Held' }), row('c', { badges: 'Cordoned,Held' })]), [
    'Hold a',
    'Release b,c',
    'Cordon a,b',
    'Uncordon c',
  ])
  assert.deepEqual(shown([row('n', { waitsFor: 'acceptance' })]), ['Accept n'])
  assert.deepEqual(shown([row('l', { isApart: true }), row('m', { badges: 'Leaving' })]), [])
  assert.deepEqual(shown([]), [])
})

test('many clusters ask for their number, and the command names each', () => {
  const many = Array.from({ length: 26 }, (_, at) => row(`s${at}`))
  assert.equal(bulkActions(many)[0]?.typed, '26')
  assert.equal(bulkActions(many.slice(1))[0]?.typed, undefined)
  assert.equal(bulkActions([row('a'), row('b')])[0]?.command(' '), 'flotilla cluster hold a b')
})

test('the reason stands where the command reads it', () => {
  const [hold] = bulkActions([row('a'), row('b')])
  assert.equal(hold?.command('fire'), "flotilla cluster hold a b --reason 'fire'")
  const [accept] = bulkActions([row('a', { waitsFor: 'acceptance' }), row('b', { waitsFor: 'acceptance' })])
  assert.equal(accept?.command('new'), "for name in a b; do flotilla cluster accept $name --reason 'new'; done")
})

test('each cluster gets the request that its own page sends', () => {
  const [hold] = bulkActions([row('a'), row('b')])
  const asking = { username: 'ana', groups: [], reason: 'fire', nowMs: Date.parse('2026-01-01T10:00:00Z') }
  const { path, body } = hold!.actionFor('b').change(asking)
  assert.match(path, /\/clusters\/b\?/)
  assert.deepEqual(body, { spec: { hold: { reason: 'fire', since: '2026-01-01T10:00:00Z', by: 'ana' } } })
})
