/** A hub as a process: nothing that is sent to any of its listeners ends it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { freePort } from '../../src/hub/http/free-port.ts'
import { connectTo, pester, rawGet, sendRaw, statusesIn } from '../../src/testing/hub/hostile-requests.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const READY = /^flotilla hub ready: api https:\/\/\S+:(\d+) gateway https:\/\/\S+:(\d+) console http:\/\/\S+:(\d+)\//

test('a hub survives malformed and hostile requests at every listener (CVE-2024-40634, CVE-2025-59531, CVE-2025-59537, CVE-2025-59538)', async (t) => {
  const data = join(temporaryFolder(t), 'hub')
  const [metrics, webhook] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const more = ['--metrics-listen', `127.0.0.1:${metrics}`, '--webhook-listen', `127.0.0.1:${webhook}`]
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...more])
  const [api = 0, gateway = 0, page = 0] = (await hub.says(READY)).slice(1).map(Number)
  const overTls = (port: number) => connect({ port, host: '127.0.0.1', rejectUnauthorized: false })

  // As an image in any page of the web could ask it of a browser on this machine.
  for (const port of [page, metrics, webhook]) {
    for (const target of ['//', 'http://[']) {
      const answer = await sendRaw(connectTo(port), rawGet(target, `127.0.0.1:${port}`))
      assert.deepEqual(statusesIn(answer), [400], `${target}: ${answer}\n${hub.logged()}`)
    }
  }
  const cases = [
    { name: 'console', port: page, open: () => connectTo(page), targets: ['/', '/?code=x', '/events', '/metrics'] },
    { name: 'metrics', port: metrics, open: () => connectTo(metrics), targets: ['/metrics'] },
    { name: 'webhook', port: webhook, open: () => connectTo(webhook), targets: ['/hooks/default/apps'] },
    { name: 'api', port: api, open: () => overTls(api), targets: ['/healthz', '/version', '/api/v1/namespaces'] },
    { name: 'gateway', port: gateway, open: () => overTls(gateway), targets: ['/agent/v1/trust', '/agent/v1/enrol'] },
  ]
  for (const { name, port, open, targets } of cases) {
    const host = `127.0.0.1:${port}`
    const checkAlive = async (): Promise<void> => {
      const answer = await sendRaw(connectTo(page), rawGet('/metrics', `127.0.0.1:${page}`))
      assert.deepEqual(statusesIn(answer), [200], `after ${name}: ${answer}\n${hub.logged()}`)
    }
    await pester({ open, host, targets, checkAlive, runs: 40 })
  }

  const got = await runFlotilla(t, ['get', 'clusters', '-o', 'name', '--kubeconfig', join(data, 'admin.kubeconfig')])
  assert.equal(got.code, 0, got.stderr)
  const trust = await sendRaw(overTls(gateway), rawGet('/agent/v1/trust', 'x'))
  assert.deepEqual(statusesIn(trust), [200], trust)
  const ended = await hub.stop()
  assert.equal(ended.code, 0)
  assert.doesNotMatch(ended.stderr, /"level":50|could not be answered/, ended.stderr)
})
