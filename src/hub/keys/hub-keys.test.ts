import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateKeyPair } from '../../core/bytes.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { parseCertificate, wasIssuedBy } from '../../core/crypto/x509.ts'
import { openDataDirectory } from '../home/data-directory.ts'
import {
  issueApiClientCertificate,
  issueApiServerCertificate,
  issueGatewayListenerCertificate,
  loadHubKeys,
} from './hub-keys.ts'

const PORTS = { clock: systemClock, ids: systemIds }
const WANTED = { endpoints: ['https://hub.example:7444'], minAgentVersion: '0.1.0' }

async function temporary(t: { after(fn: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-keys-'))
  const directory = await openDataDirectory(folder, systemClock)
  t.after(() => {
    directory.release()
    rmSync(folder, { recursive: true, force: true })
  })
  return directory
}

test('keys are made once, private, and read again', async (t) => {
  const directory = await temporary(t)
  const made = await loadHubKeys(directory, WANTED, PORTS)
  assert.equal(made.newRoot, directory.file('keys', 'root.key'))
  for (const name of readdirSync(directory.file('keys'))) {
    assert.equal(statSync(directory.file('keys', name)).mode & 0o777, 0o600, name)
  }
  const { newRoot, ...read } = await loadHubKeys(directory, WANTED, PORTS)
  assert.equal(newRoot, undefined)
  assert.deepEqual(read.trust, made.trust)
  assert.deepEqual(read.apiCa, made.apiCa)
  assert.deepEqual(read.tokenKeys, made.tokenKeys)
  assert.deepEqual(readdirSync(directory.path).sort(), ['.gitignore', 'holder.json', 'keys', 'lock'])
})

test('the file of token keys may have several; the first one is the newest', async (t) => {
  const directory = await temporary(t)
  const { tokenKeys } = await loadHubKeys(directory, WANTED, PORTS)
  const file = directory.file('keys', 'service-account-tokens.key')
  const next = generateKeyPair('ed25519').privateKey
  writeFileSync(file, `${next}${tokenKeys[0]}`)
  assert.deepEqual((await loadHubKeys(directory, WANTED, PORTS)).tokenKeys, [next, tokenKeys[0]])
  for (const bad of ['', 'nonsense', generateKeyPair('p256').privateKey]) {
    writeFileSync(file, bad)
    await assert.rejects(
      loadHubKeys(directory, WANTED, PORTS),
      /service-account-tokens\.key must contain only Ed25519 private keys in PEM/,
    )
  }
})

test('a new address is a new version of the trust bundle, and needs the root', async (t) => {
  const directory = await temporary(t)
  await loadHubKeys(directory, WANTED, PORTS)
  const moved = { ...WANTED, endpoints: ['https://other.example:7444'] }
  const amended = await loadHubKeys(directory, moved, PORTS)
  assert.equal(amended.trust.newest.bundle.version, 2)
  assert.deepEqual(amended.trust.newest.bundle.endpoints, moved.endpoints)
  assert.equal((await loadHubKeys(directory, moved, PORTS)).trust.newest.bundle.version, 2)

  rmSync(directory.file('keys', 'root.key'))
  assert.equal((await loadHubKeys(directory, moved, PORTS)).trust.rootSigner, undefined)
  await assert.rejects(loadHubKeys(directory, WANTED, PORTS), {
    name: 'Stalled',
    message: /agents know this hub at https:\/\/other.example:7444; a change to .* requires the root key/,
  })
})

test('the API and the gateway have different authorities', async (t) => {
  const keys = await loadHubKeys(await temporary(t), WANTED, PORTS)
  const server = issueApiServerCertificate(keys, ['localhost', '127.0.0.1'], PORTS)
  const client = issueApiClientCertificate(keys, { commonName: 'admin', organizations: ['system:masters'] }, PORTS)
  const gateway = issueGatewayListenerCertificate(keys, ['hub.example'], PORTS)
  assert.deepEqual(parseCertificate(server.certificate).sans, ['localhost', '127.0.0.1'])
  assert.deepEqual(parseCertificate(client.certificate).subject, {
    commonName: 'admin',
    organizations: ['system:masters'],
  })
  assert.ok(wasIssuedBy(client.certificate, keys.apiCa.certificate))
  assert.ok(!wasIssuedBy(client.certificate, keys.trust.transportCa.certificate))
  assert.ok(wasIssuedBy(gateway.certificate, keys.trust.transportCa.certificate))
})
