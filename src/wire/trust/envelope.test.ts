import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { openEnvelope, PAYLOAD, signEnvelope, trustedKey } from './envelope.ts'
import { signerOf } from './hub-keys.ts'
import { WireError } from '../validate.ts'

const pair = keyPairFromSeed('ed25519', new Uint8Array(48).fill(1))
const other = keyPairFromSeed('ed25519', new Uint8Array(48).fill(2))
const trusted = [trustedKey(pair.publicKey)]
const envelope = () => signEnvelope(signerOf(pair), PAYLOAD.document, utf8('payload'))

interface Parts {
  payloadType: string
  payload: string
  signatures: { keyid: string; sig: string }[]
}

function changed(change: (parts: Parts) => unknown): Uint8Array {
  const parts = JSON.parse(fromUtf8(envelope())) as Parts
  return utf8(JSON.stringify(change(parts)))
}

describe('envelopes', () => {
  it('give back the payload of a trusted signer', () => {
    const opened = openEnvelope(envelope(), PAYLOAD.document, [trustedKey(other.publicKey), ...trusted])
    assert.equal(fromUtf8(opened.payload), 'payload')
    assert.equal(opened.keyId, trusted[0]!.keyId)
  })

  const cases: Record<string, [Uint8Array, WireError['reason']]> = {
    'another payload': [changed((e) => ({ ...e, payload: base64(utf8('payloae')) })), 'BadSignature'],
    'another type': [changed((e) => ({ ...e, payloadType: PAYLOAD.trust })), 'WrongType'],
    'no signature': [changed((e) => ({ ...e, signatures: [] })), 'Malformed'],
    'an empty signature': [
      changed((e) => ({ ...e, signatures: [{ keyid: e.signatures[0]!.keyid, sig: '' }] })),
      'BadSignature',
    ],
    'two signatures': [changed((e) => ({ ...e, signatures: [...e.signatures, ...e.signatures] })), 'Malformed'],
    'an extra field': [changed((e) => ({ ...e, more: 1 })), 'Malformed'],
    'loose base64': [changed((e) => ({ ...e, payload: `${e.payload}\n` })), 'Malformed'],
    'an unknown signer': [signEnvelope(signerOf(other), PAYLOAD.document, utf8('payload')), 'UnknownSigner'],
    "a trusted key's id over another key's signature": [
      signEnvelope({ ...signerOf(other), keyId: trusted[0]!.keyId }, PAYLOAD.document, utf8('payload')),
      'BadSignature',
    ],
    'not JSON': [utf8('{'), 'Malformed'],
    'not UTF-8': [Uint8Array.of(0xff), 'Malformed'],
  }
  for (const [what, [bytes, reason]] of Object.entries(cases)) {
    it(`refuse ${what}`, () => {
      assert.throws(
        () => openEnvelope(bytes, PAYLOAD.document, trusted),
        (caught) => caught instanceof WireError && caught.reason === reason,
      )
    })
  }

  it('signed for one purpose do not pass for another', () => {
    const swapped = changed((e) => ({ ...e, payloadType: PAYLOAD.trust }))
    assert.throws(() => openEnvelope(swapped, PAYLOAD.trust, trusted), /does not match/)
  })
})
