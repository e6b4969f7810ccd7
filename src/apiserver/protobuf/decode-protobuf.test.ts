import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { protobufConfigMap } from '../../testing/api-contract-reviews.ts'
import { decodeProtobuf } from './decode-protobuf.ts'
import { protobufTables } from './messages.ts'

const fromHex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))

describe('bodies in protobuf', () => {
  it('a Namespace as kubectl sends it', () => {
    const body =
      fromHex(`6b 38 73 00 0a 0f 0a 02 76 31 12 09 4e 61 6d 65 73 70 61 63 65 12 1b 0a 13 0a 03 66 6f 6f 12 00
      1a 00 22 00 2a 00 32 00 38 00 42 00 12 00 1a 02 0a 00 1a 00 22 00`)
    assert.deepEqual(decodeProtobuf(body), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'foo' },
      spec: {},
      status: {},
    })
  })

  it('maps, also with a key that is a name in JavaScript', () => {
    const map = decodeProtobuf(protobufConfigMap('m', '__proto__', 'x')) as { data: object }
    assert.deepEqual(Object.entries(map.data), [['__proto__', 'x']])
    assert.equal(Object.getPrototypeOf(map.data), Object.prototype)
  })

  it('cut anywhere it is a 400, never something else', () => {
    const whole = protobufConfigMap('name', 'key', 'value')
    for (let length = 0; length < whole.byteLength; length += 1) {
      try {
        decodeProtobuf(whole.subarray(0, length))
      } catch (error) {
        assert.ok(
          error instanceof Error && 'code' in error && (error.code === 400 || error.code === 415),
          String(error),
        )
      }
    }
  })

  it('what would be lost is refused by name; a zero is nothing to lose', () => {
    const envelope = (raw: string) => fromHex(`6b387300 0a0f0a027631 12094e616d657370616365 ${raw}`)
    assert.deepEqual(decodeProtobuf(envelope('12 03 98 06 00')), { apiVersion: 'v1', kind: 'Namespace' })
    assert.throws(() => decodeProtobuf(envelope('12 03 98 06 01')), {
      code: 415,
      message: /^field 99 of Namespace is not understood in protobuf here/,
    })
    const own = fromHex('6b387300 0a 09 0a 02 7632 12 03 506f64')
    assert.throws(() => decodeProtobuf(own), {
      code: 415,
      message:
        'Pod of v2 is not understood in protobuf here - accepted media types include: application/json, application/yaml',
    })
    assert.throws(() => decodeProtobuf(new Uint8Array([1, 2, 3])), { code: 400 })
  })

  it('every type the table names exists', () => {
    const scalars = [
      'string',
      'strings',
      'bool',
      'int',
      'bytes',
      'time',
      'microTime',
      'json',
      'quantity',
      'intOrString',
    ]
    const { messages, kinds } = protobufTables()
    let seen = 0
    for (const [message, fields] of messages) {
      for (const [number, { name, type }] of fields) {
        if (number === 0) continue // a message without fields
        assert.ok(number > 0 && name !== '', message)
        assert.ok(scalars.includes(type) || messages.has(type), `${message}.${name} ${type}`)
        seen += 1
      }
    }
    for (const message of kinds.values()) assert.ok(messages.has(message), message)
    assert.ok(kinds.size > 60 && seen > 1500, `${kinds.size} kinds, ${seen} fields`)
  })
})
