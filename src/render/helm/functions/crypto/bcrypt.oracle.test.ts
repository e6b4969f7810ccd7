// Hashes of the real helm, made again from their salt. A password is bytes, not always text (ADR 0022).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { saltOfHash } from '../../../../testing/helm/bcrypt-salt.ts'
import { findBinary } from '../../../../testing/testenv.ts'
import { bcryptHash } from './bcrypt.ts'

const PASSWORDS = ['', 'secret', 'pässwörd 🚢', 'a\0b', 'x'.repeat(72)].map((text) => Buffer.from(text))
const NOT_TEXT = [Buffer.from([0xff]), Buffer.from([0xc3, 0x28, 0x80]), Buffer.from([0xed, 0xb2, 0x80])]

let chart = ''
before(() => {
  chart = mkdtempSync(join(tmpdir(), 'helm-bcrypt-'))
  const lines = [...PASSWORDS, ...NOT_TEXT].map(
    (password, at) => `k${at}: {{ bcrypt (b64dec "${password.toString('base64')}") }}\n`,
  )
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: hashes\nversion: 1.0.0\n')
  mkdirSync(join(chart, 'templates'))
  writeFileSync(join(chart, 'templates/hashes.yaml'), lines.join(''))
})
after(() => rmSync(chart, { recursive: true, force: true }))

for (const name of ['helm', 'helm3'] as const) {
  const binary = findBinary(name)
  test(`${name}: bcrypt of every password`, { skip: binary === undefined && `no ${name} on this machine` }, () => {
    const printed = execFileSync(binary!, ['template', 'release-name', chart], { encoding: 'utf8' })
    for (const [at, password] of [...PASSWORDS, ...NOT_TEXT].entries()) {
      const hash = new RegExp(`^k${at}: (.+)$`, 'm').exec(printed)?.[1] ?? ''
      assert.match(hash, /^\$2a\$10\$/)
      assert.equal(bcryptHash(password, saltOfHash(hash)), hash, `password ${at}`)
    }
  })
}
