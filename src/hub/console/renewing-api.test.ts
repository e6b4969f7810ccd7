import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedTokens } from '../../client/oidc/code-flow.ts'
import { silentLogger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { createRenewingApi } from './renewing-api.ts'

const MINUTE = 60_000

function tokens(name: string, expires: number, canRenew = true): IssuedTokens {
  const refreshToken = canRenew ? { refreshToken: new Secret('r') } : {}
  return { idToken: new Secret(name), subject: 'ana', expires, ...refreshToken }
}

function parts(renew: () => Promise<IssuedTokens>) {
  let now = 0
  const closed: string[] = []
  let asked = 0
  const api = (first: IssuedTokens) =>
    createRenewingApi(first, {
      flow: {
        renew: async () => {
          asked += 1
          return await renew()
        },
      },
      open: (token) => ({
        transport: async () => ({ status: 200, headers: {}, body: [] as never }),
        whoAmI: async () => ({ username: token.reveal(), groups: [] }),
        may: async () => true,
        close: async () => void closed.push(token.reveal()),
      }),
      clock: { now: () => now, sleep: async () => {} },
      log: silentLogger,
    })
  return { api, closed, asked: () => asked, at: (ms: number) => (now = ms) }
}

const userOf = async (api: ReturnType<ReturnType<typeof parts>['api']>) => (await api.whoAmI()).username

test('a token is renewed shortly before its end, once for all requests that wait', async () => {
  const { api, closed, asked, at } = parts(async () => tokens('second', 10 * MINUTE))
  const one = api(tokens('first', 5 * MINUTE))
  at(4 * MINUTE)
  assert.equal(await userOf(one), 'first')
  at(4.6 * MINUTE)
  assert.deepEqual(await Promise.all([userOf(one), userOf(one)]), ['second', 'second'])
  assert.equal(asked(), 1)
  assert.deepEqual(closed, ['first'])
  await one.close()
  assert.deepEqual(closed, ['first', 'second'])
})

test('a token that cannot be renewed is used to its end, and the issuer is asked again after a while', async () => {
  const { api, asked, at } = parts(async () => Promise.reject(new Error('the issuer is away')))
  const one = api(tokens('first', 5 * MINUTE))
  at(5 * MINUTE)
  assert.equal(await userOf(one), 'first')
  assert.equal(await userOf(one), 'first')
  assert.equal(asked(), 1)
  at(6 * MINUTE)
  await userOf(one)
  assert.equal(asked(), 2)
  const fixed = api(tokens('fixed', 5 * MINUTE, false))
  assert.equal(await userOf(fixed), 'fixed')
  assert.equal(asked(), 2)
})
