/** Repository Secrets as users of Argo CD have them, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { Source } from '../../../kinds/native/source.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application, ApplicationSet } from '../kinds.ts'

const REPO = 'https://git.example/acme/apps.git'
const CM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "1"}\n'

/** A server that wants a password, and what it was asked with. */
async function startPrivate(t: TestContext): Promise<ArgoHome & { readonly asked: string[]; password: string }> {
  const home = await startArgoHome(t, {})
  const server = { ...home, asked: [] as string[], password: 'secret-1' }
  home.hub.serveSources(async ({ spec, credentials }) => {
    server.asked.push(`${spec.git?.url} ${credentials?.username ?? '-'}:${credentials?.password ?? '-'}`)
    if (credentials?.password !== server.password || !credentials.urls.includes(spec.git?.url ?? ''))
      return { kind: 'Failed', reason: 'AuthFailed', message: 'the password is wrong.', retry: false }
    const stored = await storeFiles(new Map([['web/cm.yaml', utf8(CM)]]), spec, home.hub.blobs)
    return { kind: 'New', artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' } }
  })
  return server
}

const creds = (password: string, name = 'acme') => {
  const stringData = { url: 'https://git.example/acme', username: 'bot', password }
  const data = Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, btoa(value)]))
  const made = build(Secret, `argocd/${name}`, { data })
  return { ...made, metadata: { ...made.metadata, labels: { 'argocd.argoproj.io/secret-type': 'repo-creds' } } }
}

const spec = (name: string) => ({
  project: 'default',
  source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
  destination: { name, namespace: 'shop' },
  syncPolicy: { automated: {} },
})

test('a private repository is read with the template of its server; a new password is used at once', async (t) => {
  const home = await startPrivate(t)
  const { hub, settle, status } = home
  await hub.create(build(Application, 'argocd/web', { spec: spec('c1') }), Application)
  await settle()
  assert.match((await status('web'))?.conditions?.[0]?.message ?? '', /the password is wrong/)
  await hub.create(creds('secret-1'), Secret)
  await settle()
  assert.deepEqual(await home.delivered(), { c1: ['web: shop/web 1'] })
  assert.equal(home.asked.at(-1), `${REPO} bot:secret-1`)
  assert.equal((await hub.client.list(Source)).items.length, 1)

  home.password = 'secret-2'
  await hub.clock.advance(600_000)
  assert.equal((await status('web'))?.sync?.status, 'Synced', 'what was fetched stays')
  const found = (await hub.find(Secret, 'argocd/acme'))!
  await hub.client.update(Secret, { ...found, data: { ...found.data, password: btoa('secret-2') } })
  await hub.clock.advance(5000)
  assert.equal(home.asked.at(-1), `${REPO} bot:secret-2`, 'the Source does not wait for its back-off')

  const [source] = (await hub.client.list(Source)).items
  await hub.client.delete(Secret, { namespace: 'argocd', name: source!.spec.credentials! })
  await settle()
  assert.notEqual(await hub.find(Secret, `argocd/${source!.spec.credentials}`), undefined, 'the copy comes back')
  hub.writes.length = 0
  await hub.clock.advance(60_000)
  assert.deepEqual(
    hub.writes.filter((write) => write.includes('secrets') || write.includes('argoproj.io')),
    [],
    'nothing is written while nothing changes',
  )
})

test('Secrets of another namespace are not used', async (t) => {
  const home = await startPrivate(t)
  const elsewhere = creds('secret-1')
  await home.hub.create({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'default' } }, Secret)
  await home.hub.create(build(Application, 'argocd/web', { spec: spec('c1') }), Application)
  await home.settle()
  assert.deepEqual(await home.delivered(), {})
  assert.ok(home.asked.every((one) => one.endsWith(' -:-')))
})

test('generators and Applications of a set read private repositories, too', async (t) => {
  const home = await startPrivate(t)
  await home.hub.create(creds('secret-1'), Secret)
  const template = { metadata: { name: 'web-{{name}}' }, spec: { ...spec('{{name}}') } }
  const generators = [
    {
      matrix: {
        generators: [{ clusters: {} }, { git: { repoURL: REPO, revision: 'main', directories: [{ path: 'web' }] } }],
      },
    },
  ]
  await home.hub.create(build(ApplicationSet, 'argocd/web', { spec: { generators, template } }), ApplicationSet)
  await home.settle()
  assert.deepEqual(await home.delivered(), { c1: ['web-c1: shop/web 1'], c2: ['web-c2: shop/web 1'] })
  assert.equal((await home.hub.client.list(Source)).items.length, 1)
})
