/** A hub as a process: one per directory, gone when told, the same after a restart. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { chartArchive, ENDLESS_MODULE, ENDLESS_NOTE } from '../../src/testing/hub/endless-archive.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const READY = /^flotilla hub ready: api (\S+) gateway (\S+) console (\S+) kubeconfig (\S+)\n/

async function startHub(t: Cleanup, data: string, ...more: readonly string[]) {
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...more])
  const [, api = '', gateway = '', page = '', kubeconfig = ''] = await hub.says(READY)
  return { hub, api, gateway, page, kubeconfig }
}

const PLACEMENT = `
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata:
  name: everywhere
spec:
  clusterSelector: {}
`

test('the owner of the directory gets new addresses of the console, also after kill -9', async (t) => {
  const data = join(temporaryFolder(t), 'hub')
  const killed = await startHub(t, data)
  await killed.hub.stop('SIGKILL')
  const absent = await runFlotilla(t, ['hub', 'sign-in', '--data', data])
  assert.equal(absent.code, 3)
  assert.match(
    absent.stderr,
    /no hub runs with this data directory\nhint: start a hub with "\S*flotilla hub run --data /,
  )
  const { hub, page } = await startHub(t, data)
  assert.equal(statSync(join(data, 'console.sock')).mode & 0o777, 0o600)
  const { stdout, stderr } = await runFlotilla(t, ['hub', 'sign-in', '--data', data])
  const url = new URL(stdout.trim())
  assert.equal(url.origin, new URL(page).origin, stderr)
  assert.notEqual(stdout.trim(), page)
  assert.deepEqual([(await fetch(url)).status, (await fetch(url)).status], [200, 401])
  assert.equal((await hub.stop()).code, 0)
  assert.ok(!readdirSync(data).includes('console.sock'))
})

test('a second hub on the same directory says who holds it', async (t) => {
  const data = join(temporaryFolder(t), 'hub')
  const { hub } = await startHub(t, data)
  const second = await runFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
  assert.equal(second.code, 1)
  assert.match(
    second.stderr,
    new RegExp(`is in use by process ${hub.pid} on \\S+ since \\d{4}-\\S+\nhint: stop that hub first`),
  )
  assert.equal((await hub.stop()).code, 0)
})

test('SIGTERM ends it cleanly, and what was written is there after the next start, also after kill -9', async (t) => {
  const data = join(temporaryFolder(t), 'hub')
  const first = await startHub(t, data)
  assert.equal(statSync(data).mode & 0o777, 0o700)
  assert.equal(statSync(first.kubeconfig).mode & 0o777, 0o600)
  assert.match(readFileSync(first.kubeconfig, 'utf8'), /^current-context: flotilla$/m)
  const applied = await runFlotilla(t, ['apply', '-f', '-', '--kubeconfig', first.kubeconfig], { input: PLACEMENT })
  assert.equal(applied.stdout, 'placement.flotilla.dev/everywhere created\n', applied.stderr)
  const ended = await first.hub.stop()
  assert.equal(ended.code, 0)
  assert.match(ended.stderr, /created the root key .*root\.key: move it to a safe place/)

  const second = await startHub(t, data)
  await second.hub.stop('SIGKILL')
  const third = await startHub(t, data)
  const got = await runFlotilla(t, ['get', 'placements', '-o', 'name', '--kubeconfig', third.kubeconfig])
  assert.equal(got.stdout, 'placement.flotilla.dev/everywhere\n', got.stderr)
  const last = await third.hub.stop()
  assert.equal(last.code, 0)
  assert.doesNotMatch(last.stderr, /root key/)
  assert.ok(!readdirSync(data).some((name) => name.endsWith('-journal') || name.includes('.new')))
})

test('an address in use stops the start with a sentence', async (t) => {
  const taken = createServer()
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
  t.after(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const data = join(temporaryFolder(t), 'hub')
  const args = ['hub', 'run', '--data', data, ...FREE, '--listen', `127.0.0.1:${port}`]
  const { code, stderr, stdout } = await runFlotilla(t, args)
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, new RegExp(`address 127.0.0.1:${port} is already in use`))
})

test('--print-config shows settings with their origins and starts nothing', async (t) => {
  const env = { FLOTILLA_HUB_LOG_LEVEL: 'warn' }
  const { code, stdout } = await runFlotilla(t, ['hub', 'run', '--data', '/nowhere', '--print-config'], { env })
  assert.equal(code, 0)
  assert.match(stdout, /^data +\/nowhere {2}\(--data\)$/m)
  assert.match(stdout, /^logLevel +warn {2}\(FLOTILLA_HUB_LOG_LEVEL\)$/m)
})

test('without a hub, commands say how to get one', async (t) => {
  const home = temporaryFolder(t)
  const refused = await runFlotilla(t, ['get', 'clusters', '--context', 'missing'], { env: { HOME: home } })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /^error: .*no hub found: .*\nhint: start a demo with "\S+ demo"/)
})

test('an archive that is never read to its end stops neither the other sources nor SIGTERM', async (t) => {
  const server = createWebServer((request, response) => {
    response.end(chartArchive('web', request.url?.includes('endless')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const source = (name: string) => `
apiVersion: flotilla.dev/v1alpha1
kind: Source
metadata:
  name: ${name}
spec:
  helm:
    url: ${address}/${name}.tgz
  timeout: 1s
`
  const data = join(temporaryFolder(t), 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE], {
    env: { NODE_OPTIONS: `--import=${ENDLESS_MODULE}` },
  })
  const [, , , , kubeconfig = ''] = await hub.says(READY)
  const apply = async (name: string): Promise<void> => {
    const applied = await runFlotilla(t, ['apply', '-f', '-', '--kubeconfig', kubeconfig], { input: source(name) })
    assert.equal(applied.code, 0, applied.stderr)
  }
  const isBusy = (times: number) =>
    eventually('an archive without an end', async () => hub.logged().split(ENDLESS_NOTE).length > times || undefined)
  await apply('endless-1')
  await isBusy(1)
  await apply('fine')
  const ready = ['get', 'source', 'fine', '-o', 'jsonpath={.status.artifact.revision}', '--kubeconfig', kubeconfig]
  await eventually('an artifact beside an archive without an end', async () => {
    const { stdout } = await runFlotilla(t, ready)
    return stdout.startsWith('1.0.0@sha256:') || undefined
  })
  // Now the thread that all share and the one of the first archive are both busy for ever.
  await isBusy(2)
  await apply('endless-2')
  await isBusy(3)
  const ended = await hub.stop()
  assert.deepEqual([ended.code, ended.signal], [0, null], ended.stderr)
  assert.match(ended.stderr, /the source thread did not close within 8 s and was ended/)
})
