import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Loose } from '../../testing/api-contract/harness.ts'
import { protobufConfigMap } from '../../testing/api-contract/access/reviews.ts'
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

  it('a definition of a kind, whose schemas may be bools and lists', () => {
    const body = fromHex(`
      6b3873000a330a17617069657874656e73696f6e732e6b38732e696f2f76311218437573746f6d5265736f75726365446566696e697469
      6f6e12f7040a220a127468696e67732e6578616d706c652e636f6d12001a0022002a0032003800420012c2040a0b6578616d706c652e63
      6f6d1a130a067468696e6773120022055468696e672a00220a4e616d657370616365643a8f040a0276311001180022cc030ac9030a0012
      0022002a066f626a65637432003a00500060007a00900100ea01a1030a04737065631298030a00120022002a066f626a65637432003a00
      500060007a00900100ba010161ea01420a0161123d0a00120022002a066e756d62657232003a0042050a03302e3549000000000000f83f
      500059000000000000000060007a00900100a80200b80200c00200ea015f0a0162125a0a00120022002a05617272617932003a00500060
      007a00800100900100c201310a2f0a00120022002a06737472696e6732003a00500060007a00900100a201050a03227822a20100a80201
      b80200c00200a80200b80200c00200ea01550a016312500a00120022002a066f626a65637432003a00500060007a00900100f201290801
      12250a00120022002a07696e746567657232003a00500060007a00900100a80200b80200c00200a80200b80200c00200ea012e0a016412
      290a00120022002a066f626a65637432003a00500060007a00900100f201020800a80200b80200c00200ea013d0a016512380a00120022
      002a0032003a00500060007a00900100a80200b00201b80200c00200e202140a0a73656c662e61203e203012026e6f1a002a00a80200b8
      0200c00200a80200b80200c002002a180a0012140a072e737065632e7212092e7374617475732e72321a0a01411206737472696e671a00
      2200280032072e737065632e61380050001a0c12080a00120022002a0020001a002200`)
    const { spec } = decodeProtobuf(body) as Loose
    const [version] = spec.versions
    assert.deepEqual([version.served, version.storage], [true, false])
    assert.deepEqual(version.subresources.status, {})
    assert.equal(version.subresources.scale.specReplicasPath, '.spec.r')
    assert.equal(version.additionalPrinterColumns[0].jsonPath, '.spec.a')
    const rules = [{ rule: 'self.a > 0', message: 'no' }]
    assert.deepEqual(version.schema.openAPIV3Schema, {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          required: ['a'],
          properties: {
            a: { type: 'number', minimum: 0, maximum: 1.5, default: 0.5 },
            b: { type: 'array', maxItems: 0, items: { type: 'string', enum: ['x', null], nullable: true } },
            c: { type: 'object', additionalProperties: { type: 'integer' } },
            d: { type: 'object', additionalProperties: false },
            e: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': rules },
          },
        },
      },
    })
  })

  it('a time that is none is null where JSON writes it', () => {
    const condition = '0a 01 54 12 01 55 22 00 2a 00 32 00'
    const body = fromHex(`6b 38 73 00 0a 0d 0a 02 76 31 12 07 53 65 72 76 69 63 65 12 10 1a 0e 12 0c ${condition}`)
    const { status } = decodeProtobuf(body) as Loose
    assert.deepEqual(status.conditions, [{ type: 'T', status: 'U', lastTransitionTime: null, reason: '', message: '' }])
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
      message: /^field 99 of Namespace cannot be decoded from protobuf/,
    })
    const own = fromHex('6b387300 0a 09 0a 02 7632 12 03 506f64')
    assert.throws(() => decodeProtobuf(own), {
      code: 415,
      message:
        'Pod of v2 cannot be decoded from protobuf - accepted media types include: application/json, application/yaml',
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
      'anyJson',
      'quantity',
      'intOrString',
      'double',
      'schemaOrBool',
      'schemaOrArray',
      'schemaOrStrings',
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
