import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readHubConfig } from '../../hub/config.ts'
import { DEFAULT_LISTENERS, portsCheck } from './port-checks.ts'

test('a port that is in use is reported with the flag that chooses another one', async (t) => {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const listeners = [
    { flag: '--listen', host: '127.0.0.1', port },
    { flag: '--gateway-listen', host: '127.0.0.1', port: 0 },
  ]
  assert.deepEqual(await portsCheck(listeners), {
    id: 'ports',
    result: 'warning',
    text: `a hub cannot listen on 127.0.0.1:${port} (--listen): in use`,
  })
  assert.deepEqual(await portsCheck(listeners.slice(1)), {
    id: 'ports',
    result: 'ok',
    text: 'a hub can listen on the ports 0',
  })
})

test('an address of another machine is reported in the words of the system', async () => {
  const { result, text } = await portsCheck([{ flag: '--listen', host: '192.0.2.1', port: 7443 }])
  assert.deepEqual([result, /--listen\): .*EADDRNOTAVAIL/.test(text)], ['warning', true], text)
})

test('the addresses are the defaults of a hub', () => {
  const { config } = readHubConfig({ flags: { data: '/d' }, env: {} })
  const defaults = [config.listen, config.gatewayListen, config.consoleListen]
  assert.deepEqual(
    DEFAULT_LISTENERS.map(({ host, port }) => `${host}:${port}`),
    defaults,
  )
})
