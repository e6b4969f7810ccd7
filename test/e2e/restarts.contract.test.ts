/** A hub as a process whose threads end or hang, one after the other: the hub starts them again and nothing is lost. */
import assert from 'node:assert/strict'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { clientOver } from '../../src/client/create-client.ts'
import type { Client } from '../../src/client/client.ts'
import { isApiError } from '../../src/core/errors.ts'
import { fromUtf8 } from '../../src/core/bytes.ts'
import { readBody } from '../../src/core/http.ts'
import { freePort } from '../../src/hub/http/free-port.ts'
import { ConfigMap, Event } from '../../src/kinds/builtin/core.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Source } from '../../src/kinds/native/source.ts'
import { HUB_HEALTH, parseHubHealth } from '../../src/plan/fleet/hub-health.ts'
import { connectTo, rawGet, sendRaw, statusesIn } from '../../src/testing/hub/hostile-requests.ts'
import { FREE, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { FlotillaProcess } from './flotilla-process.ts'
import { restOf } from './hub-rest.ts'

const READY = /^flotilla hub ready: api https:\/\/\S+:(\d+) gateway https:\/\/\S+:(\d+) console/
const FAULTS = resolve(import.meta.dirname, 'thread-faults.ts')
const LIMIT_MS = 120_000

interface Scene {
  readonly hub: FlotillaProcess
  readonly client: Client
  readonly kubeconfig: string
  readonly gateway: number
  readonly metrics: () => Promise<string>
  readonly readyz: () => Promise<string>
  /** Plants a fault in a thread, and waits until the thread meets it. */
  plant(thread: string, fault: string): Promise<void>
  /** Waits; fails when the process ended, or with what the hub logged. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>
}

async function startScene(context: TestContext): Promise<Scene> {
  const t = lastFirst(context)
  const [data, faults] = [join(temporaryFolder(t), 'hub'), temporaryFolder(t)]
  const port = await freePort('127.0.0.1')
  const env = { NODE_OPTIONS: `--import ${FAULTS}`, FLOTILLA_FAULTS: faults }
  const more = ['--metrics-listen', `127.0.0.1:${port}`, '--source-paths', faults]
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...more], { env })
  const [, gateway = 0] = (await hub.says(READY)).slice(1).map(Number)
  const kubeconfig = join(data, 'admin.kubeconfig')
  const rest = await restOf(t, kubeconfig)
  const until: Scene['until'] = async (what, holds) => {
    const deadline = Date.now() + LIMIT_MS
    for (;;) {
      if (await holds().catch(() => false)) return
      assert.ok(Date.now() < deadline, `${what}: not within ${LIMIT_MS / 1000} s\n${hub.logged()}`)
      await sleep(100)
    }
  }
  return {
    hub,
    client: clientOver(rest),
    kubeconfig,
    gateway,
    until,
    metrics: async () => await sendRaw(connectTo(port), rawGet('/metrics', `127.0.0.1:${port}`)),
    readyz: async () => {
      const { body } = await rest.stream({ method: 'GET', path: '/readyz' }, AbortSignal.timeout(5000))
      return fromUtf8(await readBody(body, 4096))
    },
    plant: async (thread, fault) => {
      const file = join(faults, `flotilla-${thread}`)
      // Renamed into place: the thread must not read the file between its creation and its content.
      writeFileSync(`${file}.new`, fault)
      renameSync(`${file}.new`, file)
      await until(`the ${thread} thread meets ${fault}`, async () => !existsSync(file))
    },
  }
}

const isRestarted = (page: string, part: string, cause: string) =>
  page.includes(`flotilla_part_restarts_total{part="${part}",cause="${cause}"} 1\n`)
const isAnswering = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  return statusesIn(await sendRaw(socket, rawGet('/agent/v1/trust', 'x')))[0] === 200
}

test('the API thread ends while clients write: no acknowledged write is lost, and the address stays', async (t) => {
  const { hub, client, until, plant, metrics, readyz, kubeconfig } = await startScene(t)
  const acknowledged: string[] = []
  const written = new AbortController()
  const writing = (async () => {
    for (let at = 0; !written.signal.aborted; at++) {
      const metadata = { name: `write-${at}`, namespace: 'default' }
      try {
        await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
        acknowledged.push(metadata.name)
      } catch (caught) {
        // Written, but the acknowledgement was lost with the thread.
        if (!isApiError(caught, 'AlreadyExists')) await sleep(50)
      }
    }
  })()
  for (const [times, fault] of ['exit', 'a planted error'].entries()) {
    const before = acknowledged.length
    await until('writes', async () => acknowledged.length > before + 20)
    await plant('api', fault)
    await until(`restart ${times + 1}`, async () => (await readyz()) === 'ok')
  }
  await until('writes after the restarts', async () => isRestarted(await metrics(), 'api', 'exit'))
  written.abort()
  await writing
  const names = new Set(
    (await client.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name),
  )
  assert.deepEqual(
    acknowledged.filter((name) => !names.has(name)),
    [],
  )
  assert.ok(isRestarted(await metrics(), 'api', 'error'))
  // The controllers follow the new thread: their watches have reconnected.
  const metadata = { name: 'after', namespace: 'default' }
  const manifests = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
  await client.create(Bundle, {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Bundle',
    metadata,
    spec: { manifests, placement: 'nowhere' },
  })
  await until(
    'a state of the Bundle',
    async () => (await client.get(Bundle, metadata)).status?.conditions !== undefined,
  )

  await until('the health is published', async () => {
    const { data = {} } = await client.get(ConfigMap, HUB_HEALTH)
    const api = parseHubHealth(data['0'] ?? '')?.parts.find(({ name }) => name === 'api')
    return api?.restarts === 2 && api.state === 'Running'
  })
  // The hub writes the Event after the health.
  await until('the Event about both restarts', async () => {
    const events = await client.list(Event, { namespace: HUB_HEALTH.namespace })
    const told = events.items.filter(({ reason }) => reason === 'PartRestarted').map(({ message }) => message ?? '')
    return told.some((message) =>
      message.includes('Hub "0": the api thread was started again (restarts since the start of the hub: 2)'),
    )
  })
  const checked = await runFlotilla(t, ['check', '--kubeconfig', kubeconfig])
  assert.match(
    checked.stdout,
    /hub "0": restarts since the hub started \S+ ago: the api thread 2; the newest \S+ ago: the api thread ended/,
  )
  const ended = await hub.stop()
  assert.equal(ended.code, 0, ended.stderr)
  assert.match(ended.stderr, /"level":50.*a part of the hub ended/)
})

test('the work of the other threads continues after each of them ends', async (t) => {
  const { hub, client, gateway, until, plant, metrics } = await startScene(t)
  await plant('gateway', 'exit')
  await until('the gateway listens again', () => isAnswering(gateway))
  await plant('source', 'a planted error')
  const source = { name: 'nothing', namespace: 'default' }
  const spec = { git: { url: 'file:///nothing', branch: 'main' } }
  await client.create(Source, { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Source', metadata: source, spec })
  await until('a new thread fetches', async () => {
    const { status } = await client.get(Source, source)
    return (status?.conditions ?? []).some(({ status: is, message }) => is === 'False' && message !== '')
  })
  await until('counted', async () => {
    const page = await metrics()
    return isRestarted(page, 'gateway', 'exit') && isRestarted(page, 'source', 'error')
  })
  assert.match(await metrics(), /flotilla_part_running\{part="gateway"\} 1/)
  assert.equal((await hub.stop()).code, 0)
})

test('threads in an endless loop are ended and started again, and the hub says so meanwhile', async (t) => {
  const { hub, gateway, until, plant, metrics, readyz } = await startScene(t)
  await Promise.all([plant('gateway', 'loop'), plant('api', 'loop')])
  await until('the page without the metrics of a thread', async () =>
    /flotilla_part_running\{part="gateway"\} 0/.test(await metrics()),
  )
  await until('both are ended', async () => {
    const page = await metrics()
    return isRestarted(page, 'gateway', 'silent') && isRestarted(page, 'api', 'silent')
  })
  await until('both answer', async () => (await isAnswering(gateway)) && (await readyz()) === 'ok')
  assert.equal((await hub.stop()).code, 0)
})
