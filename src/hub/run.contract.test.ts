import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { silentLogger } from '../core/log.ts'
import type { Logger } from '../core/log.ts'
import { systemIds } from '../core/system-ids.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { readHubConfig } from './config.ts'
import { readyLine, startHub } from './run.ts'

const ports = { clock: systemClock, ids: systemIds, log: silentLogger }

async function settings(t: TestContext, flags: Record<string, string> = {}) {
  const data = await mkdtemp(join(tmpdir(), 'flotilla-run-'))
  t.after(() => rm(data, { recursive: true, force: true }))
  const loopback = { listen: '127.0.0.1:0', gatewayListen: '127.0.0.1:0', consoleListen: '127.0.0.1:0' }
  const { config } = readHubConfig({ flags: { data, logLevel: 'silent', ...loopback, ...flags }, env: {} })
  return config
}

test('a hub is ready with an API, a gateway, a page and a kubeconfig, and ends when it is closed', async (t) => {
  const hub = await startHub(await settings(t), ports)
  const [, api, gateway, page, kubeconfig = ''] =
    /^flotilla hub ready: api (\S+) gateway (\S+) console (\S+) kubeconfig (\S+)$/.exec(readyLine(hub)) ?? []
  assert.deepEqual([api, gateway, kubeconfig], [hub.api, hub.gateway, hub.kubeconfig])
  assert.match(page ?? '', /^http:\/\/127\.0\.0\.1:\d+\/\?code=/)
  assert.match(await readFile(kubeconfig, 'utf8'), /server: "?https:/)
  assert.deepEqual((await hub.client.list(Cluster)).items, [])
  await hub.close()
  await hub.ended
})

test('a start that fails closes what had started, and leaves the directory to the next start', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const config = await settings(t, { consoleListen: `127.0.0.1:${port}` })
  // The loops of the earlier steps stop before they are waited for: none is abandoned, so none is logged.
  const logged: string[] = []
  const error = (_fields: object, message: string): void => void logged.push(message)
  const log: Logger = { ...silentLogger, error, child: () => log }
  await assert.rejects(startHub(config, { ...ports, log }), { code: 'EADDRINUSE' })
  assert.deepEqual(logged, [])
  const hub = await startHub({ ...config, consoleListen: '127.0.0.1:0' }, ports)
  await hub.close()
})

test('a thread that cannot listen ends the start with the listener’s own error, said once', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  for (const setting of ['listen', 'gatewayListen']) {
    await assert.rejects(startHub(await settings(t, { [setting]: `127.0.0.1:${port}` }), ports), {
      code: 'EADDRINUSE',
      message: `listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    })
  }
})
