/** Who may write a Cluster of Fleet, which is another face of a Cluster: one table, tried under each identity. */
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

const GROUP = 'fleet.cattle.io'
const CLUSTERS = `/apis/${GROUP}/v1alpha1/namespaces/fleet-default/clusters`
const EVERY = ['get', 'list', 'create', 'update', 'patch', 'delete']
const FACES = { apiGroups: [GROUP], resources: ['clusters'], verbs: EVERY }
const own = (...verbs: string[]) => ({ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs })
const TOKENS = { apiGroups: ['flotilla.dev'], resources: ['jointokens'], verbs: ['create'] }
const PROJECTS = { apiGroups: ['flotilla.dev'], resources: ['projects'], verbs: ['update'] }
const SECRETS = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get'] }

const IDENTITIES: Readonly<Record<string, readonly object[]>> = {
  'fleet-editor': [FACES],
  'cluster-editor': [FACES, own('update')],
  'cluster-accepter': [FACES, own('update', 'accept')],
  registrar: [FACES, own('update', 'accept'), SECRETS],
  'namespace-editor': [{ apiGroups: [GROUP], resources: ['*'], verbs: EVERY }],
  inviter: [{ apiGroups: [GROUP], resources: ['*'], verbs: EVERY }, TOKENS, own('accept')],
  'project-editor': [{ apiGroups: [GROUP], resources: ['*'], verbs: EVERY }, PROJECTS],
  'system:serviceaccount:cattle-fleet-system:fleet-controller': [
    { apiGroups: [GROUP], resources: ['*'], verbs: EVERY },
  ],
  'system:flotilla:gateway': [],
}

const merge = { 'content-type': 'application/merge-patch+json' }
const face = (name: string, spec: object) => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'Cluster',
  metadata: { name },
  spec,
})
const named = (kind: string) => ({ apiVersion: `${GROUP}/v1alpha1`, kind, metadata: { name: 'x' }, spec: {} })
const inWorkspace = (plural: string) => `/apis/${GROUP}/v1alpha1/namespaces/fleet-default/${plural}`
const WRITES = {
  label: ['PATCH', `${CLUSTERS}/store-1`, { metadata: { labels: { ring: '1' } } }, merge],
  pause: ['PATCH', `${CLUSTERS}/store-1`, { spec: { paused: true } }, merge],
  'name a Secret': ['PATCH', `${CLUSTERS}/store-1`, { spec: { kubeConfigSecret: 'mine' } }, merge],
  register: ['POST', CLUSTERS, face('new', { kubeConfigSecret: 'mine' }), {}],
  'register by the Secret of another team': ['POST', CLUSTERS, face('new', { kubeConfigSecret: 'theirs' }), {}],
  delete: ['DELETE', `${CLUSTERS}/store-1`, undefined, {}],
  'create a token': ['POST', inWorkspace('clusterregistrationtokens'), named('ClusterRegistrationToken'), {}],
  'map workspaces': ['POST', inWorkspace('bundlenamespacemappings'), named('BundleNamespaceMapping'), {}],
  'create a Bundle': ['POST', inWorkspace('bundles'), named('Bundle'), {}],
  'scan images': ['POST', inWorkspace('imagescans'), named('ImageScan'), {}],
  'create a Content': ['POST', `/apis/${GROUP}/v1alpha1/contents`, named('Content'), {}],
} as const

type Write = keyof typeof WRITES

const UNSERVED: Write[] = ['scan images', 'create a Content']

const ALLOWED: Readonly<Record<string, readonly Write[]>> = {
  // Kinds that are not served are refused to all users, but not to Fleet itself.
  admin: (Object.keys(WRITES) as Write[]).filter((one) => !UNSERVED.includes(one)),
  'namespace-editor': ['create a Bundle'],
  inviter: ['create a Bundle', 'create a token'],
  'project-editor': ['create a Bundle', 'map workspaces'],
  'system:serviceaccount:cattle-fleet-system:fleet-controller': ['create a Bundle', ...UNSERVED],
  'fleet-editor': [],
  'cluster-editor': ['label', 'pause', 'delete'],
  'cluster-accepter': ['label', 'pause', 'delete'],
  registrar: ['label', 'pause', 'name a Secret', 'register', 'delete'],
  'system:flotilla:gateway': [],
}

test('who may write a Cluster of Fleet', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const { signal } = new AbortController()
  const admin = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({ clock: systemClock, transport: (request) => api.handle(request, admin, signal) })
  await installDialects(['fleet'], { client, clock: systemClock, signal })
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
    const name = `test-${user.replaceAll(':', '-')}`
    await send('admin', ['POST', `${rbac}/clusterroles`, { metadata: { name }, rules }, {}], false)
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const binding = { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: user }] }
    await send('admin', ['POST', `${rbac}/clusterrolebindings`, binding, {}], false)
  }
  assert.equal((await send('admin', ['POST', CLUSTERS, face('store-1', {}), {}], false)).status, 201)
  // Roles and policies take a moment to be known.
  await new Promise((resolve) => setTimeout(resolve, 200))
  for (const [user, allowed] of Object.entries(ALLOWED)) {
    for (const [write, request] of Object.entries(WRITES)) {
      const { status, message } = await send(user, request)
      const isAllowed = allowed.includes(write as Write)
      assert.equal(status < 300, isAllowed, `${user}: ${write}: ${status} ${message}`)
      const isServed = user !== 'admin' || !UNSERVED.includes(write as Write)
      if (!isAllowed && isServed) assert.ok([403, 422].includes(status), `${user}: ${write}: ${message}`)
    }
  }
  const scan = await send('admin', WRITES['scan images'])
  assert.match(scan.message, /ImageScan of fleet\.cattle\.io is not served: the hub writes nothing into git/)
  const token = await send('namespace-editor', WRITES['create a token'])
  assert.match(token.message, /may not write ClusterRegistrationToken x .*it needs the verb create on jointokens/)
  const { message } = await send('registrar', WRITES['register by the Secret of another team'])
  assert.match(message, /may not name Secret fleet-default\/theirs: it needs the verb get on this Secret/)
})
