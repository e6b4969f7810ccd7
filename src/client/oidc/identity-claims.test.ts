import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { readIdentity } from './identity-claims.ts'
import type { ClaimedIdentity } from './identity-claims.ts'
import { DEFAULT_CLAIMS } from './oidc-settings.ts'

const BY_EMAIL = { usernameClaim: 'email', groupsClaim: 'teams' }

const CASES: readonly (readonly [claims: JsonObject, expected: ClaimedIdentity, by?: typeof BY_EMAIL])[] = [
  [{ sub: 'ana' }, { username: 'oidc:ana', groups: [] }],
  [
    { sub: 'ana', groups: ['ops', 'dev'] },
    { username: 'oidc:ana', groups: ['oidc:ops', 'oidc:dev'] },
  ],
  [
    { sub: 'ana', groups: 'ops' },
    { username: 'oidc:ana', groups: ['oidc:ops'] },
  ],
  [
    { sub: 'system:admin', groups: ['system:masters'] },
    { username: 'oidc:system:admin', groups: ['oidc:system:masters'] },
  ],
  [{ sub: '' }, { problem: 'the token has no claim "sub" with a name' }],
  [{ sub: 7 }, { problem: 'the token has no claim "sub" with a name' }],
  [{ sub: 'a\nb' }, { problem: 'the token has no claim "sub" with a name' }],
  [{ sub: 'ana', groups: [1] }, { problem: 'the claim "groups" is not a list of up to 1000 names' }],
  [{ sub: 'ana', groups: { a: 1 } }, { problem: 'the claim "groups" is not a list of up to 1000 names' }],
  [
    { sub: 'ana', groups: Array.from({ length: 1001 }, (_, n) => `g${n}`) },
    { problem: 'the claim "groups" is not a list of up to 1000 names' },
  ],
  [{ email: 'a@x', email_verified: true, teams: ['t'] }, { username: 'oidc:a@x', groups: ['oidc:t'] }, BY_EMAIL],
  [{ email: 'a@x' }, { username: 'oidc:a@x', groups: [] }, BY_EMAIL],
  [{ email: 'a@x', email_verified: false }, { problem: 'the issuer has not verified the email address' }, BY_EMAIL],
  [{ email: 'a@x', email_verified: 'true' }, { problem: 'the issuer has not verified the email address' }, BY_EMAIL],
]

for (const [claims, expected, by = DEFAULT_CLAIMS] of CASES) {
  test(`the identity of ${JSON.stringify(claims).slice(0, 80)}`, () => {
    assert.deepEqual(readIdentity(claims, by), expected)
  })
}
