/** The door of the disk: who reads the files of a hub reads no values of Secrets, Bundles and Overrides. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../flotilla-process.ts'
import { startDoorHub } from './door-hub.ts'

const NATIVE = '/apis/flotilla.dev/v1alpha1/namespaces/default'
const CANARY = 'canary-3f9c1d'

test('F19, CVE-2024-52284: the files of a hub have no values of Bundles in them, and only its user may read them', async (t) => {
  const hub = await startDoorHub(t)
  const data = dirname(hub.kubeconfig)
  const add = (kind: string, name: string, spec: object) =>
    hub.admin.json({
      method: 'POST',
      path: `${NATIVE}/${kind.toLowerCase()}s`,
      body: { apiVersion: 'flotilla.dev/v1alpha1', kind, metadata: { name }, spec },
    })
  await add('Placement', 'all', { clusterSelector: {} })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { password: CANARY } }
  await add('Bundle', 'inline', { manifests: JSON.stringify(secret), placement: 'all' })
  await eventually('the Bundle has a Release', async () => {
    const { items } = (await hub.admin.json({ method: 'GET', path: `${NATIVE}/releases` })) as { items: unknown[] }
    return items.length > 0 || undefined
  })
  await hub.checkAlive()
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  assert.ok(files.some(({ name }) => name === 'hub.db'))
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name)
    assert.equal(readFileSync(file).includes(CANARY), false, file)
    assert.equal(statSync(file).mode & 0o077, 0, `${file} can be read by others`)
  }
  // It is there for those who may read the Bundle.
  const bundle = await hub.admin.json({ method: 'GET', path: `${NATIVE}/bundles/inline` })
  assert.ok(JSON.stringify(bundle).includes(CANARY))
  assert.equal((await hub.process.stop()).code, 0)
})
