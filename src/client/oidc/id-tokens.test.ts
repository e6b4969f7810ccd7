import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { CryptoKey, JWTPayload } from 'jose'
import { silentLogger } from '../../core/log.ts'
import { createIdTokens } from './id-tokens.ts'
import { createIssuerFetch } from './issuer-fetch.ts'
import { DEFAULT_CLAIMS } from './oidc-settings.ts'

const ISSUER = 'https://issuer.test/realm'
const SETTINGS = { issuer: ISSUER, clientId: 'hub', ...DEFAULT_CLAIMS }
const NOW = Date.parse('2026-01-01T00:00:00Z')
const SECONDS = NOW / 1000

const own = await generateKeyPair('ES256')
const other = await generateKeyPair('ES256')
const PUBLIC = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256' }

interface Made {
  readonly claims?: JWTPayload
  readonly key?: CryptoKey
  readonly kid?: string
}

async function token({ claims, key = own.privateKey, kid = 'one' }: Made = {}): Promise<string> {
  const payload = { iss: ISSUER, aud: 'hub', sub: 'ana', groups: ['ops'], exp: SECONDS + 60, jti: 't1', ...claims }
  return await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(key)
}

/** An issuer that publishes one key; `says` overrides its metadata. */
function issuer(says: object = {}) {
  let now = NOW
  let isAway = false
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    if (isAway) throw new Error('connect ECONNREFUSED')
    const metadata = { issuer: ISSUER, jwks_uri: `${ISSUER}/keys`, ...says }
    return Response.json(url.endsWith('/keys') ? { keys: [PUBLIC] } : metadata)
  }
  const tokens = createIdTokens(SETTINGS, { clock: { now: () => now }, fetch, log: silentLogger })
  return { tokens, asked, away: (is: boolean) => (isAway = is), pass: (ms: number) => (now += ms) }
}

test('a token of the issuer for this client proves its user, whose names have the prefix', async () => {
  const { tokens, asked } = issuer()
  assert.deepEqual(asked, [], 'the issuer is not asked before the first token')
  assert.deepEqual(await tokens.prove(await token()), {
    expires: NOW + 60_000,
    caller: {
      user: 'oidc:ana',
      groups: ['oidc:ops', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=t1'] },
    },
  })
  await tokens.prove(await token())
  assert.deepEqual(asked, [`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`], 'the keys are kept')
})

const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(
  JSON.stringify({ iss: ISSUER, aud: 'hub', sub: 'ana', exp: SECONDS + 60 }),
).toString('base64url')}.`

// CVE-2022-29165, CVE-2023-22482, CVE-2026-23990.
const REFUSED: Readonly<Record<string, () => Promise<string>>> = {
  'of another issuer': () => token({ claims: { iss: 'https://other.test' } }),
  'for another client': () => token({ claims: { aud: 'shop' } }),
  'that has ended': () => token({ claims: { exp: SECONDS } }),
  'without an end': () => token({ claims: { exp: undefined } }),
  'that is not valid yet': () => token({ claims: { nbf: SECONDS + 60 } }),
  'with the key of another issuer': () => token({ key: other.privateKey }),
  'with an unknown key': () => token({ kid: 'two', key: other.privateKey }),
  'without a user': () => token({ claims: { sub: '' } }),
  'that is not signed': async () => unsigned,
  'signed with the public key as a shared secret': async () =>
    await new SignJWT({ iss: ISSUER, aud: 'hub', sub: 'ana', exp: SECONDS + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode(JSON.stringify(PUBLIC).padEnd(64))),
  'of 17 KB': () => token({ claims: { pad: 'x'.repeat(17_000) } }),
  'that is no token': async () => 'x.y.z',
}

for (const [name, make] of Object.entries(REFUSED)) {
  test(`a token ${name} proves none`, async () => {
    const { tokens } = issuer()
    assert.equal(await tokens.prove(await make()), undefined)
    assert.notEqual(await tokens.prove(await token()), undefined, 'a good token still counts')
  })
}

const unavailable = { name: 'ApiError', reason: 'ServiceUnavailable' }
const LONG = { claims: { exp: SECONDS + 10 * 86_400 } }

test('whether a token is good is unknown while the issuer never answered; it is asked again after a while', async () => {
  const { tokens, asked, away, pass } = issuer()
  away(true)
  await assert.rejects(tokens.prove(await token()), unavailable)
  await assert.rejects(tokens.prove(await token()), unavailable)
  assert.equal(asked.length, 1)
  away(false)
  pass(10_000)
  assert.notEqual(await tokens.prove(await token()), undefined)
})

test('known keys count for a day while the issuer does not answer', async () => {
  const { tokens, asked, away, pass } = issuer()
  assert.notEqual(await tokens.prove(await token(LONG)), undefined)
  away(true)
  pass(600_000)
  assert.notEqual(await tokens.prove(await token(LONG)), undefined)
  assert.equal(asked.length, 3, 'the issuer was asked again, beside the request')
  pass(86_400_000)
  await assert.rejects(tokens.prove(await token(LONG)), unavailable)
  away(false)
  pass(10_000)
  assert.notEqual(await tokens.prove(await token(LONG)), undefined)
})

test('metadata that names another issuer is not believed', async () => {
  const { tokens } = issuer({ issuer: 'https://evil.test' })
  await assert.rejects(tokens.prove(await token()), unavailable)
})

test('an issuer is reached over https only', async () => {
  await assert.rejects(createIssuerFetch({})('http://127.0.0.1:1/'), /must be reached over https/)
})
