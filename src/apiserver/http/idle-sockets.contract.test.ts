import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { it } from 'node:test'
import { startApiProcess } from '../../testing/control-plane/embedded-api-process.ts'
import type { ApiProcess } from '../../testing/control-plane/embedded-api-process.ts'

const SILENT = 5000
const BATCH = 200
const MORE = 8 * 1024 * 1024
const HALF_HELLO = Buffer.from('160301020001000102', 'hex')
const HALF_REQUEST = 'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{'

const TITLE = `CVE-2026-73500: ${SILENT} sockets that say nothing, or half of something: others are served, and the memory comes back`

it(TITLE, { timeout: 300_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-silent-'))
  const limits = { handshakeMs: 6000, idleMs: 3000, requestMs: 3000 }
  const server = await startApiProcess(join(folder, 'hub.db'), { limits })
  t.after(async () => {
    await server.kill()
    await rm(folder, { recursive: true })
  })
  // What the first requests and connections need for good.
  await flood(server, 400)
  const before = await server.memory()
  await flood(server, SILENT)
  const after = await server.memory()
  assert.ok(after < before + MORE, `${before} bytes before, ${after} after`)
})

/** Opens the sockets, sees that the API answers beside them, and waits until the server has closed them all. */
async function flood({ api, url, ca, admin }: ApiProcess, silent: number): Promise<void> {
  const port = Number(new URL(url).port)
  const tcp = () => connectTcp(port, '127.0.0.1')
  const tls = () =>
    connectTls({
      port,
      host: '127.0.0.1',
      ca,
      cert: admin.certificate,
      key: admin.privateKey,
      ALPNProtocols: ['http/1.1'],
    })
  const sockets: Socket[] = []
  const open = (make: () => Socket, count: number, say?: string | Buffer): void => {
    for (let n = 0; n < count; n += 1) {
      const socket = make()
      socket.on('error', () => {})
      // A busy machine drops connections that the kernel could not queue, and a client that says nothing never hears of
      // it.
      socket.setKeepAlive(true, 1000)
      socket.resume()
      if (say !== undefined) socket.write(say)
      sockets.push(socket)
    }
  }
  // An answer in between shows that the server has taken them: its queue of new connections is short.
  for (let opened = 0; opened < silent; opened += BATCH) {
    open(tcp, BATCH)
    assert.equal((await api.send('GET', '/readyz')).status, 200)
  }
  open(tcp, 100, HALF_HELLO)
  open(tls, 50)
  open(tls, 50, HALF_REQUEST)
  assert.equal((await api.send('GET', '/api/v1/namespaces')).status, 200)
  // Not `once`: that fails with a socket that is reset, and to be reset is to be closed.
  const closed = (socket: Socket) => new Promise<void>((done) => socket.on('close', () => done()))
  await Promise.all(sockets.filter((socket) => !socket.closed).map(closed))
}
