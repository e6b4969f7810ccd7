/** Sign-in with a real OpenID Connect issuer, on a hub process: the console, the API and `flotilla login`. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { newBrowser } from '../../testing/hub/cookie-browser.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from '../../../test/e2e/flotilla-process.ts'
import { CLIENT_ID, startIssuer } from '../../testing/hub/oidc-issuer.ts'

const OPS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: ops-view }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'oidc:ops' }]
`

async function startHub(t: TestContext, more: readonly string[] = []) {
  const folder = temporaryFolder(t)
  const issuer = await startIssuer(t)
  const issuerCa = join(folder, 'issuer-ca.crt')
  writeFileSync(issuerCa, issuer.ca)
  const oidc = ['--oidc-issuer', issuer.url, '--oidc-client-id', CLIENT_ID, '--oidc-ca', issuerCa]
  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...oidc, ...more])
  const [, api = ''] = await hub.says(/ api (\S+) /)
  const [, page = ''] = await hub.says(/ console (https?:\/\/[^/\s]+)/)
  return {
    issuer,
    oidc,
    folder,
    api,
    page,
    kubeconfig: join(data, 'admin.kubeconfig'),
    ca: join(data, 'keys/api-ca.crt'),
  }
}

const sessionOf = (text: string) => JSON.parse(text) as { username: string; groups: string[]; method: string }

test('a user of the issuer signs in to the console, and has the rights of their groups', async (t) => {
  const { issuer, page, kubeconfig } = await startHub(t)
  const browser = newBrowser(issuer.ca)
  assert.deepEqual(JSON.parse((await browser.open(`${page}/console/sign-in`)).text), {
    issuer: issuer.url,
    hasCodes: true,
  })

  issuer.signsIn('ana', ['ops'])
  const back = await browser.open(`${page}/console/oidc?next=/rollouts?q=a`)
  assert.equal(back.status, 200, back.text)
  assert.match(back.text, /content="0; url=\/rollouts\?q=a"/)
  const session = sessionOf((await browser.open(`${page}/console/session`)).text)
  assert.deepEqual(
    [session.username, session.groups, session.method],
    ['oidc:ana', ['oidc:ops', 'system:authenticated'], 'oidc'],
  )
  const clusters = `${page}/apis/flotilla.dev/v1alpha1/clusters`
  assert.equal((await browser.open(clusters)).status, 403)
  const applied = await runFlotilla(t, ['apply', '-f', '-', '--kubeconfig', kubeconfig], { input: OPS })
  assert.equal(applied.code, 0, applied.stderr)
  assert.equal((await browser.open(`${page}/api/v1/namespaces/default/configmaps`)).status, 200)
  const masters = newBrowser(issuer.ca)
  issuer.signsIn('system:admin', ['system:masters'])
  await masters.open(`${page}/console/oidc`)
  assert.equal((await masters.open(clusters)).status, 403, 'the prefix keeps names of the hub apart')

  const replayed = await browser.open(back.url)
  assert.equal(replayed.status, 400, 'each sign-in counts once')
  const stolen = await newBrowser(issuer.ca).open(back.url)
  assert.match(stolen.text, /this browser did not begin this sign-in/)
  for (const next of ['//evil.test', '/\\evil.test', 'https://evil.test']) {
    const own = newBrowser(issuer.ca)
    const visit = await own.open(`${page}/console/oidc?next=${encodeURIComponent(next)}`)
    assert.match(visit.text, /url=\/"/, next)
  }
  issuer.signsIn(undefined)
  const refused = await newBrowser(issuer.ca).open(`${page}/console/oidc`)
  assert.deepEqual(
    [refused.status, refused.text.split('\n')[0]],
    [401, 'Not signed in: the issuer refused the sign-in: the user said no.'],
  )
})

test('flotilla login signs in with the issuer, and the API knows the token', async (t) => {
  const { issuer, oidc, api, ca, folder } = await startHub(t)
  issuer.signsIn('ben', ['dev'])
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const login = startFlotilla(t, ['login', api, '--ca', ca, ...oidc], { env })
  let address: string | undefined
  for (let left = 600; left > 0 && address === undefined; left -= 1) {
    address = /browser on this machine: (\S+)/.exec(login.logged())?.[1]
    await new Promise((later) => setTimeout(later, 100))
  }
  assert.ok(address, login.logged())
  assert.equal(
    (await newBrowser(issuer.ca).open(address)).text,
    'You can close this page and return to the terminal.\n',
  )
  const { code, stderr } = await login.ended
  assert.equal(code, 0, stderr)
  assert.match(stderr, /✔ logged in to https:\S+ as oidc:ben \(oidc:dev\)/)
  const token = readFileSync(join(folder, 'state/flotilla/credentials/flotilla.token'), 'utf8').trim()
  const asked = async (bearer: string) =>
    (await runFlotilla(t, ['login', api, '--ca', ca, '--token-file', '-'], { env, input: bearer })).code
  assert.equal(await asked(token), 0)
  const [head, body = '', mark] = token.split('.')
  const other = Buffer.from(Buffer.from(body, 'base64url').toString().replace('ben', 'eve')).toString('base64url')
  assert.equal(await asked(`${head}.${other}.${mark}`), 4)
})

test('beyond loopback, the console needs TLS and an issuer', async (t) => {
  const folder = temporaryFolder(t)
  const everywhere = ['hub', 'run', '--data', join(folder, 'hub'), ...FREE, '--console-listen', '0.0.0.0:0']
  const open = await runFlotilla(t, everywhere)
  assert.notEqual(open.code, 0)
  assert.match(open.stderr, /a console that listens on 0\.0\.0\.0 needs --console-cert, --console-key, --oidc-issuer/)
})
