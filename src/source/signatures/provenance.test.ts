/** Signed charts: signatures were made by GnuPG with keys that exist nowhere else. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyProvenance } from './provenance.ts'
import type { Provenance } from './provenance.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, '../testdata', name), 'utf8')
const KEYRING = read('keyring.asc')
const FILE = 'web-1.0.0.tgz'
const DIGEST = 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
const NOW = Date.parse('2026-11-18T00:00:00Z')

function check(provenance: string, change: Partial<Omit<Provenance, 'provenance'>> = {}): Promise<void> {
  const provenanceFile = Buffer.from(provenance)
  return verifyProvenance({
    provenance: provenanceFile,
    keyring: KEYRING,
    file: FILE,
    digest: DIGEST,
    now: NOW,
    ...change,
  })
}

test('accepts RSA and Ed25519 signatures', async () => {
  await check(read('web-1.0.0.tgz.rsa.prov'))
  await check(read('web-1.0.0.tgz.eddsa.prov'))
})

test('refuses a changed text, another key, another file and another digest', async () => {
  const good = read('web-1.0.0.tgz.rsa.prov')
  for (const [at, wrong] of [
    [good.indexOf('name: web'), 'N'],
    [good.indexOf('version'), 'V'],
    [good.indexOf('dash line'), 'D'],
  ] as const) {
    const changed = good.slice(0, at) + wrong + good.slice(at + 1)
    await assert.rejects(
      check(changed),
      /^SourceError: The signature of web-1\.0\.0\.tgz is not valid: no key of the keyring signed the file \(.*\)\.$/,
    )
  }
  await assert.rejects(check(read('web-1.0.0.tgz.stranger.prov')), /no key of the keyring signed the file/)
  await assert.rejects(check(good, { file: 'other-1.0.0.tgz' }), /the signed text does not name this file/)
  await assert.rejects(check(good, { digest: `sha256:${'0'.repeat(64)}` }), /the signed digest is sha256:0123/)
  await assert.rejects(check('hello'), /the file is not an OpenPGP signed message/)
  await assert.rejects(check(good, { keyring: 'x' }), /the keyring has no armored public key/)
  await assert.rejects(check(good, { keyring: undefined }), /spec\.helm\.verify needs the key "keyring"/)
})

test('refuses a signature of a later date', async () => {
  await assert.rejects(check(read('web-1.0.0.tgz.rsa.prov'), { now: Date.parse('2026-01-01T00:00:00Z') }), /not valid/)
})

test('reads a keyring of several armored exports', async () => {
  const { readKeys } = await import('openpgp')
  const keys = await readKeys({ armoredKeys: KEYRING })
  const keyring = keys.map((key) => key.armor()).join('\n')
  assert.equal(keys.length, 2)
  await check(read('web-1.0.0.tgz.rsa.prov'), { keyring })
  await check(read('web-1.0.0.tgz.eddsa.prov'), { keyring })
})

test('accepts a signature of a key that expired after the signature, and refuses a revoked key', async () => {
  const { createCleartextMessage, generateKey, revokeKey, sign } = await import('openpgp')
  const date = new Date('2026-11-01T00:00:00Z')
  const userIDs = [{ email: 'author@example.com' }]
  const { privateKey, publicKey } = await generateKey({ userIDs, date, keyExpirationTime: 60, format: 'object' })
  const message = await createCleartextMessage({ text: `files:\n  ${FILE}: ${DIGEST}` })
  const provenance = await sign({ message, signingKeys: privateKey, date: new Date(date.getTime() + 30_000) })
  await check(provenance, { keyring: publicKey.armor() })
  const revoked = await revokeKey({ key: privateKey, date, format: 'object' })
  await assert.rejects(
    check(provenance, { keyring: revoked.publicKey.armor() }),
    /no key of the keyring signed the file/,
  )
})

test('CVE-2026-35205: fails as SourceError for every damaged provenance file', async () => {
  const good = Buffer.from(read('web-1.0.0.tgz.eddsa.prov'))
  for (let at = 0; at < good.length; at += 7) {
    const cut = Buffer.concat([good.subarray(0, at), Buffer.from('A'), good.subarray(at + 1)]).toString('latin1')
    try {
      await check(cut)
    } catch (caught) {
      assert.equal((caught as Error).name, 'SourceError', `${at}: ${String(caught)}`)
    }
  }
})
