import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from '../../client/connection.ts'
import { utf8 } from '../../core/bytes.ts'
import { bytesBody } from '../../core/http.ts'
import type { HttpRequest } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStorage } from '../storage/storage.ts'
import { createClusterAccess } from './cluster-access.ts'

const ACCOUNT = { namespace: 'flotilla-agent', name: 'flotilla-agent', objects: [] }
const { signal } = new AbortController()
const GET: HttpRequest = { method: 'GET', path: '/api/v1/pods', headers: {} }

/** A cluster whose tokens are `token-1`, `token-2`, …; `admin` is the credential of the user. */
function cluster() {
  const clock = createVirtualClock()
  const files = new Map<string, Uint8Array>()
  const world = { uid: 'uid-1', lifeMs: 3_600_000, valid: new Set(['admin']), asked: [] as string[], issued: 0 }
  const answer = (status: number, body: object) => ({
    status,
    headers: {},
    body: bytesBody(utf8(JSON.stringify(body))),
  })
  const connect = (connection: Connection) => {
    if (connection.server.includes('closed')) throw new Error('closed may not be reached')
    const user = connection.token?.reveal() ?? ''
    return {
      close: async () => {},
      transport: async ({ path }: HttpRequest) => {
        world.asked.push(`${user} ${connection.server} ${path}`)
        if (!world.valid.has(user)) return answer(401, { kind: 'Status', status: 'Failure', reason: 'Unauthorized' })
        if (path.endsWith('/token')) {
          const token = `token-${++world.issued}`
          world.valid.add(token)
          const expirationTimestamp = formatTime(clock.now() + world.lifeMs)
          return answer(201, { status: { token, expirationTimestamp } })
        }
        if (path.endsWith('/kube-system')) return answer(200, { metadata: { name: 'kube-system', uid: world.uid } })
        return answer(200, {})
      },
    }
  }
  const credential = (server = 'https://one', token = 'admin'): Connection => ({ server, token: new Secret(token) })
  const open = (given = credential()) =>
    createClusterAccess(
      { storage: createMemoryStorage(files), clock, log: silentLogger, connect, account: ACCOUNT },
      given,
    )
  return { clock, world, files, credential, open, users: () => world.asked.map((line) => line.split(' ')[0]) }
}

test('requests go out as the account; the token renews itself; a restart needs no credential', async () => {
  const { clock, world, open, users } = cluster()
  const access = open()
  await access.transport(GET, signal)
  assert.deepEqual(users(), ['admin', 'admin', 'token-1'])
  await clock.advance(3_000_000)
  await access.renewWhenDue(signal)
  await access.transport(GET, signal)
  assert.deepEqual(users().slice(3), ['token-1', 'token-2'])
  world.valid.delete('admin')
  await open().transport(GET, signal)
  assert.deepEqual(users().slice(5), ['token-2'])
})

test('a refused or expired token is replaced with the credential, once', async () => {
  const { clock, world, open, users } = cluster()
  const access = open()
  await access.transport(GET, signal)
  world.valid.delete('token-1')
  assert.equal((await access.transport(GET, signal)).status, 200)
  assert.deepEqual(users().slice(3), ['token-1', 'admin', 'admin', 'token-2'])
  await clock.advance(4_000_000)
  await access.transport(GET, signal)
  assert.equal(users().at(-1), 'token-3')
  world.valid.clear()
  await assert.rejects(access.transport(GET, signal), { reason: 'CredentialRefused' })
})

test('a token never goes to another server, and another cluster is refused', async () => {
  const { world, open, credential } = cluster()
  const access = open()
  await access.transport(GET, signal)
  await access.setCredential(credential('https://two'))
  world.uid = 'uid-2'
  await assert.rejects(access.transport(GET, signal), { reason: 'OtherCluster' })
  const there = world.asked.filter((line) => line.includes('https://two'))
  assert.ok(there.length > 0 && there.every((line) => line.startsWith('admin ')), there.join())
  // Also after a restart.
  await assert.rejects(open(credential('https://two')).transport(GET, signal), { reason: 'OtherCluster' })
  await access.setCredential(credential('https://closed'))
  await assert.rejects(access.transport(GET, signal), {
    reason: 'AddressRefused',
    message: 'closed may not be reached',
  })
})

test('the credential of the user is in no file', async () => {
  const { files, open } = cluster()
  await open().transport(GET, signal)
  const text = [...files.values()].map((bytes) => Buffer.from(bytes).toString()).join()
  assert.match(text, /token-1/)
  assert.doesNotMatch(text, /admin/)
})
