import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { wasIssuedBy } from '../../core/crypto/x509.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { openDataDirectory } from '../home/data-directory.ts'
import { HUB_USERS } from '../ports.ts'
import { issueAdminCertificate, loadHubKeys } from './hub-keys.ts'
import { rotateApiCa } from './rotate-api-ca.ts'

const PORTS = { clock: systemClock, ids: systemIds }
const TRUST = { endpoints: ['https://hub:7444'], minAgentVersion: '0.1.0' }

test('F18: a new CA of the API ends all client certificates, and needs a hub that does not run', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'flotilla-api-ca-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  const running = await openDataDirectory(data, systemClock)
  const before = await loadHubKeys(running, TRUST, PORTS)
  const { certificate } = issueAdminCertificate(before, HUB_USERS.admin, PORTS)
  assert.ok(wasIssuedBy(certificate, before.apiCa.certificate))
  await assert.rejects(rotateApiCa(data, PORTS), /the directory is in use by process/)
  running.release()
  await rotateApiCa(data, PORTS)
  const stopped = await openDataDirectory(data, systemClock)
  const after = await loadHubKeys(stopped, TRUST, PORTS)
  stopped.release()
  assert.equal(wasIssuedBy(certificate, after.apiCa.certificate), false)
  const next = issueAdminCertificate(after, HUB_USERS.admin, PORTS)
  assert.ok(wasIssuedBy(next.certificate, after.apiCa.certificate))
  assert.equal(after.trust.root.keyId, before.trust.root.keyId)
})
