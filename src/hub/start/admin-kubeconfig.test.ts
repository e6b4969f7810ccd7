import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readKubeconfig } from '../../client/kubeconfig.ts'
import { parseCertificate } from '../../core/crypto/x509.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createKeyFiles, issueApiClientCertificate, readKeyFiles } from '../keys/hub-keys.ts'
import { HUB_USERS } from '../ports.ts'
import { keepAdminKubeconfig, writeAdminKubeconfig } from './admin-kubeconfig.ts'

const DAY_MS = 86_400_000
const SERVER = 'https://127.0.0.1:7443'

function fixture(t: { after(end: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-admin-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clock = createVirtualClock()
  const ports = { clock, ids: systemIds, log: silentLogger }
  const newKeys = () =>
    readKeyFiles(createKeyFiles({ endpoints: ['https://hub:7444'], minAgentVersion: '0.1.0' }, ports))
  let keys = newKeys()
  const file = join(folder, 'admin.kubeconfig')
  const options = { ...ports, file, server: SERVER, keys: () => keys }
  const read = async () => {
    const text = readFileSync(file, 'utf8')
    const { connection } = await readKubeconfig({ text, file, readFile: () => Promise.reject(new Error('no files')) })
    return { ...connection, certificate: parseCertificate(connection.cert!) }
  }
  return { clock, ports, options, file, read, keys: () => keys, rotate: () => (keys = newKeys()) }
}

test('F18: the certificate of the administrator lasts for days, and restarts make no other', async (t) => {
  const { clock, options, read, rotate } = fixture(t)
  await writeAdminKubeconfig(options)
  const first = await read()
  assert.deepEqual(first.certificate.subject, HUB_USERS.admin)
  assert.equal(Math.round((first.certificate.notAfter - clock.now()) / DAY_MS), 30)
  await writeAdminKubeconfig(options)
  assert.equal((await read()).cert, first.cert)
  const other = 'https://127.0.0.1:7999'
  await writeAdminKubeconfig({ ...options, server: other })
  const moved = await read()
  assert.deepEqual([moved.cert, moved.server], [first.cert, other])
  rotate()
  await writeAdminKubeconfig(options)
  const next = await read()
  assert.notEqual(next.cert, first.cert)
  assert.notEqual(next.ca, first.ca)
})

test('F18: a certificate of years, and a file that cannot be read, are replaced', async (t) => {
  const { clock, options, read, file, keys, ports } = fixture(t)
  await writeAdminKubeconfig(options)
  const { cert } = await read()
  const old = issueApiClientCertificate(keys(), HUB_USERS.admin, ports).certificate
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(base64(cert!)))
  for (const changed of [text.replace(base64(cert!), base64(old)), 'no: [', '']) {
    writeFileSync(file, changed)
    await writeAdminKubeconfig(options)
    assert.equal(Math.round(((await read()).certificate.notAfter - clock.now()) / DAY_MS), 30)
  }
})

test('F18: a running hub renews the certificate before it ends', async (t) => {
  const { clock, options, read } = fixture(t)
  await writeAdminKubeconfig(options)
  const { cert } = await read()
  const closing = new AbortController()
  const keeping = keepAdminKubeconfig(options, closing.signal)
  for (let day = 0; day < 19; day++) await clock.advance(DAY_MS)
  assert.equal((await read()).cert, cert)
  for (let day = 0; day < 3; day++) await clock.advance(DAY_MS)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.notEqual((await read()).cert, cert)
  closing.abort()
  await clock.settle()
  await keeping
})
