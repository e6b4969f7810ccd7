import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { Secret } from '../../core/secret.ts'
import { openSealedValue, parseSealed } from '../../wire/document/sealed-values.ts'
import { writePublicKey } from '../../wire/trust/trust-bundle.ts'
import { decryptValues, encryptValues, sealFor } from './secret-values.ts'

const key = (n: number) => new Secret(new Uint8Array(32).fill(n))
const SLOT = 'v1 Secret shop/db'
const valuesOf = (text: string) => new Map([[SLOT, new Secret({ password: base64(utf8(text)) })]])

describe('values as the hub keeps them', () => {
  it('are read with the key of their bundle, and by nothing else', () => {
    const blob = encryptValues('ns/app', valuesOf('hunter2'), key(1))
    assert.deepEqual(decryptValues('ns/app', blob, key(1))?.get(SLOT)?.reveal(), { password: base64(utf8('hunter2')) })
    assert.equal(decryptValues('ns/app', blob, key(2)), undefined)
    assert.equal(decryptValues('ns/other', blob, key(1)), undefined)
    assert.equal(decryptValues('ns/app', utf8('{}'), key(1)), undefined)
    for (const form of ['hunter2', base64(utf8('hunter2')), SLOT]) assert.ok(!fromUtf8(blob).includes(form))
  })

  it('have one digest per content, key and bundle: nothing moves because something was rendered again', () => {
    const same = encryptValues('ns/app', valuesOf('a'), key(1))
    assert.deepEqual(encryptValues('ns/app', valuesOf('a'), key(1)), same)
    assert.notDeepEqual(encryptValues('ns/app', valuesOf('b'), key(1)), same)
    assert.notDeepEqual(encryptValues('ns/other', valuesOf('a'), key(1)), same)
    assert.notDeepEqual(encryptValues('ns/app', valuesOf('a'), key(2)), same)
  })

  it('are sealed the same for the same cluster, and otherwise for every other', () => {
    const pair = (n: number) => keyPairFromSeed('x25519', new Uint8Array(48).fill(n))
    const context = { clusterId: 'c-1', bundle: 'ns/app', values: digestOf('v') }
    const seal = (over: Partial<typeof context> = {}, to = 1) =>
      sealFor({ ...context, ...over }, writePublicKey(pair(to).publicKey), valuesOf('a'), key(1))
    assert.deepEqual(seal(), seal())
    const ephemerals = [seal(), seal({ clusterId: 'c-2' }), seal({ values: digestOf('w') }), seal({}, 2)].map(
      (bytes) => parseSealed(bytes).ephemeral,
    )
    assert.equal(new Set(ephemerals).size, 4)
    const opened = openSealedValue(parseSealed(seal()), context, SLOT, [new Secret(pair(1).privateKey)])
    assert.equal(fromUtf8(opened.reveal()), '{"password":"YQ=="}')
  })
})
