/** Who may write cluster Secrets of Argo CD, which register Clusters: one table, tried under each identity. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { createClient } from '../../client/create-client.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { HUB_KINDS } from '../compose/compose-api.ts'
import { installDialects } from './dialects.ts'

const SECRETS = '/api/v1/namespaces/argocd/secrets'
const EVERY = ['get', 'list', 'create', 'update', 'patch', 'delete']
const ALL_SECRETS = { apiGroups: [''], resources: ['secrets'], verbs: EVERY }
const own = (resource: string, ...verbs: string[]) => ({ apiGroups: ['flotilla.dev'], resources: [resource], verbs })
const one = { ...own('clusters', 'update', 'accept'), resourceNames: ['store-1'] }

const IDENTITIES: Readonly<Record<string, readonly object[]>> = {
  'secret-editor': [ALL_SECRETS],
  'cluster-editor': [ALL_SECRETS, own('clusters', 'update')],
  'editor-of-one': [ALL_SECRETS, one],
  registrar: [ALL_SECRETS, own('clusters', 'update', 'accept')],
  operator: [ALL_SECRETS, own('clusters', 'update', 'accept'), own('clusterwindows', 'create')],
}

const merge = { 'content-type': 'application/merge-patch+json' }
const secret = (name: string, labels: object) => ({ metadata: { name, labels }, data: {} })
const CLUSTER = { 'argocd.argoproj.io/secret-type': 'cluster' }
const window = { metadata: { annotations: { 'flotilla.dev/maintenance-window': '@daily 1h' } } }
const WRITES = {
  'create a plain Secret': ['POST', SECRETS, secret('new', {}), {}],
  'create a repository': ['POST', SECRETS, secret('new', { 'argocd.argoproj.io/secret-type': 'repository' }), {}],
  'register a cluster': ['POST', SECRETS, secret('new', CLUSTER), {}],
  'make a Secret a cluster': ['PATCH', `${SECRETS}/plain`, { metadata: { labels: CLUSTER } }, merge],
  'label a cluster': ['PATCH', `${SECRETS}/store-1`, { metadata: { labels: { env: 'prod' } } }, merge],
  'take the label': [
    'PATCH',
    `${SECRETS}/store-1`,
    { metadata: { labels: { 'argocd.argoproj.io/secret-type': null } } },
    merge,
  ],
  'open a window': ['PATCH', `${SECRETS}/store-1`, window, merge],
  'delete a cluster': ['DELETE', `${SECRETS}/store-1`, undefined, {}],
} as const

type Write = keyof typeof WRITES

const PLAIN: Write[] = ['create a plain Secret', 'create a repository']
const ALLOWED: Readonly<Record<string, readonly Write[]>> = {
  admin: Object.keys(WRITES) as Write[],
  'secret-editor': PLAIN,
  'cluster-editor': PLAIN,
  'editor-of-one': PLAIN,
  registrar: (Object.keys(WRITES) as Write[]).filter((write) => write !== 'open a window'),
  operator: Object.keys(WRITES) as Write[],
}

test('who may write a cluster Secret', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const { signal } = new AbortController()
  const admin = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({ clock: systemClock, transport: (request) => api.handle(request, admin, signal) })
  await installDialects(['argo'], { client, clock: systemClock, signal })
  const send = async (user: string, [method, path, body, headers]: readonly unknown[], dryRun = true) => {
    const groups = user === 'admin' ? ['system:masters'] : ['system:authenticated']
    const request = {
      method: method as string,
      path: `${path as string}${dryRun ? '?dryRun=All' : ''}`,
      headers: { accept: 'application/json', ...(headers as Record<string, string>) },
      ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }),
    }
    const response = await api.handle(request, { user, groups }, signal)
    const text = fromUtf8(await readBody(response.body, 1 << 20))
    return { status: response.status, message: (JSON.parse(text) as { message?: string }).message ?? '' }
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (const [user, rules] of Object.entries(IDENTITIES)) {
    const name = `test-${user}`
    await send('admin', ['POST', `${rbac}/clusterroles`, { metadata: { name }, rules }, {}], false)
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const binding = { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: user }] }
    await send('admin', ['POST', `${rbac}/clusterrolebindings`, binding, {}], false)
  }
  for (const present of [secret('store-1', CLUSTER), secret('plain', {})])
    assert.equal((await send('admin', ['POST', SECRETS, present, {}], false)).status, 201)
  const elsewhere = '/api/v1/namespaces/default/secrets'
  // Roles and policies take a moment to be known.
  await new Promise((resolve) => setTimeout(resolve, 200))
  for (const [user, allowed] of Object.entries(ALLOWED)) {
    for (const [write, request] of Object.entries(WRITES)) {
      const { status, message } = await send(user, request)
      assert.equal(status < 300, allowed.includes(write as Write), `${user}: ${write}: ${status} ${message}`)
    }
  }
  const refused = await send('cluster-editor', WRITES['register a cluster'])
  assert.match(refused.message, /may not write cluster Secrets: it needs the verbs update and accept on all clusters/)
  const opened = await send('registrar', WRITES['open a window'])
  assert.match(opened.message, /may not change the annotation .*: it needs the verb create on clusterwindows/)
  const other = await send('secret-editor', ['POST', elsewhere, secret('new', CLUSTER), {}])
  assert.equal(other.status, 201, 'the hub reads no cluster Secrets of other namespaces')
})
