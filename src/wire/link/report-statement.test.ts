import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { PAYLOAD, signEnvelope, trustedKey } from '../trust/envelope.ts'
import { signerOf } from '../trust/hub-keys.ts'
import { LIMITS } from '../limits.ts'
import { openReportStatement, signReportStatement } from './report-statement.ts'

const pair = (seed: number) => keyPairFromSeed('ed25519', new Uint8Array(48).fill(seed))
const identity = pair(1)
const statement = {
  root: digestOf('root'),
  clusterId: 'c-1',
  instance: 'k3k3k3k3k3',
  sequence: 7,
  at: '2026-11-18T06:40:00Z',
  report: digestOf('report'),
}
const envelope = signReportStatement(signerOf(identity), statement)

describe('the statement of a report', () => {
  it('opens with the key that signed it, and fits into a header', () => {
    const opened = openReportStatement(envelope, trustedKey(identity.publicKey))
    assert.deepEqual(opened, { format: 'flotilla.dev/report-statement/v1', ...statement })
    assert.ok(envelope.length < 1200, String(envelope.length))
    assert.match(envelope, /^[\x20-\x7e]+$/)
  })

  it('is refused with any byte of its payload or signature changed', () => {
    const key = trustedKey(identity.publicKey)
    const value = JSON.parse(envelope) as { payload: string; signatures: { keyid: string; sig: string }[] }
    const flipped = (text: string, at: number) => {
      const bytes = fromBase64(text)
      bytes[at]! ^= 1
      return base64(bytes)
    }
    for (let at = 0; at < fromBase64(value.payload).byteLength; at++) {
      const changed = JSON.stringify({ ...value, payload: flipped(value.payload, at) })
      assert.throws(() => openReportStatement(changed, key), { reason: 'BadSignature' }, `payload byte ${at}`)
    }
    for (let at = 0; at < 64; at++) {
      const signatures = [{ ...value.signatures[0]!, sig: flipped(value.signatures[0]!.sig, at) }]
      const changed = JSON.stringify({ ...value, signatures })
      assert.throws(() => openReportStatement(changed, key), { reason: 'BadSignature' }, `signature byte ${at}`)
    }
  })

  it('is refused from another key, for another purpose, and too large before it is parsed', () => {
    assert.throws(() => openReportStatement(envelope, trustedKey(pair(2).publicKey)), { reason: 'UnknownSigner' })
    const renewal = fromUtf8(signEnvelope(signerOf(identity), PAYLOAD.renew, utf8(JSON.stringify(statement))))
    assert.throws(() => openReportStatement(renewal, trustedKey(identity.publicKey)), { reason: 'WrongType' })
    const large = ' '.repeat(LIMITS.statementBytes) + envelope
    assert.throws(() => openReportStatement(large, trustedKey(identity.publicKey)), { reason: 'TooLarge' })
  })
})
