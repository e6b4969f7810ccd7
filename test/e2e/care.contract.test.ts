/** A hub is looked after: its secrets are sealed, its audit chain is whole, a backup of it becomes a hub again. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const READY = /^flotilla hub ready: api (\S+) gateway \S+:(\d+) console \S+ kubeconfig (\S+)\n/
const CANARY = 'Q0FOQVJZLWluLXNlY3JldA=='

const OBJECTS = `
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default}
data: {password: ${CANARY}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m, namespace: default}
data: {a: CANARY-in-map}
`

async function startHub(t: Cleanup, data: string, ...more: readonly string[]) {
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...more])
  const [, , gatewayPort = '', kubeconfig = ''] = await hub.says(READY)
  return { hub, gatewayPort, kubeconfig }
}

function textOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('')
}

test('secrets are sealed, the audit is whole, and a backup becomes the same hub', async (t) => {
  const root = temporaryFolder(t)
  const data = join(root, 'hub')
  const { hub, kubeconfig, gatewayPort } = await startHub(t, data)
  const run = async (...args: readonly string[]) => {
    const ended = await runFlotilla(t, args, { input: OBJECTS })
    assert.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }
  await run('apply', '-f', '-', '--kubeconfig', kubeconfig)
  assert.equal(statSync(join(data, 'keys', 'sealing.keys')).mode & 0o777, 0o600)
  assert.ok(textOf(data).includes('CANARY-in-map'))
  assert.ok(!textOf(data).includes(CANARY), 'no file of the hub has the secret in the open')

  assert.match(await run('audit', '--kubeconfig', kubeconfig), /admin +create +secrets +default\/s +<none>\n/)
  assert.match(await run('audit', '--verify', '--kubeconfig', kubeconfig), /^\d+ records, hash chain verified/)

  const backup = join(root, 'backup.tar')
  assert.match(await run('backup', backup, '--data', data), /revision \d+, \d+ blobs\n/)
  assert.match(await run('restore', backup, '--drill', '--keys', join(data, 'keys')), /\(1 of 1 sealed/)
  assert.equal((await hub.stop()).code, 0)

  const blind = join(root, 'blind')
  await run('restore', backup, '--data', blind)
  const refused = await runFlotilla(t, ['hub', 'run', '--data', blind, ...FREE])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /has a database and no .*keys\nhint: copy the keys of the hub/)

  const restored = join(root, 'restored')
  await run('restore', backup, '--data', restored, '--keys', join(data, 'keys'))
  const again = await startHub(t, restored, '--gateway-listen', `127.0.0.1:${gatewayPort}`)
  const password = ['get', 'secret', 's', '-n', 'default', '-o', 'jsonpath={.data.password}']
  assert.equal((await run(...password, '--kubeconfig', again.kubeconfig)).trim(), CANARY)
  await run('audit', '--verify', '--kubeconfig', again.kubeconfig)
  assert.equal((await again.hub.stop()).code, 0)
})
