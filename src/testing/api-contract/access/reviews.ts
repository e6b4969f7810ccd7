import assert from 'node:assert/strict'
import { ServiceAccount } from '../../../kinds/builtin/core.ts'
import type { ApiCase, Loose } from '../harness.ts'
import { ACCESS, as, grant, IDENTITY, READ_MAPS, review, untilAllowed } from './rbac.ts'

/** Access and token reviews, service account tokens, and bodies of typed clients. */

/** The cases. */
export const REVIEW_CASES: readonly ApiCase[] = [
  {
    title: 'reviews of access: self, others, local, and their refusals',
    async run(api) {
      const self = await api.ok('POST', `${ACCESS}/selfsubjectaccessreviews`, {
        spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'x' } },
      })
      assert.equal(self.kind, 'SelfSubjectAccessReview')
      assert.deepEqual(self.status, { allowed: true })
      assert.deepEqual(await review(api, 'bob', { verb: 'get', resource: 'pods' }), { allowed: false })
      const open = await api.ok('POST', `${ACCESS}/subjectaccessreviews`, {
        spec: {
          user: 'bob',
          groups: ['system:authenticated'],
          nonResourceAttributes: { verb: 'get', path: '/openapi/v3' },
        },
      })
      assert.equal(
        open.status.reason,
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
      )
      const local = `${ACCESS}/namespaces/${api.namespace}/localsubjectaccessreviews`
      const here = { verb: 'get', resource: 'pods', namespace: api.namespace }
      assert.deepEqual((await api.ok('POST', local, { spec: { user: 'bob', resourceAttributes: here } })).status, {
        allowed: false,
      })
      const refusals: readonly (readonly [string, object, string])[] = [
        [
          `${ACCESS}/selfsubjectaccessreviews`,
          {},
          'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
        ],
        [
          `${ACCESS}/selfsubjectaccessreviews`,
          { resourceAttributes: { verb: 'get', resource: 'x' }, nonResourceAttributes: { verb: 'get', path: '/x' } },
          'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
        ],
        [
          `${ACCESS}/subjectaccessreviews`,
          { resourceAttributes: { verb: 'get', resource: 'pods' } },
          'spec.user: Invalid value: "": at least one of user or group must be specified',
        ],
        [
          local,
          { user: 'bob', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } },
          'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
        ],
      ]
      for (const [path, spec, said] of refusals) {
        const reply = await api.send('POST', path, { body: { spec } })
        assert.equal(reply.status, 422, reply.text)
        assert.equal(reply.body.message, `.authorization.k8s.io "" is invalid: ${said}`)
      }
      assert.equal((await api.send('GET', `${ACCESS}/selfsubjectaccessreviews`)).status, 405)
      assert.equal((await api.send('GET', `${ACCESS}/selfsubjectaccessreviews/x`)).status, 404)
    },
  },
  {
    title: 'a review of rules lists what the caller may do',
    async run(api) {
      const user = `rules-${api.namespace}`
      await grant(api, user, READ_MAPS)
      await untilAllowed(api, user, { verb: 'list', resource: 'configmaps' })
      const ask = (spec: object) =>
        api.send('POST', `${ACCESS}/selfsubjectrulesreviews`, { body: { spec }, headers: as(user) })
      const { status } = (await ask({ namespace: api.namespace })).body
      assert.equal(status.incomplete, false)
      assert.deepEqual(status.resourceRules.at(-1), READ_MAPS[0])
      assert.ok(status.nonResourceRules.some((rule: Loose) => rule.nonResourceURLs.includes('/api/*')))
      const nowhere = await ask({})
      assert.equal(nowhere.status, 400)
      assert.equal(nowhere.body.message, 'no namespace on request')
    },
  },
  {
    title: 'a token of a service account proves it, until the account or the bound object is gone',
    async run(api) {
      const { namespace } = api
      const account = await api.ok('POST', api.path(ServiceAccount), {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'robot' },
      })
      const secrets = `/api/v1/namespaces/${namespace}/secrets`
      await api.ok('POST', secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'anchor' } })
      const request = (spec: object) => api.ok('POST', api.path(ServiceAccount, 'robot', 'token'), { spec })
      const prove = async (token: string, audiences?: readonly string[]) =>
        (await api.ok('POST', `${IDENTITY}/tokenreviews`, { spec: { token, ...(audiences ? { audiences } : {}) } }))
          .status
      const plain = await request({})
      assert.equal(plain.kind, 'TokenRequest')
      assert.equal(plain.metadata.name, 'robot')
      assert.equal(plain.spec.expirationSeconds, 3600)
      const claims = JSON.parse(Buffer.from(plain.status.token.split('.')[1], 'base64url').toString())
      assert.equal(claims.sub, `system:serviceaccount:${namespace}:robot`)
      assert.deepEqual(claims['kubernetes.io'].serviceaccount, { name: 'robot', uid: account.metadata.uid })
      assert.equal(claims.exp - claims.iat, 3600)
      const proven = await prove(plain.status.token)
      assert.equal(proven.authenticated, true)
      assert.equal(proven.user.username, `system:serviceaccount:${namespace}:robot`)
      assert.equal(proven.user.uid, account.metadata.uid)
      assert.deepEqual(proven.user.groups, [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ])
      const other = await request({ audiences: ['vault'] })
      assert.equal((await prove(other.status.token)).authenticated ?? false, false)
      assert.deepEqual((await prove(other.status.token, ['vault'])).audiences, ['vault'])
      const bound = await request({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'anchor' } })
      assert.equal((await prove(bound.status.token)).authenticated, true)
      await api.ok('DELETE', `${secrets}/anchor`)
      await untilDead(() => prove(bound.status.token))
      assert.equal((await prove(plain.status.token)).authenticated, true)
      const [head, , signature] = plain.status.token.split('.')
      const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url')
      assert.equal((await prove(`${head}.${forged}.${signature}`)).authenticated ?? false, false)
      await api.ok('DELETE', api.path(ServiceAccount, 'robot'))
      await untilDead(() => prove(plain.status.token))
    },
  },
  {
    title: 'requests for tokens and reviews of them that cannot be',
    async run(api) {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
      await api.ok('POST', api.path(ServiceAccount), account)
      const at = api.path(ServiceAccount, 'robot', 'token')
      const short = await api.send('POST', at, { body: { spec: { expirationSeconds: 5 } } })
      assert.equal(short.status, 422)
      assert.equal(
        short.body.message,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      )
      const missing = await api.send('POST', api.path(ServiceAccount, 'missing', 'token'), { body: { spec: {} } })
      assert.equal(missing.body.message, 'serviceaccounts "missing" not found')
      const lost = { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'nope' } }
      assert.equal((await api.send('POST', at, { body: { spec: lost } })).body.message, 'secrets "nope" not found')
      const odd = { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'nope' } }
      const oddReply = await api.send('POST', at, { body: { spec: odd } })
      assert.equal(oddReply.status, 400)
      assert.equal(oddReply.body.message, 'cannot bind token to object of type /v1, Kind=ConfigMap')
      assert.equal((await api.send('GET', at)).status, 405)
      const { status } = await api.ok('POST', `${IDENTITY}/tokenreviews`, { spec: { token: 'abc' } })
      assert.deepEqual(status, { user: {}, error: 'invalid bearer token' })
      const empty = await api.send('POST', `${IDENTITY}/tokenreviews`, { body: { spec: {} } })
      assert.equal(empty.status, 400)
      assert.equal(empty.body.message, 'token is required for TokenReview in authentication')
    },
  },
  {
    title: 'the questions are discovered with the verb create alone',
    async run(api) {
      const { resources } = await api.ok('GET', ACCESS)
      const own = resources.find((resource: Loose) => resource.name === 'localsubjectaccessreviews')
      assert.deepEqual(own, {
        name: 'localsubjectaccessreviews',
        singularName: 'localsubjectaccessreview',
        namespaced: true,
        kind: 'LocalSubjectAccessReview',
        verbs: ['create'],
      })
      const core = await api.ok('GET', '/api/v1')
      assert.deepEqual(
        core.resources.find((resource: Loose) => resource.name === 'serviceaccounts/token'),
        {
          name: 'serviceaccounts/token',
          singularName: '',
          namespaced: true,
          group: 'authentication.k8s.io',
          version: 'v1',
          kind: 'TokenRequest',
          verbs: ['create'],
        },
      )
    },
  },
  {
    title: 'a body in protobuf is understood',
    async run(api) {
      const reply = await api.send('POST', `/api/v1/namespaces/${api.namespace}/configmaps`, {
        body: protobufConfigMap('typed', 'k', 'v'),
        contentType: 'application/vnd.kubernetes.protobuf',
      })
      assert.equal(reply.status, 201, reply.text)
      const read = await api.ok('GET', `/api/v1/namespaces/${api.namespace}/configmaps/typed`)
      assert.deepEqual(read.data, { k: 'v' })
      const broken = await api.send('POST', `/api/v1/namespaces/${api.namespace}/configmaps`, {
        body: protobufConfigMap('typed', 'k', 'v').subarray(0, 30),
        contentType: 'application/vnd.kubernetes.protobuf',
      })
      assert.equal(broken.status, 400, broken.text)
    },
  },
]

async function untilDead(prove: () => Promise<Loose>): Promise<void> {
  for (let tries = 0; (await prove()).authenticated === true; tries += 1) {
    // The real server remembers a proof for some seconds.
    assert.ok(tries < 300, 'the token still authenticates')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A field with bytes: the tag, the length, the bytes; all short. */
function bytesField(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([(number << 3) | 2, body.byteLength]), body])
}

/** A ConfigMap as Go's typed clients send it. */
export function protobufConfigMap(name: string, key: string, value: string): Uint8Array {
  const text = (number: number, content: string) => bytesField(number, Buffer.from(content))
  const raw = Buffer.concat([bytesField(1, text(1, name), text(2, '')), bytesField(2, text(1, key), text(2, value))])
  const type = bytesField(1, text(1, 'v1'), text(2, 'ConfigMap'))
  return Buffer.concat([Buffer.from('k8s\0'), type, bytesField(2, raw), text(3, ''), text(4, '')])
}
