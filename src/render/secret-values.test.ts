import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import type { UnknownObject } from '../kinds/meta.ts'
import { redactSecret, redactSecretValues } from '../kinds/redact-secret.ts'
import { restoreSecretData, extractSecretData } from './secret-values.ts'

const secret = (fields: Record<string, unknown>): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'shop' },
  ...fields,
})

describe('values of Secrets', () => {
  const cases: [string, Record<string, unknown>, Record<string, string>][] = [
    ['data', { data: { a: 'QQ==' } }, { a: 'QQ==' }],
    ['stringData, which wins', { data: { a: 'QQ==', b: 'Qg==' }, stringData: { a: 'ä' } }, { a: 'w6Q=', b: 'Qg==' }],
    ['nothing in a key', { data: { a: null } }, { a: '' }],
    ['a key with an odd name', { stringData: { __proto__x: 'A' } }, { __proto__x: 'QQ==' }],
  ]
  for (const [what, fields, data] of cases) {
    it(`are taken from ${what} and put back`, () => {
      const taken = extractSecretData(secret({ ...fields, type: 'Opaque' }))
      assert.deepEqual(taken.object, secret({ type: 'Opaque' }))
      assert.deepEqual(taken.data?.reveal(), data)
      assert.deepEqual(restoreSecretData(taken.object, taken.data), secret({ type: 'Opaque', data }))
    })
  }

  it('do not print', () => {
    const taken = extractSecretData(secret({ stringData: { password: 'hunter2' } }))
    const printed = `${JSON.stringify(taken)} ${inspect(taken, { depth: 9, showHidden: true })}`
    assert.ok(!printed.includes('hunter2') && !printed.includes('aHVudGVyMg=='), printed)
  })

  it('leave other objects and empty Secrets alone', () => {
    const other = { ...secret({ data: { a: 'b' } }), kind: 'ConfigMap' }
    for (const object of [
      other,
      { ...secret({ data: { a: 'b' } }), apiVersion: 'v2' },
      secret({ data: {} }),
      secret({}),
    ]) {
      assert.deepEqual(extractSecretData(object), { object })
    }
  })

  it('must be text, and a sentence about them does not tell them', () => {
    assert.throws(() => extractSecretData(secret({ stringData: { port: 5432 } })), {
      message: 'Secret db: stringData.port is not text; put it in quotes',
    })
    assert.throws(() => extractSecretData(secret({ data: 'x' })), { message: 'Secret db: data is not a map of texts' })
  })

  it('are hidden where an object is shown', () => {
    assert.deepEqual(redactSecret(secret({ data: { a: 'QQ==' }, stringData: { b: 'B' } })), {
      ...secret({}),
      data: { a: '[sealed]' },
      stringData: { b: '[sealed]' },
    })
  })

  it('are hidden in what an API says about an object', () => {
    const object = secret({ data: { a: 'aHVudGVyMg==', short: 'QQ==' } })
    assert.equal(
      redactSecretValues('data[a]: Invalid value: "hunter2" (aHVudGVyMg==): A is short', object),
      'data[a]: Invalid value: "[sealed]" ([sealed]): A is short',
    )
    assert.equal(redactSecretValues('hunter2', { ...object, kind: 'ConfigMap' }), 'hunter2')
    assert.equal(redactSecretValues('it has $& and hunter22', object), 'it has $& and [sealed]2')
  })
})
