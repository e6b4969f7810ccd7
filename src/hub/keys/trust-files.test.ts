import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { readKeysIn, readMountedKeys } from './hub-keys.ts'
import { createTrustFiles, rotateTrust, trustSecret } from './trust-files.ts'

const PORTS = { clock: systemClock, ids: systemIds }
const ENDPOINTS = ['https://hub.example:7444']
const WANTED = { endpoints: ENDPOINTS, minAgentVersion: '0.1.0' }
const NAMED = { name: 'keys', namespace: 'flotilla' }

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'flotilla-trust-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Mounts a Secret as a kubelet does: files are links into a folder that a link names. */
function mount(folder: string, data: Readonly<Record<string, string>>): void {
  const version = `..2026_${readdirSync(folder).length}`
  mkdirSync(join(folder, version))
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(folder, version, name), Buffer.from(text, 'base64'))
    rmSync(join(folder, name), { force: true })
    symlinkSync(join('..data', name), join(folder, name))
  }
  rmSync(join(folder, '..data'), { force: true })
  symlinkSync(version, join(folder, '..data'))
}

describe('keys made by an operator', () => {
  it('are private, once in a directory, and pass on everything but the root', async (t) => {
    const data = join(folder(t), 'trust')
    const { trust, root } = await createTrustFiles(data, ENDPOINTS, PORTS)
    assert.equal(statSync(data).mode & 0o777, 0o700)
    assert.equal(statSync(root).mode & 0o777, 0o600)
    await assert.rejects(createTrustFiles(data, ENDPOINTS, PORTS), /has keys already/)

    const secret = await trustSecret({ data }, NAMED)
    assert.deepEqual(Object.keys(secret.data).sort(), [
      'api-ca.crt',
      'api-ca.key',
      'root.pub',
      'service-account-tokens.key',
      'signer.key',
      'transport-ca.crt',
      'transport-ca.key',
      'trust-bundles',
    ])
    const mounted = folder(t)
    mount(mounted, secret.data)
    const keys = await readMountedKeys(mounted, WANTED)
    assert.equal(keys.trust.root.keyId, trust.root.keyId)
    assert.equal(keys.trust.rootSigner, undefined)
  })

  it('are read anew after a rotation of the Secret', async (t) => {
    const data = join(folder(t), 'trust')
    await createTrustFiles(data, ENDPOINTS, PORTS)
    const mounted = folder(t)
    mount(mounted, (await trustSecret({ data }, NAMED)).data)
    const before = await readKeysIn(mounted)
    await rotateTrust({ data }, 'signer', false, PORTS)
    mount(mounted, (await trustSecret({ data }, NAMED)).data)
    const after = await readKeysIn(mounted)
    assert.notEqual(after.trust.signer.keyId, before.trust.signer.keyId)
    assert.equal(after.trust.newest.bundle.version, 2)
  })

  it('are refused with the root key among them, with other addresses, and incomplete', async (t) => {
    const data = join(folder(t), 'trust')
    await createTrustFiles(data, ENDPOINTS, PORTS)
    await assert.rejects(
      readMountedKeys(join(data, 'keys'), WANTED),
      /the root key must not be among the keys of a hub/,
    )
    const mounted = folder(t)
    const { data: files } = await trustSecret({ data }, NAMED)
    mount(mounted, files)
    const other = { ...WANTED, endpoints: ['https://other.example:7444'] }
    await assert.rejects(
      readMountedKeys(mounted, other),
      /agents know this hub at https:\/\/hub.example:7444; a change/,
    )
    const { 'signer.key': _, ...incomplete } = files
    const half = folder(t)
    mount(half, incomplete)
    await assert.rejects(readMountedKeys(half, WANTED), /signer.key is missing/)
    await assert.rejects(readMountedKeys(join(half, 'none'), WANTED), /keys directory is missing/)
  })
})
