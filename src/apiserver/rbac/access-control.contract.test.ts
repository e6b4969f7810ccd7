import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fromUtf8, generateKeyPair, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import type { Caller } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { GATEWAY_BINDING, GATEWAY_POLICY } from '../../kinds/policies/gateway-policy.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createApiServer } from '../server/api-server.ts'
import type { ApiServer } from '../server/api-server.ts'
import { storeKey, serializeObject } from '../storage/stored-object.ts'

/** What needs callers other than the administrator, or a clock that jumps. */
describe('who may do what', () => {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const admin: Caller = { user: 'admin', groups: ['system:masters', 'system:authenticated'] }
  const person = (user: string): Caller => ({ user, groups: ['system:authenticated'] })
  const anonymous: Caller = { user: 'system:anonymous', groups: ['system:unauthenticated'] }
  const gateway = person('system:flotilla:gateway')
  let server: ApiServer

  before(() => {
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const tokenKeys = [generateKeyPair('ed25519').privateKey] as const
    server = createApiServer({ store, kinds, clock, ids: systemIds, log: silentLogger, tokenKeys })
  })
  after(async () => {
    await server.close()
    await store.close()
  })

  interface Sent {
    readonly body?: unknown
    readonly headers?: Readonly<Record<string, string>>
  }

  async function send(caller: Caller, method: string, path: string, { body, headers = {} }: Sent = {}) {
    const request = { method, path, headers, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
    const response = await server.handle(request, caller, new AbortController().signal)
    const text = fromUtf8(await readBody(response.body, 1 << 24))
    return { status: response.status, headers: response.headers, body: JSON.parse(text) }
  }

  const may = async (user: string, attributes: object): Promise<boolean> => {
    const spec = { user, groups: ['system:authenticated'], resourceAttributes: attributes }
    return (await send(admin, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: { spec } })).body
      .status.allowed
  }

  it('the gateway has what it needs and nothing else', async () => {
    const needs = [
      ['list', 'clusters'],
      ['create', 'clusters'],
      ['patch', 'clusters'],
      ['accept', 'clusters'],
      ['patch', 'clusters', 'status'],
      ['get', 'jointokens'],
      ['update', 'jointokens', 'status'],
      ['watch', 'assignments'],
      ['get', 'clusterreports'],
      ['create', 'clusterreports'],
      ['update', 'clusterreports'],
      ['delete', 'clusterreports'],
    ] as const
    for (const [verb, resource, subresource] of needs) {
      assert.ok(await may(gateway.user, { verb, group: 'flotilla.dev', resource, subresource }), `${verb} ${resource}`)
    }
    const never = [
      ['delete', 'clusters'],
      ['update', 'clusters'],
      ['update', 'assignments'],
      ['create', 'jointokens'],
      ['get', 'bundles'],
    ] as const
    for (const [verb, resource] of never) {
      assert.equal(await may(gateway.user, { verb, group: 'flotilla.dev', resource }), false, `${verb} ${resource}`)
    }
    assert.equal(await may(gateway.user, { verb: 'get', resource: 'secrets', namespace: 'flotilla-system' }), false)
    const lease = { verb: 'update', group: 'coordination.k8s.io', resource: 'leases' }
    assert.equal(await may(gateway.user, { ...lease, namespace: 'flotilla-system' }), true)
    assert.equal(await may(gateway.user, { ...lease, namespace: 'default' }), false)
    assert.equal((await send(gateway, 'GET', '/apis/flotilla.dev/v1alpha1/clusters')).status, 200)
  })

  it('the gateway changes the sealing key of a cluster and no other field', async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1'
    await send(admin, 'POST', `${policies}/validatingadmissionpolicies`, { body: GATEWAY_POLICY })
    await send(admin, 'POST', `${policies}/validatingadmissionpolicybindings`, { body: GATEWAY_BINDING })
    await clock.settle()
    const clusters = '/apis/flotilla.dev/v1alpha1/clusters'
    const { spec } = Cluster.examples[0]! as unknown as Cluster
    const metadata = { name: 'store-1', labels: { region: 'eu' }, finalizers: ['example.com/keep'] }
    const full = { ...spec, joinToken: 'one', values: { a: { b: 1 } }, taints: [{ key: 'k', effect: 'NoSelect' }] }
    const typed = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Cluster' }
    const created = await send(admin, 'POST', clusters, { body: { ...typed, metadata, spec: full } })
    assert.equal(created.status, 201, created.body.message)
    const patch = (body: unknown, name = 'store-1', kind = 'merge-patch') =>
      send(gateway, 'PATCH', `${clusters}/${name}`, { body, headers: { 'content-type': `application/${kind}+json` } })
    const key = (letter: string) => ({ sealingKey: spec.sealingKey.replace('3p7b', `3p7${letter}`) })
    const taken = await patch({ spec: key('c') })
    assert.equal(taken.status, 200, taken.body.message)
    assert.equal(taken.body.spec.sealingKey, key('c').sealingKey)

    const others = [
      { metadata: { labels: { region: 'us' } } },
      { metadata: { labels: null } },
      { metadata: { annotations: { a: 'b' } } },
      { metadata: { finalizers: null } },
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] } },
      { spec: { accepted: false } },
      { spec: { refused: { verdict: 'Revoked', at: '2026-01-01T00:00:00Z' } } },
      { spec: { retiredSealingKey: { key: spec.sealingKey, at: '2026-01-01T00:00:00Z' } } },
      { spec: { joinToken: null } },
      { spec: { values: { a: { b: 2 } } } },
      { spec: { taints: [] } },
      { spec: { checkInSeconds: 60 } },
      { spec: { decommission: { policy: 'Remove', at: '2026-01-01T00:00:00Z' } } },
      { spec: { ...key('d'), siteClass: 'Edge' } },
    ]
    for (const body of others) {
      const refused = await patch(body)
      assert.equal(refused.status, 403, JSON.stringify(body))
      assert.match(
        refused.body.message,
        /denied request: system:flotilla:gateway may change spec.sealingKey of store-1 and no other field$/,
      )
    }
    const byOperations = await patch([{ op: 'remove', path: '/spec/taints' }], 'store-1', 'json-patch')
    assert.equal(byOperations.status, 403)
    const { body: stored } = await send(admin, 'GET', `${clusters}/store-1`)
    assert.deepEqual(
      [stored.metadata.labels, stored.metadata.finalizers, stored.spec],
      [metadata.labels, metadata.finalizers, { ...created.body.spec, ...key('c') }],
    )
    const label = await send(admin, 'PATCH', `${clusters}/store-1`, {
      body: others[0],
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    assert.equal(label.status, 200, 'the policy is about the gateway only')

    // An expression that does not fit the kind would be a warning here.
    const policy = `${policies}/validatingadmissionpolicies/${GATEWAY_POLICY.metadata.name}`
    assert.deepEqual((await send(admin, 'GET', policy)).body.status.typeChecking, {})

    // Stored by a release that did not know the fields with defaults yet.
    const old = { ...typed, metadata: { name: 'old' }, spec }
    await store.commit({ key: storeKey(Cluster, old.metadata), expect: 0, value: serializeObject(old) })
    assert.equal((await patch({ spec: key('c') }, 'old')).status, 200)
    assert.equal((await patch({ spec: { ...key('d'), checkInSeconds: 31 } }, 'old')).status, 403)
  })

  it('acting as others needs the verb for each of their parts', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1'
    const rules = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] }]
    await send(admin, 'POST', `${roles}/clusterroles`, { body: { metadata: { name: 'actor' }, rules } })
    await send(admin, 'POST', `${roles}/clusterrolebindings`, {
      body: {
        metadata: { name: 'actor' },
        roleRef: { kind: 'ClusterRole', name: 'actor' },
        subjects: [{ kind: 'User', name: 'eve' }],
      },
    })
    const whoami = (headers: Readonly<Record<string, string>>) =>
      send(person('eve'), 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: {}, headers })
    const bob = await whoami({ 'impersonate-user': 'bob' })
    assert.equal(bob.body.status.userInfo.username, 'bob')
    const alice = await whoami({ 'impersonate-user': 'alice' })
    assert.equal(alice.status, 403)
    assert.equal(
      alice.body.message,
      'users "alice" is forbidden: User "eve" cannot impersonate resource "users" in API group "" at the cluster scope',
    )
    const master = await whoami({ 'impersonate-user': 'bob', 'impersonate-group': 'dev, system:masters' })
    assert.equal(master.status, 403)
    assert.match(master.body.message, /^groups "dev" is forbidden: User "eve" cannot impersonate resource "groups"/)
    assert.equal((await whoami({ 'impersonate-user': 'bob', 'impersonate-uid': '1' })).status, 403)
    assert.equal((await whoami({ 'impersonate-user': 'bob', 'impersonate-extra-a': 'b' })).status, 403)
    const several = { 'impersonate-user': 'x', 'impersonate-group': 'b, a' }
    const order = await send(admin, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: {},
      headers: several,
    })
    assert.deepEqual(order.body.status.userInfo.groups, ['b', 'a', 'system:authenticated'])
  })

  it('the audit chain names who acted as whom', async () => {
    await send(admin, 'POST', '/api/v1/namespaces', {
      body: { metadata: { name: 'acted' } },
      headers: { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
    })
    const lines = (await store.audit(0, 1000)).map((record) => JSON.stringify(record))
    assert.ok(lines.some((line) => /bob/.test(line) && /impersonator/.test(line) && /acted/.test(line)))
  })

  it('a token speaks for its account until it is over; a certificate is not overruled by one', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await send(admin, 'POST', accounts, { body: { metadata: { name: 'robot' } } })
    const { token } = (await send(admin, 'POST', `${accounts}/robot/token`, { body: { spec: {} } })).body.status
    const whoami = async (caller: Caller, authorization: string) =>
      send(caller, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        body: {},
        headers: { authorization },
      })
    const robot = await whoami(anonymous, `Bearer ${token}`)
    assert.equal(robot.body.status.userInfo.username, 'system:serviceaccount:default:robot')
    assert.equal((await whoami(person('eve'), `Bearer ${token}`)).body.status.userInfo.username, 'eve')
    assert.equal((await whoami(anonymous, 'Bearer nonsense')).status, 401)
    await clock.advance(3_599_000)
    assert.equal((await whoami(anonymous, `Bearer ${token}`)).status, 201)
    await clock.advance(1000)
    assert.equal((await whoami(anonymous, `Bearer ${token}`)).status, 401)
    const { body } = await send(admin, 'POST', `${accounts}/robot/token`, { body: { spec: { audiences: ['vault'] } } })
    assert.equal((await whoami(anonymous, `Bearer ${body.status.token}`)).status, 401)
  })

  it('a new key signs while tokens of the old one go on, and others verify both with the published keys', async () => {
    const own = createMemoryStore()
    const [old, next] = [generateKeyPair('ed25519').privateKey, generateKeyPair('ed25519').privateKey]
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const ports = { store: own, kinds, clock, ids: systemIds, log: silentLogger }
    const ask = async (api: ApiServer, who: Caller | string, method: string, path: string) => {
      const headers: Record<string, string> = typeof who === 'string' ? { authorization: `Bearer ${who}` } : {}
      const caller = typeof who === 'string' ? anonymous : who
      const body = method === 'POST' ? utf8('{"metadata":{"name":"robot"}}') : undefined
      const request = { method, path, headers, ...(body && { body }) }
      const response = await api.handle(request, caller, new AbortController().signal)
      return { status: response.status, body: JSON.parse(fromUtf8(await readBody(response.body, 1 << 20))) }
    }
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    const tokenOf = async (api: ApiServer): Promise<string> =>
      (await ask(api, admin, 'POST', `${accounts}/robot/token`)).body.status.token
    const first = createApiServer({ ...ports, tokenKeys: [old] })
    assert.equal((await ask(first, admin, 'POST', accounts)).status, 201)
    const oldToken = await tokenOf(first)
    await first.close()

    const second = createApiServer({ ...ports, tokenKeys: [next, old] })
    const newToken = await tokenOf(second)
    const { body: metadata } = await ask(second, newToken, 'GET', '/.well-known/openid-configuration')
    assert.equal(metadata.issuer, 'https://kubernetes.default.svc')
    assert.equal(metadata.jwks_uri, `${metadata.issuer}/openid/v1/jwks`)
    assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['EdDSA'])
    const { body: published } = await ask(second, newToken, 'GET', '/openid/v1/jwks')
    assert.equal(published.keys.length, 2)
    for (const token of [oldToken, newToken]) {
      assert.equal((await ask(second, token, 'GET', '/api')).status, 200)
      const [header, claims, signature] = token.split('.') as [string, string, string]
      const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
      const jwk = published.keys.find((key: { kid: string }) => key.kid === kid)
      const key = createPublicKey({ key: jwk, format: 'jwk' })
      assert.ok(verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
    }
    assert.equal((await ask(second, person('eve'), 'GET', '/openid/v1/jwks')).status, 403)
    await second.close()

    const third = createApiServer({ ...ports, tokenKeys: [next] })
    assert.equal((await ask(third, oldToken, 'GET', '/api')).status, 401)
    assert.equal((await ask(third, newToken, 'GET', '/api')).status, 200)
    await third.close()
    await own.close()
  })

  it('what was taken from a role of the server is there again after a start', async () => {
    const at = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:flotilla:gateway'
    const { body } = await send(admin, 'GET', at)
    const mine = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }
    await send(admin, 'PUT', at, { body: { ...body, rules: [mine, ...body.rules.slice(1)] } })
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const again = createApiServer({ store, kinds, clock, ids: systemIds, log: silentLogger })
    const response = await again.handle({ method: 'GET', path: at, headers: {} }, admin, new AbortController().signal)
    const { rules } = JSON.parse(fromUtf8(await readBody(response.body, 1 << 20)))
    assert.deepEqual(rules[0], mine)
    assert.deepEqual(rules.at(-1), { ...body.rules[0], verbs: [...body.rules[0].verbs] })
    await again.close()
  })

  it('the gateway of a data directory of the first release may patch clusters after a start', async () => {
    const own = createMemoryStore()
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const started = () => createApiServer({ store: own, kinds, clock, ids: systemIds, log: silentLogger })
    const at = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:flotilla:gateway'
    const ask = async (api: ApiServer, method: string, path: string, body?: unknown) => {
      const request = { method, path, headers: {}, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
      const response = await api.handle(request, admin, new AbortController().signal)
      return JSON.parse(fromUtf8(await readBody(response.body, 1 << 20)))
    }
    const mayPatch = async (api: ApiServer): Promise<boolean> => {
      const resourceAttributes = { verb: 'patch', group: 'flotilla.dev', resource: 'clusters' }
      const spec = { user: gateway.user, groups: gateway.groups, resourceAttributes }
      return (await ask(api, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status.allowed
    }
    const first = started()
    const role = await ask(first, 'GET', at)
    const firstRelease = {
      verbs: ['get', 'list', 'watch', 'create', 'accept'],
      apiGroups: ['flotilla.dev'],
      resources: ['clusters'],
    }
    await ask(first, 'PUT', at, { ...role, rules: [firstRelease, ...role.rules.slice(1)] })
    await clock.settle()
    assert.equal(await mayPatch(first), false)
    await first.close()

    const second = started()
    assert.equal(await mayPatch(second), true)
    await second.close()
    await own.close()
  })

  it('the gateway loses the verbs of an older data directory that it does not use', async () => {
    const own = createMemoryStore()
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const started = () => createApiServer({ store: own, kinds, clock, ids: systemIds, log: silentLogger })
    const at = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:flotilla:gateway'
    const ask = async (api: ApiServer, method: string, body?: unknown) => {
      const request = { method, path: at, headers: {}, ...(body ? { body: utf8(JSON.stringify(body)) } : {}) }
      const response = await api.handle(request, admin, new AbortController().signal)
      return JSON.parse(fromUtf8(await readBody(response.body, 1 << 20)))
    }
    const first = started()
    const role = await ask(first, 'GET')
    const read = ['get', 'list', 'watch']
    const rule = (verbs: string[], resource: string) => ({
      verbs,
      apiGroups: ['flotilla.dev'],
      resources: [resource],
    })
    // The role as version 0.1.0 created it.
    const former = [
      rule([...read, 'create', 'accept'], 'clusters'),
      rule(['get', 'patch', 'update'], 'clusters/status'),
      rule(read, 'jointokens'),
      rule(['get', 'patch', 'update'], 'jointokens/status'),
      rule(read, 'assignments'),
      rule([...read, 'create', 'update', 'delete'], 'clusterreports'),
    ]
    await ask(first, 'PUT', { ...role, rules: former })
    await first.close()
    const second = started()
    const verbsOf = (rules: { verbs: string[]; resources: string[] }[]) =>
      rules.flatMap(({ verbs, resources }) => resources.map((name) => `${name}: ${verbs.toSorted().join(' ')}`)).sort()
    assert.deepEqual(verbsOf((await ask(second, 'GET')).rules), verbsOf(role.rules))
    await second.close()
    await own.close()
  })

  it('an editor changes Rollouts and neither creates nor deletes them, also in an older data directory', async () => {
    const own = createMemoryStore()
    const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
    const started = () => createApiServer({ store: own, kinds, clock, ids: systemIds, log: silentLogger })
    const roles = '/apis/rbac.authorization.k8s.io/v1'
    const ask = async (api: ApiServer, method: string, path: string, body?: unknown) => {
      const request = { method, path, headers: {}, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
      const response = await api.handle(request, admin, new AbortController().signal)
      return JSON.parse(fromUtf8(await readBody(response.body, 1 << 20)))
    }
    const allowed = async (api: ApiServer): Promise<string[]> => {
      const verbs: string[] = []
      for (const verb of ['create', 'delete', 'deletecollection', 'patch', 'update']) {
        const resourceAttributes = { verb, group: 'flotilla.dev', resource: 'rollouts', namespace: 'default' }
        const spec = { user: 'ed', resourceAttributes }
        const review = await ask(api, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })
        if (review.status.allowed) verbs.push(verb)
      }
      return verbs
    }
    const first = started()
    await ask(first, 'POST', `${roles}/namespaces/default/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'ed' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ed' }],
    })
    await clock.settle()
    assert.deepEqual(await allowed(first), ['patch', 'update'])
    const at = `${roles}/clusterroles/flotilla:aggregate-to-edit`
    const role = await ask(first, 'GET', at)
    const firstRelease = {
      verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      apiGroups: ['flotilla.dev'],
      resources: ['bundles', 'placements', 'rollouts'],
    }
    const mine = { verbs: ['create'], apiGroups: ['flotilla.dev'], resources: ['windows'] }
    await ask(first, 'PUT', at, { ...role, rules: [firstRelease, mine] })
    await clock.settle()
    assert.deepEqual(await allowed(first), ['create', 'delete', 'deletecollection', 'patch', 'update'])
    await first.close()

    const second = started()
    const { rules } = await ask(second, 'GET', at)
    assert.deepEqual(rules[0], mine, 'what a person added stays')
    await clock.settle()
    assert.deepEqual(await allowed(second), ['patch', 'update'])
    await second.close()
    await own.close()
  })

  it('one request too many of a class is told when to come back', async () => {
    const people = { seats: 1, waiting: 0 }
    const limits = { gateway: people, controllers: people, people }
    const narrow = createApiServer({ store, kinds: BUILTIN_KINDS, clock, ids: systemIds, log: silentLogger, limits })
    const get = (caller: Caller) =>
      narrow.handle({ method: 'GET', path: '/api/v1/namespaces', headers: {} }, caller, new AbortController().signal)
    const [first, second, other] = await Promise.all([get(admin), get(admin), get(gateway)])
    assert.deepEqual([first.status, second.status, other.status], [200, 429, 403])
    assert.equal(second.headers['retry-after'], '1')
    assert.equal((await get(admin)).status, 200)
    await narrow.close()
  })

  it('anonymous callers learn of health and no more', async () => {
    assert.equal((await send(anonymous, 'GET', '/version')).status, 200)
    const refused = await send(anonymous, 'GET', '/apis')
    assert.equal(refused.body.message, 'forbidden: User "system:anonymous" cannot get path "/apis"')
  })
})
