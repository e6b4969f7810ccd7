/** Every plain HTTP listener of the hub and of the demo takes any bytes and goes on. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { openChangeBoard } from '../../sim/demo/change-board.ts'
import { openControlSocket } from '../../sim/demo/control-socket.ts'
import { connectTo, pester, rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'
import { openConsoleSocket } from '../console/console-socket.ts'
import { startConsole } from '../console/console.ts'
import { noAssets, refusingApi, viewForTests } from '../../testing/hub/console-parts.ts'
import { listenForMetrics } from '../metrics/metrics-listener.ts'
import { listenForWebhooks } from './webhook-listener.ts'

const ANY_PORT = { host: '127.0.0.1', port: 0 }
const log = silentLogger
const text = async (): Promise<string> => 'flotilla_clusters 3\n'

interface Listener {
  readonly where: number | string
  close(): Promise<void>
}

interface Case {
  readonly name: string
  readonly targets: readonly string[]
  /** A request that the listener has an answer for, and the status of that answer. */
  readonly well: readonly [request: string, status: number]
  start(folder: string): Promise<Listener>
}

const CASES: readonly Case[] = [
  {
    name: 'console',
    targets: ['/', '/metrics', '/console/events', '/assets/x.js', '/apis/flotilla.dev/v1alpha1/clusters', '/?code=x'],
    well: ['GET /metrics', 200],
    async start() {
      const ports = { metrics: text, clock: systemClock, ids: systemIds, log }
      const parts = { view: viewForTests().view, assets: noAssets, openApi: () => refusingApi }
      const { address, close } = await startConsole({ listen: ANY_PORT, ...parts, ...ports })
      return { where: address.port, close }
    },
  },
  {
    name: 'metrics',
    targets: ['/metrics', '/'],
    well: ['GET /metrics', 200],
    async start() {
      const { port, close } = await listenForMetrics({ listen: ANY_PORT, text, notReady: () => undefined, log })
      return { where: port, close }
    },
  },
  {
    name: 'webhook',
    targets: ['/hooks/default/apps', '/hooks/default', '/hooks/default/apps?x=y'],
    well: ['POST /hooks/default/apps', 401],
    async start() {
      const nothing = (): Promise<never> => Promise.reject(new ApiError('NotFound', 'sources "apps" not found'))
      const client = { get: nothing, patch: nothing }
      const { port, close } = await listenForWebhooks({ listen: ANY_PORT, client, clock: systemClock, log })
      return { where: port, close }
    },
  },
  {
    name: 'console socket',
    targets: ['/sign-in', '/'],
    well: ['POST /sign-in', 200],
    async start(folder) {
      const where = join(folder, 'console.sock')
      const { close } = await openConsoleSocket(where, { signInUrl: () => 'http://127.0.0.1:1/?code=x', log })
      return { where, close }
    },
  },
  {
    name: 'demo socket',
    targets: ['/', '/x'],
    well: ['POST /', 400],
    async start(folder) {
      const where = join(folder, 'door')
      const { close } = await openControlSocket(where, { plays: () => Promise.reject(new Error('never')), log })
      return { where, close }
    },
  },
  {
    name: 'demo change board',
    targets: ['/', '/x'],
    well: ['POST /', 400],
    async start() {
      const { host, close } = await openChangeBoard({ listen: '127.0.0.1:0', sites: () => [], log })
      return { where: Number(host.split(':')[1]), close }
    },
  },
]

describe('hostile requests', () => {
  for (const { name, targets, well, start } of CASES) {
    test(`${name}: malformed targets are refused, and nothing that is sent ends the listener`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'flotilla-hostile-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const listener = await start(folder)
      t.after(() => listener.close())
      const { where } = listener
      const host = typeof where === 'number' ? `127.0.0.1:${where}` : 'localhost'
      const open = () => connectTo(where)
      for (const target of ['//', '//[', 'http://[', 'http://', '*', 'x']) {
        const answer = await sendRaw(open(), rawGet(target, host))
        assert.deepEqual(statusesIn(answer), [400], `${target}: ${answer}`)
      }
      const [request, status] = well
      const checkAlive = async (): Promise<void> => {
        const head = `${request} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
        assert.deepEqual(statusesIn(await sendRaw(open(), Buffer.from(head))), [status])
      }
      await pester({ open, host, targets, checkAlive })
    })
  }
})
