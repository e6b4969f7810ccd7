import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, fromBase64, fromUtf8, publicKeyDer } from '../../core/bytes.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { Secret } from '../../core/secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { differences } from '../objects/differences.ts'
import { boundDriftValues, fieldValues, openDriftValues, sealDriftValues } from './drift-values.ts'
import type { DriftValues } from './drift-values.ts'

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'shop' } }
const pair = (n: number) => keyPairFromSeed('x25519', new Uint8Array(48).fill(n))
const keyOf = (n: number) => base64(publicKeyDer(pair(n).publicKey))
const CONTEXT = { clusterId: 'c-1', bundle: 'shop/app', asked: '2026-01-01T00:00:00Z' }
const VALUES: DriftValues = {
  objects: [{ object: 'ConfigMap shop/greeting', fields: [{ field: '.data.text', delivered: 'one', live: 'two' }] }],
}
const sealed = () => sealDriftValues(CONTEXT, keyOf(1), VALUES, pair(9))

function valuesOf(live: object, wanted: object, redact?: (text: string) => string) {
  const object = (fields: object) => ({ ...CONFIG_MAP, ...fields }) as UnknownObject
  const sides = { live: object(live), wanted: object(wanted) }
  return differences(sides.live, sides.wanted).map((one) => fieldValues(one, { ...sides, redact }))
}

describe('values of drifted fields', () => {
  it('open with the key of the request, in its own place alone', () => {
    assert.deepEqual(openDriftValues(CONTEXT, sealed(), new Secret(pair(1).privateKey)), VALUES)
    const open = (context: typeof CONTEXT, n = 1) => openDriftValues(context, sealed(), new Secret(pair(n).privateKey))
    assert.throws(() => open(CONTEXT, 2))
    assert.throws(() => open({ ...CONTEXT, clusterId: 'c-2' }))
    assert.throws(() => open({ ...CONTEXT, bundle: 'shop/other' }))
    assert.throws(() => open({ ...CONTEXT, asked: '2026-01-01T00:00:01Z' }))
  })

  it('are not readable in what the hub stores', () => {
    const stored = fromUtf8(fromBase64(sealed()))
    for (const secret of ['two', base64(new TextEncoder().encode('two'))]) assert.ok(!stored.includes(secret), stored)
  })

  it('have both sides as text; a side that is absent has none', () => {
    assert.deepEqual(valuesOf({ data: { a: '1', gone: 'x' } }, { data: { a: '2', replicas: 3 } }), [
      { field: '.data.a', delivered: '2', live: '1' },
      { field: '.data.gone', live: 'x' },
      { field: '.data.replicas', delivered: '3' },
    ])
    const [long] = valuesOf({ data: { a: 'x'.repeat(10_000) } }, { data: {} })
    assert.equal(long!.live!.length, 4_096)
    assert.ok(long!.live!.endsWith('…'))
  })

  it('are hidden for Secrets and for names that tell of a secret, also inside of a larger value', () => {
    const secret = { kind: 'Secret', data: { a: 'b25l' } }
    assert.deepEqual(valuesOf(secret, { ...secret, data: { a: 'dHdv' } }), [{ field: '.data.a', hidden: true }])
    assert.deepEqual(valuesOf({ data: { dbPassword: 'one' } }, { data: { dbPassword: 'two' } }), [
      { field: '.data.dbPassword', hidden: true },
    ])
    const env = (value: string) => ({ env: [{ name: 'API_TOKEN', value }] })
    assert.deepEqual(valuesOf({ spec: env('one') }, { spec: env('two') }), [
      { field: '.spec.env[name=API_TOKEN].value', hidden: true },
    ])
    const [whole] = valuesOf({ spec: { ...env('one'), password: 'p' } }, {})
    assert.equal(whole!.field, '.spec')
    assert.doesNotMatch(whole!.live!, /"one"|"p"/)
    assert.match(whole!.live!, /API_TOKEN/)
  })

  it('are hidden when either side has a secret name at their place in a list', () => {
    const env = (name: string, value: string) => ({ spec: { env: [{ name, value }] } })
    for (const [live, wanted] of [
      ['FOO', 'DB_PASSWORD'],
      ['DB_PASSWORD', 'FOO'],
    ] as const) {
      assert.deepEqual(valuesOf(env(live, 'one'), env(wanted, 'two')), [
        { field: `.spec.env[name=${live}].name`, hidden: true },
        { field: `.spec.env[name=${live}].value`, hidden: true },
      ])
    }
  })

  it('have no text that redaction removes, neither whole nor cut', () => {
    const redact = (text: string) => text.replaceAll('correct-horse', '[sealed]')
    const long = `${'x'.repeat(4_090)}correct-horse`
    const found = valuesOf(
      { data: { a: 'no correct-horse', b: { c: 'correct-horse' } } },
      { data: { a: long } },
      redact,
    )
    assert.equal(found.length, 2)
    assert.doesNotMatch(JSON.stringify(found), /corr/)
    assert.equal(found[0]!.live, 'no [sealed]')
  })

  it('that do not fit are counted, and the others stay', () => {
    const fields = Array.from({ length: 20 }, (_, at) => ({ field: `.f${at}`, live: 'x'.repeat(4_000) }))
    const { objects, more } = boundDriftValues([{ object: 'ConfigMap a/b', fields }])
    assert.equal(objects[0]!.fields.length + more!, 20)
    assert.ok(objects[0]!.fields.length >= 12)
    const whole = sealDriftValues(CONTEXT, keyOf(1), { objects, more: more! }, pair(9))
    assert.ok(whole.length <= 98_304, String(whole.length))
  })
})
