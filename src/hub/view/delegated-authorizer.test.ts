import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../core/errors.ts'
import { createDelegatedAuthorizer } from './delegated-authorizer.ts'

const attempt = {
  caller: { user: 'ann', groups: ['dev'] },
  verb: 'list',
  path: '/x',
  resource: { group: 'view.flotilla.dev', plural: 'bundlestates', namespace: 'shop' },
}

function authorizer(answer: () => object) {
  const asked: unknown[] = []
  let now = 0
  const create: Client['create'] = async (_type, object) => {
    asked.push(structuredClone((object as unknown as { spec: unknown }).spec))
    return { ...object, status: answer() }
  }
  const made = createDelegatedAuthorizer({ client: { create }, clock: { monotonicMs: () => now } })
  return { made, asked, pass: (ms: number) => (now += ms) }
}

test('the home is asked about the namespace, and its answer is remembered for ten seconds', async () => {
  let allowed = true
  const { made, asked, pass } = authorizer(() => ({ allowed, reason: 'because' }))
  assert.deepEqual(await made.authorize(attempt), { allowed: true, reason: 'because' })
  assert.deepEqual(asked, [
    {
      user: 'ann',
      groups: ['dev'],
      resourceAttributes: { verb: 'list', group: 'view.flotilla.dev', resource: 'bundlestates', namespace: 'shop' },
    },
  ])
  allowed = false
  pass(9_999)
  assert.equal((await made.authorize(attempt)).allowed, true)
  assert.equal((await made.authorize({ ...attempt, verb: 'watch' })).allowed, false)
  pass(1)
  assert.equal((await made.authorize(attempt)).allowed, false)
  assert.equal(asked.length, 3)
})

test('a denial wins, paths are asked about as paths, and health needs no answer', async () => {
  const { made, asked } = authorizer(() => ({ allowed: true, denied: true }))
  const { resource: _resource, ...path } = attempt
  assert.equal((await made.authorize({ ...path, verb: 'get', path: '/openapi/v3' })).allowed, false)
  assert.deepEqual(asked, [
    { user: 'ann', groups: ['dev'], nonResourceAttributes: { verb: 'get', path: '/openapi/v3' } },
  ])
  assert.equal((await made.authorize({ ...path, path: '/healthz' })).allowed, true)
  assert.equal((await made.authorize({ ...path, path: '/healthzz' })).allowed, false)
})

test('a home that does not answer is no yes', async () => {
  const create: Client['create'] = async () => {
    throw new ApiError('ServiceUnavailable', 'etcd is away')
  }
  const made = createDelegatedAuthorizer({ client: { create }, clock: { monotonicMs: () => 0 } })
  await assert.rejects(made.authorize(attempt), { code: 500, message: /could not say who may do this: etcd is away/ })
})
