/** Signed charts: signatures were made by GnuPG with keys that exist nowhere else. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyProvenance } from './provenance.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')
const KEYRING = read('keyring.asc')
const FILE = 'web-1.0.0.tgz'
const DIGEST = 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
const check = (provenance: string, more: { keyring?: string | undefined; file?: string; digest?: string } = {}): void =>
  verifyProvenance({ provenance: Buffer.from(provenance), keyring: KEYRING, file: FILE, digest: DIGEST, ...more })

test('RSA and Ed25519 signatures hold', () => {
  check(read('web-1.0.0.tgz.rsa.prov'))
  check(read('web-1.0.0.tgz.eddsa.prov'))
})

test('any change, another key, another file and another digest are refused', () => {
  const good = read('web-1.0.0.tgz.rsa.prov')
  const line = good.indexOf('name: web')
  for (const [at, wrong] of [
    [line, 'N'],
    [good.indexOf('version'), 'V'],
    [good.indexOf('dash line'), 'D'],
  ] as const) {
    const changed = good.slice(0, at) + wrong + good.slice(at + 1)
    assert.throws(
      () => check(changed),
      /^SourceError: The signature of web-1\.0\.0\.tgz does not hold: no key of the keyring signed it\.$/,
    )
  }
  assert.throws(() => check(read('web-1.0.0.tgz.stranger.prov')), /no key of the keyring signed it/)
  assert.throws(() => check(good, { file: 'other-1.0.0.tgz' }), /it speaks of other files/)
  assert.throws(() => check(good, { digest: `sha256:${'0'.repeat(64)}` }), /it speaks of sha256:0123/)
  assert.throws(() => check('hello'), /it is no signed message/)
  assert.throws(() => check(good, { keyring: 'x' }), /the keyring holds no public key/)
  assert.throws(() => check(good, { keyring: undefined }), /spec\.helm\.verify needs "keyring"/)
})

test('damage never does more than fail', () => {
  const good = Buffer.from(read('web-1.0.0.tgz.eddsa.prov'))
  for (let at = 0; at < good.length; at += 7) {
    const cut = Buffer.concat([good.subarray(0, at), Buffer.from('A'), good.subarray(at + 1)]).toString('latin1')
    try {
      check(cut)
    } catch (caught) {
      assert.equal((caught as Error).name, 'SourceError', `${at}: ${String(caught)}`)
    }
  }
})
