import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { Secret } from '../../core/secret.ts'
import { openSealedValue, parseSealed, sealingKeyId, sealValues } from './sealed-values.ts'
import type { SealedContext } from './sealed-values.ts'
import { writePublicKey } from '../trust/trust-bundle.ts'

const pair = (n: number) => keyPairFromSeed('x25519', new Uint8Array(48).fill(n))
const CONTEXT: SealedContext = { clusterId: 'c-1', bundle: 'shop/app', values: digestOf('values') }
const SLOT = 'v1 Secret shop/db'
const VALUE = new Secret(utf8('hunter2'))
const seal = (context = CONTEXT, to = 1, ephemeral = 9) =>
  sealValues(context, writePublicKey(pair(to).publicKey), new Map([[SLOT, VALUE]]), pair(ephemeral))
const key = (n: number) => new Secret(pair(n).privateKey)

describe('sealed values', () => {
  it('opens for the cluster they were sealed to', () => {
    const sealed = parseSealed(seal())
    assert.equal(fromUtf8(openSealedValue(sealed, CONTEXT, SLOT, [key(2), key(1)]).reveal()), 'hunter2')
    assert.equal(sealed.key, sealingKeyId(writePublicKey(pair(1).publicKey)))
  })

  it('says nothing of the value, and the same inputs give the same bytes', () => {
    const bytes = seal()
    assert.deepEqual(bytes, seal())
    assert.ok(!fromUtf8(bytes).includes('hunter2') && !fromUtf8(bytes).includes(base64(utf8('hunter2'))))
    assert.notDeepEqual(bytes, seal(CONTEXT, 1, 8))
    assert.notDeepEqual(seal(CONTEXT, 1), seal(CONTEXT, 2))
  })

  it('does not open with the key of another cluster', () => {
    assert.throws(() => openSealedValue(parseSealed(seal()), CONTEXT, SLOT, [key(2)]), {
      message:
        /^the values for v1 Secret shop\/db are sealed to key sha256:[0-9a-f]{64}, which this agent does not have;/,
    })
    // Also not when it says that it is sealed to that key.
    const lying = { ...parseSealed(seal()), key: sealingKeyId(writePublicKey(pair(2).publicKey)) }
    assert.throws(() => openSealedValue(lying, CONTEXT, SLOT, [key(2)]), { reason: 'BadSignature' })
  })

  const moved: [string, SealedContext][] = [
    ['cluster', { ...CONTEXT, clusterId: 'c-2' }],
    ['bundle', { ...CONTEXT, bundle: 'shop/other' }],
    ['version of the values', { ...CONTEXT, values: digestOf('older values') }],
  ]
  for (const [what, context] of moved) {
    it(`does not open in another ${what}`, () => {
      assert.throws(() => openSealedValue(parseSealed(seal()), context, SLOT, [key(1)]), {
        reason: 'BadSignature',
        message: 'the values for v1 Secret shop/db do not open: they were made for another place, or changed',
      })
    })
  }

  it('does not open in another slot, and an absent slot is said', () => {
    const sealed = parseSealed(seal())
    const swapped = { ...sealed, boxes: { 'v1 Secret shop/other': sealed.boxes[SLOT]! } }
    assert.throws(() => openSealedValue(swapped, CONTEXT, 'v1 Secret shop/other', [key(1)]), { reason: 'BadSignature' })
    assert.throws(() => openSealedValue(sealed, CONTEXT, '__proto__', [key(1)]), {
      message: 'sealed values have none for __proto__',
    })
  })

  it('does not open after any change of its bytes', () => {
    const sealed = parseSealed(seal())
    const box = Buffer.from(sealed.boxes[SLOT]!, 'base64')
    for (let at = 0; at < box.byteLength; at++) {
      const changed = Buffer.from(box)
      changed[at]! ^= 1
      const boxes = { [SLOT]: changed.toString('base64') }
      assert.throws(() => openSealedValue({ ...sealed, boxes }, CONTEXT, SLOT, [key(1)]), { reason: 'BadSignature' })
    }
    const ephemeral = writePublicKey(pair(7).publicKey)
    assert.throws(() => openSealedValue({ ...sealed, ephemeral }, CONTEXT, SLOT, [key(1)]), { reason: 'BadSignature' })
    assert.throws(() => openSealedValue({ ...sealed, boxes: { [SLOT]: '' } }, CONTEXT, SLOT, [key(1)]), {
      reason: 'BadSignature',
    })
  })
})
