/** A real cluster behind a proxy, while its hub rotates its keys, is killed, and comes back from a copied database: nothing changes there that should not. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startConnectProxy } from '../../src/testing/bad-ways.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { eventually as soon, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const WITHIN_MS = 200_000

const eventually = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => soon(what, look, WITHIN_MS)

const contentOf = (text: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata:
  name: stores
spec:
  clusterSelector:
    matchLabels:
      tier: store
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata:
  name: note
spec:
  placement: stores
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: note
      namespace: default
    data:
      text: "${text}"
`

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

interface ClusterObject {
  spec: { id: string }
  status?: { conditions?: { type: string; status: string; reason: string; message: string }[] }
}

test('rotations, a killed hub and a hub from the past, through a proxy', { timeout: 500_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const old = join(folder, 'old')
  await using spoke = await startControlPlane()
  const hosts: string[] = []
  const proxy = await startConnectProxy(hosts)
  t.after(() => proxy.close())
  const door = `127.0.0.1:${await freePort()}`
  const startHub = async () => {
    const free = ['--listen', '127.0.0.1:0', '--gateway-listen', door, '--console-listen', '127.0.0.1:0']
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...free])
    await hub.says(/^flotilla hub ready/m)
    return hub
  }
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', join(data, 'admin.kubeconfig')])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }
  const trust = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--data', data, '--root', join(folder, 'root.key'), '--yes'])
    assert.equal(ended.code, 0, ended.stderr)
  }
  const apply = async (text: string) => {
    writeFileSync(join(folder, 'content.yaml'), contentOf(text))
    await flotilla('apply', '-f', join(folder, 'content.yaml'))
  }
  const note = async (): Promise<string | undefined> => {
    const { status, text } = await spoke.call('GET', '/api/v1/namespaces/default/configmaps/note')
    return status === 200 ? (JSON.parse(text) as { data: { text: string } }).data.text : undefined
  }
  const untilNote = (text: string) =>
    eventually(`note ${text}`, async () => ((await note()) === text ? true : undefined))
  const cluster = async () => JSON.parse(await flotilla('get', 'cluster', 'store-1', '-o', 'json')) as ClusterObject
  const condition = async (type: string) => (await cluster()).status?.conditions?.find((one) => one.type === type)
  const database = () => readdirSync(data).filter((name) => name.startsWith('hub.db'))

  let hub = await startHub()
  // The root is kept elsewhere from now on.
  cpSync(join(data, 'keys', 'root.key'), join(folder, 'root.key'))
  rmSync(join(data, 'keys', 'root.key'))
  const { code } = JSON.parse(await flotilla('cluster', 'add', 'store-1', '-l', 'tier=store', '-o', 'json')) as {
    code: string
  }
  const agent = startFlotilla(
    t,
    ['agent', 'run', '--join', code, '--kubeconfig', spoke.kubeconfigPath, '--data', join(folder, 'agent')],
    { env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '' } },
  )
  agent.ended.catch(() => {})
  await apply('1')
  await untilNote('1')
  assert.ok(hosts.length > 0 && hosts.every((host) => host === door), hosts.join())
  const { id } = (await cluster()).spec

  await hub.stop()
  mkdirSync(old)
  for (const name of database()) cpSync(join(data, name), join(old, name))
  hub = await startHub()

  await trust('trust', 'rotate', 'signer')
  await trust('trust', 'rotate', 'ca', '--drop-old')
  await apply('2')
  await untilNote('2')
  // Killed in the middle of its work, and back.
  await hub.stop('SIGKILL')
  hub = await startHub()
  await apply('3')
  await untilNote('3')

  // The database of an hour ago, as somebody who copies files would bring it back.
  await hub.stop('SIGKILL')
  for (const name of database()) rmSync(join(data, name))
  for (const name of readdirSync(old)) cpSync(join(old, name), join(data, name))
  hub = await startHub()
  const behind = await eventually('the hub hearing the truth', async () => {
    const found = await condition('HubBehind')
    return found?.status === 'True' ? found : undefined
  })
  assert.match(behind.message, /with this hub's own signature/)
  await apply('from the past')
  const assigned = await eventually('the hub holding back', async () => {
    const found = await condition('Assigned')
    return found?.reason === 'HubBehind' ? found : undefined
  })
  assert.match(assigned.message, /flotilla hub new-epoch/)
  await sleep(5000)
  assert.equal(await note(), '3')

  await trust('hub', 'new-epoch')
  await eventually('the new epoch', async () => ((await condition('HubBehind'))?.status === 'False' ? true : undefined))
  await sleep(5000)
  assert.equal(await note(), '3', 'an epoch alone changes nothing, and generation 2 is behind what runs')
  await apply('5')
  await untilNote('5')
  assert.equal((await cluster()).spec.id, id)
  const ended = await agent.stop()
  assert.equal(ended.code, 0, ended.stderr)
  await hub.stop()
})
