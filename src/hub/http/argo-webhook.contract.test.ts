/** Webhooks of Argo CD at `/api/webhook`: genuine ones fetch the repositories of Applications, all others nothing. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { Application, ApplicationSet } from '../../dialects/argo/kinds.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../testing/hub/argo-home.ts'
import { createArgoWebhook } from './argo-webhook.ts'
import { listenForWebhooks } from './webhook-listener.ts'

const REPO = 'https://git.example/acme/apps.git'
const content = (v: string) => ({
  'web/cm.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${v}"}\n`,
})
const SECRETS = { 'webhook.github.secret': 'gh', 'webhook.gitlab.secret': 'gl', 'webhook.gogs.secret': 'gt' }
const REPOSITORY = { html_url: 'https://git.example/acme/apps', full_name: 'acme/apps', default_branch: 'main' }
const PROJECT = {
  id: 7,
  web_url: 'https://git.example/acme/apps',
  path_with_namespace: 'acme/apps',
  default_branch: 'main',
}
const PUSH = { ref: 'refs/heads/main', repository: REPOSITORY }

const hmac = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')
const github = (body: string, secret = 'gh', event = 'push') => ({
  'x-github-event': event,
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
})
const gitea = (body: string, secret = 'gt') => ({
  'x-gitea-event': 'push',
  'x-gogs-event': 'push',
  'x-github-event': 'push',
  'x-gogs-signature': hmac(secret, body),
  'x-gitea-signature': hmac(secret, body),
})
const gitlab = (_body: string, token = 'gl') => ({ 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': token })

async function start(t: TestContext) {
  const home = await startArgoHome(t, { [REPO]: content('1') })
  const { client, clock } = home.hub
  const patched: string[] = []
  const recording: typeof client = {
    ...client,
    patch(kind, key, ...rest) {
      patched.push(`${kind.kind} ${key.name}`)
      return client.patch(kind, key, ...rest)
    },
  }
  const argo = createArgoWebhook({ client: recording, clock, log: silentLogger })
  const listen = { host: '127.0.0.1', port: 0 }
  const listener = await listenForWebhooks({ listen, client, clock, log: silentLogger, doors: [argo] })
  t.after(() => listener.close())
  const secret = async (
    data: Record<string, string>,
    labels: Record<string, string> = { 'app.kubernetes.io/part-of': 'argocd' },
  ) => {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]))
    const made = build(Secret, 'argocd/argocd-secret', { data: encoded })
    await home.hub.create({ ...made, metadata: { ...made.metadata, labels } }, Secret)
  }
  const call = async (headers: Record<string, string>, body: string, method = 'POST') => {
    await clock.advance(3000)
    const url = `http://127.0.0.1:${listener.port}/api/webhook`
    const { status } = await fetch(url, { method, headers, ...(method === 'POST' ? { body } : {}) })
    return status
  }
  const polls = async () =>
    Object.fromEntries(
      (await client.list(Source)).items.map(({ metadata, spec }) => [
        spec.git?.ref?.branch ?? 'default',
        metadata.annotations?.['flotilla.dev/poll'],
      ]),
    )
  return { ...home, secret, call, polls, patched }
}

const app = (name: string, targetRevision: string) =>
  build(Application, `argocd/${name}`, {
    spec: {
      project: 'default',
      source: { repoURL: REPO, path: 'web', targetRevision },
      destination: { name: 'c1', namespace: 'shop' },
      syncPolicy: { automated: {} },
    },
  })

test('a push is delivered at once, and fetches the branch that was pushed alone', async (t) => {
  const { hub, settle, delivered, commit, secret, call, polls } = await start(t)
  await secret(SECRETS)
  await hub.create(app('web', 'main'), Application)
  await hub.create(app('dev', 'dev'), Application)
  await settle()
  for (const [at, headers] of [github, gitea, gitlab].entries()) {
    const body = JSON.stringify(
      headers === gitlab ? { object_kind: 'push', ref: 'refs/heads/main', project: PROJECT } : PUSH,
    )
    await commit(`n${at}`, REPO, content(`n${at}`))
    const before = await polls()
    assert.equal(await call(headers(body), body), 200)
    const after = await polls()
    assert.notEqual(after['main'], before['main'])
    assert.equal(after['dev'], before['dev'])
    // Less than the interval of the Source.
    await hub.clock.advance(20_000)
    await hub.report('c1', 'Ready')
    await hub.clock.advance(20_000)
    assert.ok((await delivered())['c1']?.includes(`web: shop/web n${at}`), headers.name)
  }
})

test('what is not genuine fetches nothing', async (t) => {
  const { hub, settle, secret, call, polls } = await start(t)
  const body = JSON.stringify(PUSH)
  assert.equal(await call(github(body), body), 401, 'without a Secret')
  await secret(SECRETS)
  await hub.create(app('web', 'main'), Application)
  await settle()
  const before = await polls()
  const bad: [Record<string, string>, string, number][] = [
    [github(body, 'other'), body, 401],
    [github(body, 'gl'), body, 401],
    [gitlab(body, 'gh'), body, 401],
    [gitlab(body, ''), body, 401],
    [gitea(body, 'gh'), body, 401],
    [github(body), `${body} `, 401],
    [{ 'x-github-event': 'push' }, body, 401],
    [{}, body, 400],
    [{ 'x-event-key': 'repo:push' }, body, 400],
    [github('{'), '{', 400],
    [github('x'.repeat(5_000_000)), 'x'.repeat(5_000_000), 413],
  ]
  for (const [headers, text, status] of bad) assert.equal(await call(headers, text), status, JSON.stringify(headers))
  assert.equal(await call(github(body), body, 'GET'), 405)
  const ping = JSON.stringify({ zen: 'x', repository: REPOSITORY })
  assert.equal(await call(github(ping, 'gh', 'ping'), ping), 200)
  const elsewhere = JSON.stringify({
    ...PUSH,
    repository: { ...REPOSITORY, html_url: 'https://git.example/acme/other' },
  })
  assert.equal(await call(github(elsewhere), elsewhere), 200)
  assert.deepEqual(await polls(), before)
})

test('a Secret without the label of Argo CD has no effect', async (t) => {
  const { secret, call } = await start(t)
  await secret(SECRETS, {})
  assert.equal(await call(github('{}'), '{}'), 401)
})

test('a Source that no Application made is not fetched', async (t) => {
  const { hub, settle, secret, call } = await start(t)
  await secret(SECRETS)
  await hub.create(build(Source, 'default/own', { spec: { git: { url: REPO } } }), Source)
  await settle()
  const body = JSON.stringify(PUSH)
  assert.equal(await call(github(body), body), 200)
  assert.equal((await hub.find(Source, 'default/own'))?.metadata.annotations?.['flotilla.dev/poll'], undefined)
})

test('a pull request asks the generators of its repository', async (t) => {
  const { hub, settle, secret, call, patched } = await start(t)
  await secret(SECRETS)
  const template = { metadata: { name: 'x' }, spec: app('x', 'main').spec }
  const set = (name: string, repo: string) =>
    build(ApplicationSet, `argocd/${name}`, {
      spec: { generators: [{ pullRequest: { github: { owner: 'acme', repo } } }], template },
    })
  await hub.create(set('apps', 'apps'), ApplicationSet)
  await hub.create(set('other', 'other'), ApplicationSet)
  await settle()
  const body = JSON.stringify({ action: 'opened', repository: REPOSITORY })
  assert.equal(await call(github(body, 'gh', 'pull_request'), body), 200)
  assert.deepEqual(patched, ['ApplicationSet apps'])
})
