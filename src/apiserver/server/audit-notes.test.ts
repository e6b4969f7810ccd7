import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fromUtf8, generateKeyPair, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import type { Caller } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { findAuditBreak } from '../../store/audit-chain.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createApiServer } from './api-server.ts'

const ADMIN: Caller = { user: 'admin', groups: ['system:masters', 'system:authenticated'], address: '192.0.2.1' }
const ANNA: Caller = { user: 'anna', groups: ['system:authenticated'] }
const SECRETS = '/api/v1/namespaces/default/secrets'
const TOKENS = '/api/v1/namespaces/default/serviceaccounts/robot/token'
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

type Sent = readonly [body?: unknown, headers?: Readonly<Record<string, string>>]
type Line = Readonly<Record<string, unknown>>

async function world(t: TestContext) {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  let isDiskFull = false
  const note = async (line: string) => {
    if (isDiskFull) throw new Error('disk full')
    await store.note!(line)
  }
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
  const tokenKeys = [generateKeyPair('ed25519').privateKey] as const
  const server = createApiServer({
    store: { ...store, note },
    kinds,
    clock,
    ids: systemIds,
    log: silentLogger,
    tokenKeys,
  })
  t.after(async () => {
    await server.close()
    await store.close()
  })
  const send = async (caller: Caller, method: string, path: string, ...[body, headers = {}]: Sent) => {
    const request = { method, path, headers, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
    const response = await server.handle(request, caller, new AbortController().signal)
    if (path.includes('watch=')) return { ...response, text: '' }
    return { ...response, text: fromUtf8(await readBody(response.body, 1 << 20)) }
  }
  const records = async (): Promise<Line[]> =>
    (await store.audit(0, 10_000)).map(({ line }) => JSON.parse(line) as Line)
  /** The records that some requests make. */
  const during = async (act: () => Promise<unknown>): Promise<Line[]> => {
    const before = (await records()).length
    await act()
    await clock.settle()
    return (await records()).slice(before)
  }
  await send(ADMIN, 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  await send(ADMIN, 'POST', SECRETS, { metadata: { name: 's' }, data: { a: 'Q0FOQVJZ' } })
  return { clock, store, send, during, fillDisk: (isFull = true) => (isDiskFull = isFull) }
}

const short = ({ user, verb, resource, path, name, code, denied, suppressed }: Line) =>
  [user, verb, resource ?? path, name, code, denied && 'denied', suppressed]
    .flatMap((word) => (word === undefined ? [] : [String(word as string | number)]))
    .join(' ')

test('F16: a token that is issued has a record, without the token', async (t) => {
  const { send, during } = await world(t)
  const records = await during(async () => {
    assert.equal((await send(ADMIN, 'POST', TOKENS, { spec: {} })).status, 201)
  })
  assert.deepEqual(records.map(short), ['admin create serviceaccounts/token robot 201'])
  assert.doesNotMatch(JSON.stringify(records), /eyJ/)
})

test('F16: reads of Secrets have a record with metadata only; other reads and those of the hub have none', async (t) => {
  const { send, during } = await world(t)
  const hub: Caller = { user: 'system:flotilla:hub', groups: ['system:authenticated'] }
  const records = await during(async () => {
    for (const path of [`${SECRETS}/s`, SECRETS, '/api/v1/secrets', '/api/v1/secrets?watch=true&timeoutSeconds=1']) {
      assert.equal((await send(ADMIN, 'GET', path)).status, 200)
    }
    await send(ADMIN, 'GET', '/api/v1/namespaces/default/configmaps')
    assert.equal((await send(hub, 'GET', `${SECRETS}/s`)).status, 200)
    assert.equal((await send(ADMIN, 'GET', `${SECRETS}/none`)).status, 404)
  })
  assert.deepEqual(records.map(short), [
    'admin get secrets s 200',
    'admin list secrets 200',
    'admin list secrets 200',
    'admin watch secrets 200',
  ])
  assert.equal(records[0]?.['address'], '192.0.2.1')
  assert.doesNotMatch(JSON.stringify(records), /Q0FOQVJZ/)
})

const PATCH = { 'content-type': 'application/merge-patch+json' }

test('F16: a request that answers a Secret and commits nothing has a record', async (t) => {
  const { send, during } = await world(t)
  const held = { metadata: { name: 'held', finalizers: ['example.com/keep'] }, data: { a: 'Q0FOQVJZ' } }
  assert.equal((await send(ADMIN, 'POST', SECRETS, held)).status, 201)
  const { text } = await send(ADMIN, 'GET', `${SECRETS}/s`)
  const same = JSON.parse(text) as object
  const changed = { data: { b: 'Yg==' } }
  const records = await during(async () => {
    for (const [method, path, body] of [
      ['PATCH', 's', {}],
      ['PUT', 's', same],
      ['PATCH', 's?dryRun=All', changed],
      ['PUT', 's?dryRun=All', { ...same, ...changed }],
      ['DELETE', 'held?dryRun=All', undefined],
    ] as const) {
      const headers = method === 'PATCH' ? PATCH : {}
      const answer = await send(ADMIN, method, `${SECRETS}/${path}`, body, headers)
      assert.deepEqual([answer.status, answer.text.includes('"data"')], [200, true], `${method} ${path}`)
    }
    assert.match((await send(ADMIN, 'DELETE', `${SECRETS}?dryRun=All`)).text, /Q0FOQVJZ/)
    const created = await send(ADMIN, 'POST', `${SECRETS}?dryRun=All`, { metadata: { name: 'other' } })
    assert.equal(created.status, 201)
  })
  assert.deepEqual(records.map(short), [
    'admin patch secrets s 200',
    'admin update secrets s 200',
    'admin patch secrets s 200',
    'admin update secrets s 200',
    'admin delete secrets held 200',
    'admin deletecollection secrets 200',
    'admin create secrets 201',
  ])
  assert.doesNotMatch(JSON.stringify(records), /Q0FOQVJZ/)
})

test('F16: a change of a Secret that is refused can quote its values, and has a record', async (t) => {
  const { send, during } = await world(t)
  const secret = { metadata: { name: 'quoted' }, data: { a: 'Q0FOQVJZIQ==' } }
  assert.equal((await send(ADMIN, 'POST', SECRETS, secret)).status, 201)
  const records = await during(async () => {
    const headers = { 'content-type': 'application/json-patch+json' }
    const copied = [
      { op: 'add', path: '/metadata/labels', value: {} },
      { op: 'copy', from: '/data/a', path: '/metadata/labels/x' },
    ]
    const answer = await send(ADMIN, 'PATCH', `${SECRETS}/quoted?dryRun=All`, copied, headers)
    assert.deepEqual([answer.status, answer.text.includes('Q0FOQVJZIQ==')], [422, true], answer.text)
    assert.equal((await send(ADMIN, 'PATCH', `${SECRETS}/none`, {}, PATCH)).status, 404)
  })
  assert.deepEqual(records.map(short), ['admin patch secrets quoted 422'])
})

test('F16: a change has one record; a deletion of many Secrets has one more, because it answers all of them', async (t) => {
  const { send, during } = await world(t)
  const changes = await during(async () => {
    await send(ADMIN, 'PATCH', `${SECRETS}/s`, { data: { b: 'Yg==' } }, PATCH)
    await send(ADMIN, 'POST', SECRETS, { metadata: { name: 'held', finalizers: ['example.com/keep'] } })
    await send(ADMIN, 'DELETE', `${SECRETS}/held`)
  })
  assert.deepEqual(changes.map(short), [
    'admin patch secrets s',
    'admin create secrets held',
    'admin delete secrets held',
  ])
  const all = await during(() => send(ADMIN, 'DELETE', SECRETS))
  assert.deepEqual(all.map(short), ['admin delete secrets s', 'admin deletecollection secrets 200'])
})

test('F16: a change in the name of another user that commits nothing is a read, and has a record', async (t) => {
  const { send, during } = await world(t)
  const as = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }
  const path = '/api/v1/namespaces/default/configmaps'
  await send(ADMIN, 'POST', path, { metadata: { name: 'c' } })
  const records = await during(async () => {
    await send(ADMIN, 'PATCH', `${path}/c`, {}, { ...as, ...PATCH })
    await send(ADMIN, 'PATCH', `${path}/c`, { data: { a: 'b' } }, { ...as, ...PATCH })
  })
  assert.deepEqual(records.map(short), ['bob patch configmaps c 200', 'bob patch configmaps c'])
})

test('F16: only the hub and its gateway read Secrets without a record', async (t) => {
  const { send, during } = await world(t)
  const groups = ['system:masters', 'system:authenticated']
  const users = [
    'system:flotilla:hub',
    'system:flotilla:gateway',
    'system:flotilla:hub2',
    'system:apiserver-copy',
    'system:serviceaccount:kube-system:backup',
  ]
  const records = await during(async () => {
    for (const user of users) assert.equal((await send({ user, groups }, 'GET', `${SECRETS}/s`)).status, 200)
  })
  assert.deepEqual(
    records.map(({ user }) => user),
    users.slice(2),
  )
})

test('F16: a sign-in whose record fails is recorded when it is tried again', async (t) => {
  const { send, during, fillDisk } = await world(t)
  const signIn = () => send(ANNA, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
  fillDisk()
  assert.equal((await signIn()).status, 500)
  fillDisk(false)
  const records = await during(async () => {
    const refused = await send(ADMIN, 'PUT', '/apis/authentication.k8s.io/v1/selfsubjectreviews/x', {})
    assert.ok(refused.status >= 400, 'no sign-in')
    assert.equal((await signIn()).status, 201)
    assert.equal((await signIn()).status, 201)
  })
  assert.deepEqual(records.map(short), ['anna create selfsubjectreviews 201'])
})

test('the record of a denied request is short, however long its path is', async (t) => {
  const { send, during } = await world(t)
  const long = 'x'.repeat(10_000)
  const records = await during(async () => {
    for (const path of [`/${long}`, `/apis/${long}/v1/namespaces/${long}/${long}/${long}/${long}`]) {
      assert.equal((await send(ANNA, 'GET', path)).status, 403)
    }
  })
  assert.equal(records.length, 2)
  for (const record of records) assert.ok(JSON.stringify(record).length < 2000)
})

test('F16: denied requests, requests in the name of another user and sign-ins have a record', async (t) => {
  const { send, during } = await world(t)
  const as = { 'impersonate-user': 'bob' }
  const records = await during(async () => {
    assert.equal((await send(ANNA, 'GET', `${SECRETS}/s`)).status, 403)
    assert.equal((await send(ANNA, 'GET', '/audit')).status, 403)
    assert.equal((await send(ANNA, 'GET', '/version', undefined, as)).status, 403)
    const anonymous: Caller = { user: 'system:anonymous', groups: ['system:unauthenticated'] }
    const forged = { authorization: 'Bearer not-a-token' }
    assert.equal((await send(anonymous, 'GET', '/api/v1/pods', undefined, forged)).status, 401)
    await send(ADMIN, 'GET', '/api/v1/namespaces', undefined, { ...as, 'impersonate-group': 'system:masters' })
    for (let i = 0; i < 3; i++) await send(ANNA, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
  })
  assert.deepEqual(records.map(short), [
    'anna get secrets s 403 denied',
    'anna get /audit 403 denied',
    'anna get /version 403 denied',
    'system:anonymous get /api/v1/pods 401 denied',
    'bob list namespaces 200',
    'anna create selfsubjectreviews 201',
  ])
  assert.equal(records[4]?.['impersonator'], 'admin')
})

test('a flood of denied requests cannot fill the disk, and its records say how many are missing', async (t) => {
  const { clock, send, during } = await world(t)
  const flood = await during(async () => {
    for (let i = 0; i < 500; i++) await send(ANNA, 'GET', '/audit')
  })
  assert.equal(flood.length, 120)
  await clock.advance(60_000)
  const [next] = await during(() => send(ANNA, 'GET', '/audit'))
  assert.equal(next?.['suppressed'], 380)
})

test('Audit-Id: each answer has its own id, and the records of the request have the same', async (t) => {
  const { send, during, store } = await world(t)
  const ids: string[] = []
  const records = await during(async () => {
    for (const [method, path, body] of [
      ['POST', '/api/v1/namespaces', { metadata: { name: 'x' } }],
      ['GET', `${SECRETS}/s`],
      ['GET', '/version'],
      ['GET', '/api/v1/namespaces/none'],
      ['GET', '/%'],
    ] as const) {
      ids.push((await send(ADMIN, method, path, body)).headers['audit-id'] ?? '')
    }
  })
  assert.equal(new Set(ids).size, 5)
  for (const id of ids) assert.match(id, UUID)
  const named = records.flatMap(({ auditId }) => (auditId === undefined ? [] : [auditId]))
  assert.deepEqual(named, ids.slice(0, 2))
  assert.equal(findAuditBreak(await store.audit(0, 10_000)), undefined)
})

test('what must be recorded is not answered without its record', async (t) => {
  const { send, fillDisk } = await world(t)
  fillDisk()
  const token = await send(ADMIN, 'POST', TOKENS, { spec: {} })
  assert.equal(token.status, 500)
  assert.doesNotMatch(token.text, /eyJ/)
  const secret = await send(ADMIN, 'GET', `${SECRETS}/s`)
  assert.deepEqual([secret.status, secret.text.includes('Q0FOQVJZ')], [500, false])
  assert.equal((await send(ANNA, 'GET', '/audit')).status, 403, 'a denial stays a denial')
})

test('F16: a token lasts 365 days at most, and the answer says so', async (t) => {
  const { send } = await world(t)
  const answer = await send(ADMIN, 'POST', TOKENS, { spec: { expirationSeconds: 2 ** 32 } })
  assert.equal(answer.status, 201)
  const { spec, status } = JSON.parse(answer.text) as { spec: { expirationSeconds: number }; status: object }
  assert.equal(spec.expirationSeconds, 31_536_000)
  assert.match(JSON.stringify(status), /"expirationTimestamp":"2027-01-01T00:00:00Z"/)
  assert.match(answer.headers['warning'] ?? '', /the hub issues tokens for at most 31536000 seconds \(365 days\)/)
})
