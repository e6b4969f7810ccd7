import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowOf } from '../../testing/hub/console-parts.ts'
import { decodeFleet, encodeFleet } from './fleet-row.ts'
import type { FleetRow } from './fleet-row.ts'

const word = fc.string({ maxLength: 6 })
const second = fc.nat(2_000_000_000)
const rows: fc.Arbitrary<FleetRow> = fc.record({
  name: word,
  state: fc.constantFrom('Ready', 'Failed', 'Left'),
  isApart: fc.boolean(),
  isHeard: fc.boolean(),
  since: second,
  seen: second,
  certificate: second,
  ready: fc.nat(20),
  bundles: fc.nat(20),
  version: word,
  agent: word,
  waitsFor: word,
  badges: word,
  message: word,
  labels: fc.dictionary(word, word),
})

test('rows survive the way through columns', () => {
  fc.assert(
    fc.property(fc.array(rows), (list) => {
      const sent = JSON.parse(JSON.stringify(encodeFleet(list, { epoch: 'e', revision: 7 }))) as never
      assert.deepEqual(
        decodeFleet(sent),
        list.map((row) => ({ ...row, labels: { ...row.labels } })),
      )
    }),
  )
})

test('texts that repeat are sent once', () => {
  const message = 'the same words for many clusters'
  const list = Array.from({ length: 1000 }, (_, index) =>
    rowOf(`store-${index}`, { message, labels: { region: 'eu' } }),
  )
  const text = JSON.stringify(encodeFleet(list, { epoch: 'e', revision: 1 }))
  assert.equal(text.split(message).length, 2)
  assert.ok(text.length < 80_000, `${text.length} characters`)
})
