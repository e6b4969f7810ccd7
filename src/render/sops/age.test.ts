import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, utf8 } from '../../core/bytes.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'
import { openAge, readIdentities } from './age.ts'

const KEY = 'AGE-SECRET-KEY-1PT7JL4THM7Q74HJ890DAAP6GTZTT9708GVJ8HVREDM3HW9H40V3Q2WKJAW'
const ARMOR = /-----BEGIN AGE ENCRYPTED FILE-----[\s\S]*?-----END AGE ENCRYPTED FILE-----/
const spend = (): void => {}

function recorded(id: string): string {
  const { data } = readCases('flux/sops.jsonl.gz').find((one) => one.id === id)!
  return ARMOR.exec(data as string)![0].replaceAll(/^ +/gm, '')
}

const armored = (text: string): string =>
  `-----BEGIN AGE ENCRYPTED FILE-----\n${base64(utf8(text))}\n-----END AGE ENCRYPTED FILE-----`

test('a data key opens with its identity, and with no other', () => {
  const [identity] = readIdentities(`# comment\n${KEY}\n`)
  assert.equal(openAge(recorded('sops-0071'), [identity!], spend).byteLength, 32)
  assert.throws(() => openAge(recorded('sops-0071'), [], spend), /incorrect identity for recipient block/)
})

test('an identity does not print', () => {
  const [identity] = readIdentities(KEY)
  assert.equal(JSON.stringify(identity!.key), '"[secret]"')
})

test('identities with a wrong checksum, of another form or in lower case are refused without their text', () => {
  for (const text of [
    KEY.replace('PT7J', 'PT7K'),
    KEY.toLowerCase(),
    'AGE-SECRET-KEY-PQ-1QQ',
    'nonsense',
    KEY.slice(0, 40),
  ]) {
    assert.throws(() => readIdentities(text), { name: 'SopsError', message: 'error at line 1: malformed secret key' })
  }
  assert.throws(() => readIdentities('# nothing\n'), /no secret keys found/)
})

test('a changed header or payload does not open', () => {
  const [identity] = readIdentities(KEY)
  const bytes = Buffer.from(recorded('sops-0071').replaceAll(/-----.*-----/g, ''), 'base64')
  const changed = (at: number): string => {
    const copy = Buffer.from(bytes)
    copy[at < 0 ? copy.length + at : at]! ^= 1
    return `-----BEGIN AGE ENCRYPTED FILE-----\n${copy.toString('base64')}\n-----END AGE ENCRYPTED FILE-----`
  }
  assert.throws(() => openAge(changed(-1), [identity!], spend), /payload chunk/)
  for (const at of [5, 30, 60, 100])
    assert.throws(() => openAge(changed(at), [identity!], spend), { name: 'SopsError' })
})

test('a passphrase costs no work, whatever its factor, and is refused by name', () => {
  const [identity] = readIdentities(KEY)
  const stanza = `-> scrypt ${base64(new Uint8Array(16)).replaceAll('=', '')} 30\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`
  const text = armored(`age-encryption.org/v1\n${stanza}`)
  assert.throws(() => openAge(text, [identity!], spend), /recipients of type scrypt are not supported/)
})

test('each agreement is counted, and malformed files end', () => {
  const [identity] = readIdentities(KEY)
  let count = 0
  openAge(recorded('sops-0071'), [identity!], () => void (count += 1))
  assert.equal(count, 1)
  const stanza = `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`
  const many = armored(`age-encryption.org/v1\n${stanza.repeat(100)}--- AAAA\n`)
  for (const text of [many, armored('age-encryption.org/v1\n-> X25519'), armored(''), 'x'.repeat(100_000)]) {
    assert.throws(() => openAge(text, [identity!], spend), { name: 'SopsError', message: 'malformed age file' })
  }
  // A point without a secret opens nothing.
  const zero = armored(`age-encryption.org/v1\n${stanza}--- AAAA\n`)
  assert.throws(() => openAge(zero, [identity!], spend), /incorrect identity/)
})
