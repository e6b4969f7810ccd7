import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleConfigProblem, consoleExposure, readClientSecret, readOidcSettings } from './oidc-config.ts'

type Config = Parameters<typeof consoleConfigProblem>[0]

const LOCAL = { consoleListen: '127.0.0.1:7480' }
const OIDC = { oidcIssuer: 'https://id.test', oidcClientId: 'hub' }
const TLS = { consoleCert: 'c.pem', consoleKey: 'k.pem' }
const ANY = { consoleListen: '0.0.0.0:7480' }

const CASES: readonly (readonly [config: Config, problem: RegExp | undefined])[] = [
  [LOCAL, undefined],
  [{ ...LOCAL, ...OIDC }, undefined],
  [{ ...LOCAL, ...TLS }, undefined],
  [{ ...LOCAL, oidcIssuer: 'https://id.test' }, /^--oidc-issuer and --oidc-client-id are given together/],
  [{ ...LOCAL, oidcGroupsClaim: 'teams' }, /^settings of OpenID Connect need --oidc-issuer/],
  [{ ...LOCAL, consoleCert: 'c.pem' }, /^--console-cert and --console-key are given together/],
  [{ ...LOCAL, consoleUrl: 'https://x' }, /^--console-url needs --console-cert/],
  [ANY, /^a console that listens on 0\.0\.0\.0 needs --console-cert/],
  [{ ...ANY, ...TLS }, /^a console that listens on 0\.0\.0\.0 needs --console-cert/],
  [{ ...ANY, ...OIDC }, /^a console that listens on 0\.0\.0\.0 needs --console-cert/],
  [{ ...ANY, ...OIDC, ...TLS }, /needs --console-url with the address that people open$/],
  [{ ...ANY, ...OIDC, ...TLS, consoleUrl: 'https://x' }, undefined],
  [{ consoleListen: '10.0.0.5:7480', ...OIDC, ...TLS }, undefined],
]

for (const [config, problem] of CASES) {
  test(`the settings ${JSON.stringify(config)}`, () => {
    const found = consoleConfigProblem(config)
    if (problem) assert.match(found ?? '', problem)
    else assert.equal(found, undefined)
  })
}

test('the settings of the issuer have defaults, and a missing file is named with its flag', async () => {
  assert.deepEqual(await readOidcSettings({ ...LOCAL, ...OIDC }), {
    issuer: 'https://id.test',
    clientId: 'hub',
    usernameClaim: 'sub',
    groupsClaim: 'groups',
  })
  assert.equal(await readOidcSettings(LOCAL), undefined)
  await assert.rejects(
    readOidcSettings({ ...LOCAL, ...OIDC, oidcCa: '/nowhere' }),
    /^Stalled: --oidc-ca: cannot read \/nowhere/,
  )
  await assert.rejects(readClientSecret({ oidcClientSecretFile: '/nowhere' }), /--oidc-client-secret-file: cannot read/)
  assert.deepEqual(consoleExposure({ ...LOCAL, ...TLS }), { tls: { cert: 'c.pem', key: 'k.pem' } })
})
