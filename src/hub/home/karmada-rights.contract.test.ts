/** Who may write the kinds of Karmada: one table, tried under each identity. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTROLLERS_USER } from '../../apiserver/rbac/controller-rules.ts'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { createClient } from '../../client/create-client.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { REFUSED_KINDS } from '../../dialects/karmada/refused-kinds.ts'
import { SERVED_TEMPLATE_KINDS } from '../../dialects/karmada/templates/template-kinds.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { HUB_KINDS } from '../compose/compose-api.ts'
import { installDialects } from './dialects.ts'

const POLICY = '/apis/policy.karmada.io/v1alpha1'
const WORK = '/apis/work.karmada.io/v1alpha2'
const merge = { 'content-type': 'application/merge-patch+json' }
const spec = { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] }
const resource = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x', namespace: 'shop' }
const labels = { app: 'x' }
const deployment = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'x' }] } },
}
const of = (apiVersion: string, kind: string, fields: object, name = 'x') => ({
  apiVersion,
  kind,
  metadata: { name },
  ...fields,
})
const policyOf = (kind: string, fields: object) => of('policy.karmada.io/v1alpha1', kind, { spec: fields })
const binding = (name: string) => of('work.karmada.io/v1alpha2', 'ResourceBinding', { spec: { resource } }, name)
const WRITES = {
  'write a policy of the namespace': [
    'POST',
    `${POLICY}/namespaces/shop/propagationpolicies`,
    policyOf('PropagationPolicy', spec),
    {},
  ],
  'write an override of the namespace': [
    'POST',
    `${POLICY}/namespaces/shop/overridepolicies`,
    policyOf('OverridePolicy', {}),
    {},
  ],
  'write a template': [
    'POST',
    '/apis/apps/v1/namespaces/shop/deployments',
    { metadata: { name: 'x' }, spec: deployment },
    {},
  ],
  'read bindings': ['GET', `${WORK}/namespaces/shop/resourcebindings`, undefined, {}],
  'write a policy of another namespace': [
    'POST',
    `${POLICY}/namespaces/other/propagationpolicies`,
    policyOf('PropagationPolicy', spec),
    {},
  ],
  'write a policy of the cluster': [
    'POST',
    `${POLICY}/clusterpropagationpolicies`,
    policyOf('ClusterPropagationPolicy', spec),
    {},
  ],
  'write a binding': ['POST', `${WORK}/namespaces/shop/resourcebindings`, binding('x'), {}],
  'move a binding': [
    'PATCH',
    `${WORK}/namespaces/shop/resourcebindings/own`,
    { spec: { clusters: [{ name: 'a' }] } },
    merge,
  ],
  'delete a binding': ['DELETE', `${WORK}/namespaces/shop/resourcebindings/own`, undefined, {}],
  'write a cluster': [
    'POST',
    '/apis/cluster.karmada.io/v1alpha1/clusters',
    of('cluster.karmada.io/v1alpha1', 'Cluster', { spec: { syncMode: 'Pull' } }),
    {},
  ],
} as const
type Write = keyof typeof WRITES

const BINDINGS = { apiGroups: ['work.karmada.io'], resources: ['*'], verbs: ['*'] }
const ALL = Object.keys(WRITES) as Write[]
const EDITS = ALL.slice(0, 4)
const ALLOWED: Readonly<Record<string, readonly Write[]>> = {
  admin: ALL,
  [CONTROLLERS_USER]: ['read bindings', 'write a binding', 'delete a binding', 'write a cluster'],
  editor: EDITS,
  viewer: ['read bindings'],
  // The right to bindings alone does not decide where content runs.
  'binding-editor': ['read bindings', 'delete a binding'],
  stranger: [],
}

test('who may write the kinds of Karmada', async (t) => {
  const store = createMemoryStore()
  const kinds = [...HUB_KINDS, ...SERVED_TEMPLATE_KINDS]
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds, log: silentLogger })
  t.after(() => api.close())
  const { signal } = new AbortController()
  const clientAs = (user: string, groups: readonly string[]) =>
    createClient({
      clock: systemClock,
      transport: (request) => api.handle(request, { user, groups: [...groups] }, signal),
    })
  const client = clientAs('admin', ['system:masters'])
  const controllers = clientAs(CONTROLLERS_USER, ['system:authenticated'])
  await installDialects(['karmada'], { client, controllers, clock: systemClock, signal })
  const send = async (user: string, [method, path, body, headers]: readonly unknown[], dryRun = true) => {
    const groups = user === 'admin' ? ['system:masters'] : ['system:authenticated']
    const request = {
      method: method as string,
      path: `${path as string}${dryRun && method !== 'GET' ? '?dryRun=All' : ''}`,
      headers: { accept: 'application/json', ...(headers as Record<string, string>) },
      ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }),
    }
    const response = await api.handle(request, { user, groups }, signal)
    const text = fromUtf8(await readBody(response.body, 1 << 20))
    return { status: response.status, message: (JSON.parse(text) as { message?: string }).message ?? '' }
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (const name of ['shop', 'other'])
    await send('admin', ['POST', '/api/v1/namespaces', { metadata: { name } }, {}], false)
  const bind = (user: string, name: string) => ({
    metadata: { name: `${user}-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', name: user }],
  })
  const role = { metadata: { name: 'bindings' }, rules: [BINDINGS] }
  await send('admin', ['POST', `${rbac}/clusterroles`, role, {}], false)
  for (const [user, name] of [
    ['editor', 'edit'],
    ['viewer', 'view'],
    ['binding-editor', 'bindings'],
  ] as const) {
    const answer = await send('admin', ['POST', `${rbac}/namespaces/shop/rolebindings`, bind(user, name), {}], false)
    assert.equal(answer.status, 201, answer.message)
  }
  const own = binding('own')
  assert.equal((await send('admin', ['POST', `${WORK}/namespaces/shop/resourcebindings`, own, {}], false)).status, 201)
  // Roles and policies take a moment to be known.
  await new Promise((resolve) => setTimeout(resolve, 200))
  for (const [user, allowed] of Object.entries(ALLOWED)) {
    for (const [write, request] of Object.entries(WRITES)) {
      const { status, message } = await send(user, request)
      assert.equal(status < 300, allowed.includes(write as Write), `${user}: ${write}: ${status} ${message}`)
    }
  }
  const refused = await send('binding-editor', WRITES['move a binding'])
  assert.match(refused.message, /the hub writes resourcebindings\.work\.karmada\.io; change the PropagationPolicy/)
  for (const { group, version, kind, plural, scope } of REFUSED_KINDS) {
    const path = `/apis/${group}/${version}${scope === 'Namespaced' ? '/namespaces/shop' : ''}/${plural}`
    const { status, message } = await send('admin', ['POST', path, of(`${group}/${version}`, kind, { spec: {} }), {}])
    assert.equal(status, 422, message)
    assert.match(message, new RegExp(`${kind} of ${group} is not served: .{30}`), 'the reason, and what to use instead')
  }
})
