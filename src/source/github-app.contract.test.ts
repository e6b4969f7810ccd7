/** Git with the key of a GitHub App, against a server that answers as GitHub's API does. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { requireBasic, serveGit, startContentServer } from '../testing/fixtures/content-server.ts'
import type { ContentHandler } from '../testing/fixtures/content-server.ts'
import { createTestRepository } from '../testing/fixtures/git-repository.ts'
import { createTestFetcher } from '../testing/fixtures/source-fetcher.ts'
import { readCredentials } from './credentials.ts'
import type { FetchOutcome } from './fetch-request.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' })

/** Answers the requests of an App; a request that another key signed is refused. */
const api: ContentHandler = (request, response) => {
  const url = request.url ?? ''
  if (!url.startsWith('/api/v3/')) return false
  const answer = (status: number, said: object): boolean => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    return true
  }
  const [head = '', claims = '', signature = ''] = (request.headers.authorization ?? '').slice(7).split('.')
  const isOurs = verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
  const { iss, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number | string>
  if (!isOurs || iss !== '1234' || Number(exp) - Number(iat) > 600) return answer(401, { message: 'Bad credentials' })
  if (url === '/api/v3/users/ana/installation') return answer(200, { id: 77 })
  if (request.method === 'POST' && url === '/api/v3/app/installations/77/access_tokens') {
    return answer(201, { token: 'ghs_token', expires_at: '2030-01-01T00:00:00Z' })
  }
  return answer(404, { message: 'Not Found' })
}

async function world(t: TestContext) {
  const repository = createTestRepository()
  repository.commit({ 'a.yaml': 'a: 1\n' })
  const server = await startContentServer([api, requireBasic('x-access-token', 'ghs_token'), serveGit(repository.path)])
  const fetcher = await createTestFetcher()
  t.after(async () => {
    await server.close()
    fetcher.close()
    repository.remove()
  })
  const fetch = async (data: Record<string, string>) => {
    fetcher.forget()
    const all = { githubAppBaseURL: `${server.url}/api/v3`, 'ca.crt': server.ca, ...data }
    const credentials = readCredentials({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'app', namespace: 'ns', annotations: { 'flotilla.dev/urls': server.url } },
      data: Object.fromEntries(Object.entries(all).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    })
    return words(await fetcher.fetch({ git: { url: `${server.url}/repo.git` } }, { credentials }))
  }
  return { server, fetch }
}

function words(outcome: FetchOutcome): string {
  return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
}

const APP = { githubAppID: '1234', githubAppPrivateKey: PEM }

test('the key of an App is exchanged for a token once, and the token reads the repository', async (t) => {
  const { server, fetch } = await world(t)
  assert.equal(await fetch({ ...APP, githubAppInstallationID: '77\n' }), 'New')
  assert.equal(await fetch({ ...APP, githubAppInstallationID: '77\n' }), 'New')
  assert.equal(server.log.filter((line) => line.startsWith('POST /api/')).length, 1, 'the token is kept')
  assert.equal(await fetch({ ...APP, githubAppInstallationOwner: 'ana' }), 'New')
  const paths = server.log.map((line) => line.split(' ')[1]!).filter((path) => path.startsWith('/api/'))
  assert.deepEqual(paths.slice(1), [
    '/api/v3/orgs/ana/installation',
    '/api/v3/users/ana/installation',
    '/api/v3/app/installations/77/access_tokens',
  ])
})

test('what is missing or refused is said without the key', async (t) => {
  const { fetch } = await world(t)
  const lacking = await fetch(APP)
  assert.match(lacking, /^BadCredentials: Secret ns\/app has githubAppPrivateKey; it needs githubAppID and/)
  assert.match(
    await fetch({ ...APP, githubAppInstallationID: '78' }),
    /^AuthenticationFailed: .* gives no token for installation 78 \(404: Not Found\); check Secret ns\/app\.$/,
  )
  assert.match(await fetch({ ...APP, githubAppInstallationOwner: 'bob' }), /knows no installation of bob/)
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const wrong = { ...APP, githubAppPrivateKey: other, githubAppInstallationID: '77' }
  assert.match(await fetch(wrong), /\(401: Bad credentials\)/)
  const broken = await fetch({ ...APP, githubAppPrivateKey: 'secret words', githubAppInstallationID: '77' })
  assert.equal(broken, 'BadCredentials: githubAppPrivateKey of Secret ns/app is no private key.')
  const plain = await fetch({ ...APP, githubAppInstallationID: '77', githubAppBaseURL: 'http://127.0.0.1/api' })
  assert.match(plain, /^BadUrl: /)
})
