import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fromUtf8 } from '../../core/bytes.ts'
import { readFields } from '../protobuf/wire.ts'
import { swaggerProtobuf } from './swagger-protobuf.ts'

/** The fields of a message by number. */
function read(bytes: Uint8Array): [number, bigint | Uint8Array][] {
  return [...readFields(bytes)].map(({ number, value }) => [number, value])
}

function field(bytes: Uint8Array, ...path: readonly number[]): bigint | Uint8Array {
  let value: bigint | Uint8Array = bytes
  for (const number of path) {
    assert.ok(value instanceof Uint8Array)
    const found: [number, bigint | Uint8Array] | undefined = read(value).find(([of]) => of === number)
    assert.ok(found, `field ${number}`)
    value = found[1]
  }
  return value
}

it('a schema as gnostic reads it', () => {
  const schema = {
    type: 'object',
    description: 'd'.repeat(300),
    required: ['a', 'b'],
    properties: { a: { type: 'array', items: { $ref: '#/definitions/B' } } },
    additionalProperties: { type: 'string' },
    minProperties: 2,
    maximum: 1.5,
    default: { x: 1 },
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'K', version: 'v1' }],
  }
  const bytes = swaggerProtobuf({ info: { title: 'T', version: 'v1' }, definitions: { A: schema } })
  const text = (...path: readonly number[]) => fromUtf8(field(bytes, ...path) as Uint8Array)
  const own = [9, 1, 2] as const
  assert.equal(text(1), '2.0')
  assert.equal(text(2, 1), 'T')
  assert.equal(text(9, 1, 1), 'A')
  assert.equal(text(...own, 22, 1), 'object')
  assert.equal(text(...own, 4), 'd'.repeat(300))
  assert.equal(text(...own, 25, 1, 1), 'a')
  assert.equal(text(...own, 25, 1, 2, 23, 1, 1), '#/definitions/B')
  assert.equal(text(...own, 21, 1, 22, 1), 'string')
  assert.equal(field(bytes, ...own, 18), 2n)
  assert.equal(new DataView((field(bytes, ...own, 7) as Uint8Array).slice().buffer).getFloat64(0, true), 1.5)
  assert.equal(text(...own, 5, 2), '{"x":1}')
  assert.equal(text(...own, 31, 1), 'x-kubernetes-group-version-kind')
  assert.equal(text(...own, 31, 2, 2), '[{"group":"","kind":"K","version":"v1"}]')
  const required = read(field(bytes, ...own) as Uint8Array).filter(([number]) => number === 19)
  assert.deepEqual(
    required.map(([, value]) => fromUtf8(value as Uint8Array)),
    ['a', 'b'],
  )
})
