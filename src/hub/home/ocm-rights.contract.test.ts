/** Who may write which face of a cluster: one table, tried under each identity. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import type { ApiServer } from '../../apiserver/server/api-server.ts'
import type { Transport } from '../../core/http.ts'
import { createClient } from '../../client/create-client.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { HUB_KINDS } from '../compose/compose-api.ts'
import { installDialects } from './dialects.ts'

const GROUP = 'cluster.open-cluster-management.io'
const V1 = `/apis/${GROUP}/v1/managedclusters`
const BINDINGS = `/apis/${GROUP}/v1beta2/namespaces/default/managedclustersetbindings`
const SET_LABEL = `${GROUP}/clusterset`
const EVERY = ['get', 'list', 'create', 'update', 'patch', 'delete']

/** Rights of each identity, besides those of all users. */
const IDENTITIES: Readonly<Record<string, readonly object[]>> = {
  // May write the kinds of Open Cluster Management, and no Cluster.
  'ocm-editor': [
    {
      apiGroups: [GROUP],
      resources: ['managedclusters', 'managedclustersets', 'managedclustersetbindings'],
      verbs: EVERY,
    },
  ],
  'cluster-editor': [
    { apiGroups: [GROUP], resources: ['managedclusters'], verbs: EVERY },
    { apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['update'] },
  ],
  'cluster-admin-of-one': [
    { apiGroups: [GROUP], resources: ['managedclusters'], verbs: EVERY },
    { apiGroups: ['flotilla.dev'], resources: ['clusters'], resourceNames: ['store-1'], verbs: ['update', 'accept'] },
  ],
  'set-owner': [
    { apiGroups: [GROUP], resources: ['managedclusters', 'managedclustersetbindings'], verbs: EVERY },
    { apiGroups: [GROUP], resources: ['managedclustersets/join', 'managedclustersets/bind'], verbs: ['create'] },
    { apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['update'] },
  ],
  viewer: [{ apiGroups: [GROUP], resources: ['*'], verbs: ['get', 'list'] }],
  'system:flotilla:gateway': [],
}

const merge = { 'content-type': 'application/merge-patch+json' }
const WRITES = {
  label: ['PATCH', `${V1}/store-1`, { metadata: { labels: { region: 'eu' } } }, merge],
  taint: ['PATCH', `${V1}/store-1`, { spec: { taints: [{ key: 'a', effect: 'NoSelect' }] } }, merge],
  annotate: ['PATCH', `${V1}/store-1`, { metadata: { annotations: { note: 'x' } } }, merge],
  accept: ['PATCH', `${V1}/store-1`, { spec: { hubAcceptsClient: true } }, merge],
  'accept another': ['PATCH', `${V1}/store-2`, { spec: { hubAcceptsClient: true } }, merge],
  'create accepted': [
    'POST',
    V1,
    { apiVersion: `${GROUP}/v1`, kind: 'ManagedCluster', metadata: { name: 'new' }, spec: { hubAcceptsClient: true } },
    {},
  ],
  'join set': ['PATCH', `${V1}/store-1`, { metadata: { labels: { [SET_LABEL]: 'gold' } } }, merge],
  'bind set': [
    'POST',
    BINDINGS,
    {
      apiVersion: `${GROUP}/v1beta2`,
      kind: 'ManagedClusterSetBinding',
      metadata: { name: 'gold', namespace: 'default' },
      spec: { clusterSet: 'gold' },
    },
    {},
  ],
  delete: ['DELETE', `${V1}/store-1`, undefined, {}],
} as const

type Write = keyof typeof WRITES

/** The table of docs/dialects/ocm.md: which writes an identity may do. All others are forbidden. */
const ALLOWED: Readonly<Record<string, readonly Write[]>> = {
  admin: [
    'label',
    'taint',
    'annotate',
    'accept',
    'accept another',
    'create accepted',
    'join set',
    'bind set',
    'delete',
  ],
  'ocm-editor': ['annotate'],
  'cluster-editor': ['label', 'taint', 'annotate', 'delete'],
  'cluster-admin-of-one': ['label', 'taint', 'annotate', 'accept', 'delete'],
  'set-owner': ['label', 'taint', 'annotate', 'join set', 'bind set', 'delete'],
  viewer: [],
  'system:flotilla:gateway': [],
}

async function send(api: ApiServer, user: string, [method, path, body, headers]: readonly unknown[], dryRun = true) {
  const groups = user === 'admin' ? ['system:masters'] : ['system:authenticated']
  const request = {
    method: method as string,
    path: `${path as string}${dryRun ? '?dryRun=All' : ''}`,
    headers: { accept: 'application/json', ...(headers as Record<string, string>) },
    ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }),
  }
  const response = await api.handle(request, { user, groups }, new AbortController().signal)
  return { status: response.status, body: JSON.parse(fromUtf8(await readBody(response.body, 1 << 20))) }
}

test('who may write which face of a cluster', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const admin = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({
    clock: systemClock,
    transport: (request, signal) => api.handle(request, admin, signal),
  })
  await installDialects(['ocm'], { client, clock: systemClock, signal: new AbortController().signal })
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (const [user, rules] of Object.entries(IDENTITIES)) {
    const name = user.replaceAll(':', '-')
    await send(api, 'admin', ['POST', `${rbac}/clusterroles`, { metadata: { name }, rules }, {}], false)
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', name: user }]
    await send(
      api,
      'admin',
      ['POST', `${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }, {}],
      false,
    )
  }
  for (const name of ['store-1', 'store-2']) {
    const face = { apiVersion: `${GROUP}/v1`, kind: 'ManagedCluster', metadata: { name }, spec: {} }
    assert.equal((await send(api, 'admin', ['POST', V1, face, {}], false)).status, 201)
  }
  // Roles and policies take a moment to be known; the last ones are known last.
  const isKnown = async () =>
    (await send(api, 'viewer', ['GET', V1, undefined, {}], false)).status === 200 &&
    (await send(api, 'set-owner', WRITES['bind set'])).status === 201 &&
    (await send(api, 'ocm-editor', WRITES['bind set'])).status === 403
  for (let tries = 0; !(await isKnown()) && tries < 200; tries += 1) await systemClock.sleep(50)
  for (const [user, allowed] of Object.entries(ALLOWED)) {
    for (const [write, request] of Object.entries(WRITES)) {
      const { status, body } = await send(api, user, request)
      const isAllowed = allowed.includes(write as Write)
      assert.equal(status < 300, isAllowed, `${user}: ${write}: ${status} ${body.message ?? ''}`)
      if (!isAllowed) assert.equal(status, 403, `${user}: ${write}: ${body.message}`)
    }
  }
  const refused = await send(api, 'cluster-editor', WRITES.accept)
  assert.match(
    refused.body.message,
    /cluster-editor may not accept store-1: it needs the verb accept on clusters\.flotilla\.dev/,
  )
  const misnamed = { ...WRITES['bind set'][2], spec: { clusterSet: 'silver' } }
  const invalid = await send(api, 'admin', ['POST', BINDINGS, misnamed, {}])
  assert.equal(invalid.status, 422)
  assert.match(invalid.body.message, /spec\.clusterSet must be the name of the ManagedClusterSetBinding/)
})

const WORK = 'work.open-cluster-management.io'
const SETS = `/apis/${WORK}/v1alpha1/namespaces/default/manifestworkreplicasets`
const SET = {
  apiVersion: `${WORK}/v1alpha1`,
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'web' },
  spec: { manifestWorkTemplate: { workload: { manifests: [{ kind: 'A' }] } }, placementRefs: [{ name: 'all' }] },
}
const WORKS = `/apis/${WORK}/v1/namespaces/default/manifestworks`

/** What the roles of a namespace allow: ManifestWorks, which act with the rights of the agent, are in none of them. */
const NAMESPACED: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  edit: {
    'create set': true,
    'read sets': true,
    'create work': false,
    'read works': false,
    'another namespace': false,
  },
  view: {
    'create set': false,
    'read sets': true,
    'create work': false,
    'read works': false,
    'another namespace': false,
  },
}

test('view and edit of a namespace include replica sets, and no works', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const admin = { user: 'admin', groups: ['system:masters'] }
  const transport: Transport = (request, signal) => api.handle(request, admin, signal)
  const client = createClient({ clock: systemClock, transport })
  await installDialects(['ocm'], { client, clock: systemClock, signal: new AbortController().signal })
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
  for (const name of Object.keys(NAMESPACED)) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', name }]
    const body = { metadata: { name }, roleRef, subjects }
    assert.equal((await send(api, 'admin', ['POST', bindings, body, {}], false)).status, 201)
  }
  const requests: Readonly<Record<string, readonly unknown[]>> = {
    'create set': ['POST', SETS, SET, {}],
    'read sets': ['GET', SETS, undefined, {}],
    'create work': ['POST', WORKS, { ...SET, kind: 'ManifestWork', apiVersion: `${WORK}/v1`, spec: {} }, {}],
    'read works': ['GET', WORKS, undefined, {}],
    'another namespace': ['GET', SETS.replace('default', 'kube-system'), undefined, {}],
  }
  const isKnown = async () => (await send(api, 'edit', requests['create set']!)).status === 201
  for (let tries = 0; !(await isKnown()) && tries < 200; tries += 1) await systemClock.sleep(50)
  for (const [user, allowed] of Object.entries(NAMESPACED)) {
    for (const [what, isAllowed] of Object.entries(allowed)) {
      const { status, body } = await send(api, user, requests[what]!, what.startsWith('create'))
      assert.equal(status < 300, isAllowed, `${user}: ${what}: ${status} ${body.message ?? ''}`)
    }
  }
})

test('the executor of a work is a right of its own, also when it is set later', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const admin = { user: 'admin', groups: ['system:masters'] }
  const transport: Transport = (request, signal) => api.handle(request, admin, signal)
  const client = createClient({ clock: systemClock, transport })
  await installDialects(['ocm'], { client, clock: systemClock, signal: new AbortController().signal })
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  const works = { apiGroups: [WORK], resources: ['manifestworks'] }
  const named = { ...works, resourceNames: ['system:serviceaccount:shop:web'], verbs: ['execute-as'] }
  for (const [name, rules] of Object.entries({
    writer: [{ ...works, verbs: EVERY }],
    executor: [{ ...works, verbs: EVERY }, named],
  })) {
    await send(api, 'admin', ['POST', `${rbac}/roles`, { metadata: { name }, rules }, {}], false)
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    const body = { metadata: { name }, roleRef, subjects: [{ kind: 'User', name }] }
    assert.equal((await send(api, 'admin', ['POST', `${rbac}/rolebindings`, body, {}], false)).status, 201)
  }
  const as = (name: string) => ({
    executor: { subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'shop', name } } },
  })
  const workload = { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }] }
  const create = (user: string, spec: object, isDry = true) => {
    const work = {
      apiVersion: `${WORK}/v1`,
      kind: 'ManifestWork',
      metadata: { name: 'web' },
      spec: { workload, ...spec },
    }
    return send(api, user, ['POST', WORKS, work, {}], isDry)
  }
  const isKnown = async () =>
    (await create('executor', as('web'))).status === 201 && (await create('writer', as('web'))).status === 403
  for (let tries = 0; !(await isKnown()) && tries < 200; tries += 1) await systemClock.sleep(50)
  assert.equal((await create('executor', as('other'))).status, 403)
  const refused = await create('writer', as('web'))
  assert.match(
    refused.body.message,
    /writer may not execute as system:serviceaccount:shop:web: it needs the verb execute-as/,
  )
  assert.equal((await create('writer', {}, false)).status, 201)
  const patch = (user: string, spec: object) => send(api, user, ['PATCH', `${WORKS}/web`, { spec }, merge], false)
  assert.equal((await patch('writer', as('web'))).status, 403)
  assert.equal((await patch('executor', as('web'))).status, 200)
  // A work that has its executor may be changed, as long as the executor stays.
  assert.equal((await patch('writer', { deleteOption: { propagationPolicy: 'Orphan' } })).status, 200)
})
