/** Webhooks of Rancher Fleet at `/`: genuine ones fetch the repositories of GitRepos, all others nothing. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { GitRepo } from '../../dialects/fleet/kinds.ts'
import { Namespace, Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import { createFleetWebhook } from './fleet-webhook.ts'
import { listenForWebhooks } from './webhook-listener.ts'

const REPO = 'https://git.example/acme/apps.git'
const REPOSITORY = { html_url: 'https://git.example/acme/apps', full_name: 'acme/apps', default_branch: 'main' }
const PUSH = JSON.stringify({ ref: 'refs/heads/main', repository: REPOSITORY })
const PROJECT = { id: 7, web_url: 'https://git.example/acme/apps', path_with_namespace: 'acme/apps' }
const GITLAB_PUSH = JSON.stringify({ object_kind: 'push', ref: 'refs/heads/main', project: PROJECT })

const hmac = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')
const github = (secret: string, body = PUSH) => ({
  'x-github-event': 'push',
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
})
const gogs = (secret: string) => ({
  'x-gogs-event': 'push',
  'x-github-event': 'push',
  'x-gogs-signature': hmac(secret, PUSH),
})
const gitlab = (token: string) => ({ 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': token })

async function start(t: TestContext) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  const { client, clock } = hub
  const doors = [createFleetWebhook({ client, clock, log: silentLogger })]
  const listen = { host: '127.0.0.1', port: 0 }
  const listener = await listenForWebhooks({ listen, client, clock, log: silentLogger, doors })
  t.after(() => listener.close())
  const repo = async (name: string, spec: object) =>
    await hub.create(build(GitRepo, `fleet-default/${name}`, { spec: { repo: REPO, ...spec } }), GitRepo)
  await repo('main', { branch: 'main' })
  await repo('dev', { branch: 'dev' })
  await repo('own', { branch: 'main', webhookSecret: 'own-hook' })
  await hub.create(build(Source, 'default/other', { spec: { git: { url: REPO, ref: { branch: 'main' } } } }), Source)
  await clock.advance(20_000)
  const secret = async () => {
    await hub.create(build(Namespace, 'cattle-fleet-system', {}), Namespace)
    const data = Object.fromEntries(['github', 'gitlab', 'gogs'].map((key) => [key, btoa(`${key}-token`)]))
    await hub.create(build(Secret, 'cattle-fleet-system/gitjob-webhook', { data }), Secret)
  }
  const call = async (headers: Record<string, string>, body = PUSH, path = '/') => {
    await clock.advance(3000)
    return (await fetch(`http://127.0.0.1:${listener.port}${path}`, { method: 'POST', headers, body })).status
  }
  /** The Sources that a call asked for. */
  const polls = async () =>
    Object.fromEntries(
      (await client.list(Source)).items.map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.['flotilla.dev/poll'],
      ]),
    )
  return { secret, call, polls }
}

test('one address and the Secret of Fleet fetch the GitRepos of the repository and its branch', async (t) => {
  const { secret, call, polls } = await start(t)
  await secret()
  let before = await polls()
  assert.deepEqual(Object.keys(before).toSorted(), ['dev', 'main', 'other', 'own'])
  for (const [headers, body] of [
    [github('github-token'), PUSH],
    [gogs('gogs-token'), PUSH],
    [gitlab('gitlab-token'), GITLAB_PUSH],
  ] as const) {
    assert.equal(await call(headers, body), 200)
    const after = await polls()
    assert.notEqual(after['main'], before['main'])
    assert.deepEqual({ ...after, main: '' }, { ...before, main: '' }, 'another branch, an own secret, another owner')
    before = after
  }
})

test('a call that is not genuine fetches nothing, also without a Secret', async (t) => {
  const { secret, call, polls } = await start(t)
  const before = await polls()
  assert.equal(await call(github('github-token')), 401, 'without a Secret')
  assert.equal(await call(github('')), 401)
  await secret()
  for (const headers of [github('gitlab-token'), gitlab('github-token'), gogs('github-token'), gitlab('')])
    assert.equal(await call(headers), 401)
  assert.equal(await call(github('github-token'), `${PUSH} `), 401, 'another body')
  assert.equal(await call({ 'x-github-event': 'push' }), 401)
  assert.equal(await call({}), 400)
  assert.equal(await call(github('github-token'), PUSH, '/api/webhook'), 404, 'Argo CD is not served')
  assert.deepEqual(await polls(), before)
})
