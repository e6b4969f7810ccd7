import assert from 'node:assert/strict'
import {
  ACCEPT_BINDING,
  ACCEPT_POLICY,
  JOIN_TOKEN_BINDING,
  JOIN_TOKEN_POLICY,
  KEYS_BINDING,
  KEYS_POLICY,
  PUSH_BINDING,
  PUSH_POLICY,
} from '../../../kinds/policies/accept-policy.ts'
import { BIND_BINDING, BIND_POLICY } from '../../../kinds/policies/bind-policy.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { EXCEPTION_BINDING, EXCEPTION_POLICY } from '../../../kinds/policies/exception-policy.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { GATEWAY_BINDING, GATEWAY_POLICY } from '../../../kinds/policies/gateway-policy.ts'
import { REVEAL_BINDING, REVEAL_POLICY } from '../../../kinds/policies/reveal-policy.ts'
import type { Api, ApiCase, Reply } from '../harness.ts'
import { configMap } from '../harness.ts'

/** Admission policies: what they refuse, warn about and let through. */

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const POLICIES = `${GROUP}/validatingadmissionpolicies`
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`

/** An object or a part of one. */
export type Spec = Record<string, unknown>

/** A policy about the ConfigMaps of the case's namespace. */
function policy(api: Api, spec: Spec, name = api.namespace): Spec {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } },
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['configmaps'],
          },
        ],
      },
      ...spec,
    },
  }
}

function binding(api: Api, spec: Spec = {}, name = api.namespace): Spec {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...spec },
  }
}

/** Tries until it holds; policies and roles take a moment on a real server. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 20_000
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Gives a user of a name rules of its own; the answer replaces them. */
async function grantTo(
  api: Api,
  name: string,
  rules: readonly Spec[],
): Promise<(rules: readonly Spec[]) => Promise<void>> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } }
  await api.ok('POST', `${rbac}/clusterroles`, { ...role, rules })
  await api.ok('POST', `${rbac}/clusterrolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  })
  return async (next) => {
    await api.ok('PUT', `${rbac}/clusterroles/${name}`, { ...role, rules: next })
  }
}

/** Installs a policy, runs a check until it holds, and takes the policy away. */
export async function withPolicy(
  api: Api,
  installed: readonly [Spec, Spec],
  check: () => Promise<void>,
): Promise<void> {
  const name = String((installed[0]['metadata'] as Spec)['name'])
  await api.ok('POST', POLICIES, installed[0])
  await api.ok('POST', BINDINGS, installed[1])
  try {
    await eventually(check)
  } finally {
    await api.ok('DELETE', `${BINDINGS}/${name}`)
    await api.ok('DELETE', `${POLICIES}/${name}`)
  }
}

const create = (api: Api, data: Record<string, string>, name = 'cm'): Promise<Reply> =>
  api.send('POST', `/api/v1/namespaces/${api.namespace}/configmaps?dryRun=All`, { body: configMap(name, data) })

async function refused(api: Api, spec: Spec): Promise<string> {
  const reply = await api.send('POST', `${POLICIES}?dryRun=All`, { body: policy(api, spec) })
  assert.equal(reply.status, 422, reply.text)
  return String(reply.body.message).replace(/^.*? is invalid: /, '')
}

const denied = (api: Api, message: string) =>
  `ValidatingAdmissionPolicy '${api.namespace}' with binding '${api.namespace}' denied request: ${message}`

/** The cases. */
export const POLICY_CASES: readonly ApiCase[] = [
  {
    title: 'a policy refuses what its expressions do not allow, in its own words',
    async run(api) {
      const validations = [
        { expression: 'has(object.data.x)', message: 'need x' },
        { expression: `object.data.x == '1'`, messageExpression: `'x is ' + object.data.x`, reason: 'Forbidden' },
      ]
      await withPolicy(api, [policy(api, { validations }), binding(api)], async () => {
        const missing = await create(api, { y: '1' })
        assert.equal(missing.status, 422, missing.text)
        assert.deepEqual(missing.body, {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: `configmaps "cm" is forbidden: ${denied(api, 'need x')}`,
          reason: 'Invalid',
          details: { name: 'cm', kind: 'configmaps', causes: [{ message: denied(api, 'need x') }] },
          code: 422,
        })
        const wrong = await create(api, { x: '2' })
        assert.equal(wrong.status, 403)
        assert.equal(wrong.body.message, `configmaps "cm" is forbidden: ${denied(api, 'x is 2')}`)
        assert.equal((await create(api, { x: '1' })).status, 201)
      })
    },
  },
  {
    title: 'an expression that fails refuses, unless the policy ignores failures',
    async run(api) {
      const validations = [{ expression: `object.data.x == '1'` }]
      await withPolicy(api, [policy(api, { validations }), binding(api)], async () => {
        const reply = await create(api, {})
        assert.equal(reply.status, 422, reply.text)
        assert.match(reply.body.message, /expression 'object\.data\.x == "?'?1'?"?' resulted in error: no such key: /)
        const other = await create(api, { x: '2' })
        assert.equal(
          other.body.message,
          `configmaps "cm" is forbidden: ${denied(api, `failed expression: object.data.x == '1'`)}`,
        )
      })
      const ignoring = [
        policy(api, { failurePolicy: 'Ignore', validations }, `${api.namespace}-ignore`),
        binding(api, {}, `${api.namespace}-ignore`),
      ] as const
      await withPolicy(api, ignoring, async () => {
        assert.equal((await create(api, { x: '2' })).status, 422)
        assert.equal((await create(api, { y: '1' })).status, 201)
      })
    },
  },
  {
    title: 'a binding may only warn',
    async run(api) {
      const validations = [
        { expression: `object.data.x == '1'`, message: 'm1' },
        { expression: `object.data.y == '1'`, message: 'm2' },
      ]
      await withPolicy(
        api,
        [policy(api, { validations }), binding(api, { validationActions: ['Warn', 'Audit'] })],
        async () => {
          const reply = await create(api, { x: '2', y: '2' })
          assert.equal(reply.status, 201)
          const names = `Validation failed for ValidatingAdmissionPolicy '${api.namespace}' with binding '${api.namespace}'`
          assert.equal(reply.headers['warning'], `299 - "${names}: m1", 299 - "${names}: m2"`)
        },
      )
    },
  },
  {
    title: 'conditions, variables, the request, the old object and the namespace are there',
    async run(api) {
      const spec = {
        matchConditions: [{ name: 'not-free', expression: `!object.metadata.name.startsWith('free')` }],
        variables: [
          { name: 'limit', expression: `int(namespaceObject.metadata.labels['kubernetes.io/metadata.name'].size())` },
          { name: 'size', expression: `size(object.data)` },
        ],
        validations: [
          { expression: 'variables.size < variables.limit', message: 'too big' },
          {
            expression: `request.operation == 'CREATE' && request.resource.resource == 'configmaps' && oldObject == null`,
          },
          { expression: `request.namespace == '${api.namespace}' && request.userInfo.username != ''` },
          { expression: `object.data.stop != 'yes'`, message: 'stopped' },
        ],
      }
      await withPolicy(api, [policy(api, spec), binding(api)], async () => {
        const reply = await create(api, { stop: 'yes' })
        assert.equal(reply.body.message, `configmaps "cm" is forbidden: ${denied(api, 'stopped')}`)
        assert.equal((await create(api, { stop: 'no' })).status, 201)
        assert.equal((await create(api, { stop: 'yes' }, 'free')).status, 201)
      })
    },
  },
  {
    title: 'parameters come from the object a binding names',
    async run(api) {
      await api.ok('POST', `/api/v1/namespaces/${api.namespace}/configmaps`, configMap('limits', { x: '7' }))
      const spec = {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        validations: [{ expression: 'object.data.x == params.data.x', messageExpression: `'want ' + params.data.x` }],
      }
      const ref = { name: 'limits', namespace: api.namespace, parameterNotFoundAction: 'Deny' }
      await withPolicy(api, [policy(api, spec), binding(api, { paramRef: ref })], async () => {
        const reply = await create(api, { x: '1' })
        assert.equal(reply.body.message, `configmaps "cm" is forbidden: ${denied(api, 'want 7')}`)
        assert.equal((await create(api, { x: '7' })).status, 201)
      })
      const name = `${api.namespace}-missing`
      const missing = [policy(api, spec, name), binding(api, { paramRef: { ...ref, name: 'nope' } }, name)] as const
      await withPolicy(api, missing, async () => {
        const reply = await create(api, { x: '7' })
        assert.equal(reply.status, 422)
        assert.match(
          reply.body.message,
          /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
        )
      })
    },
  },
  {
    title: 'a policy that cannot be compiled is refused by name',
    async run(api) {
      const one = (validation: Spec) => refused(api, { validations: [validation] })
      assert.equal(
        await one({ expression: 'foo == 1' }),
        `spec.validations[0].expression: Invalid value: "foo == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^`,
      )
      assert.equal(
        await one({ expression: '1' }),
        'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
      )
      assert.equal(
        await one({ expression: 'object.zz' }),
        'spec.validations[0].expression: Invalid value: "object.zz": must evaluate to bool but got dyn',
      )
      assert.equal(
        await one({ expression: 'true', messageExpression: 'object.zz' }),
        'spec.validations[0].messageExpression: Invalid value: "object.zz": must evaluate to string but got dyn',
      )
      assert.equal(
        await one({ expression: 'null' }),
        'spec.validations[0].expression: Invalid value: "null": must evaluate to bool but got null_type',
      )
      assert.equal(
        await refused(api, { auditAnnotations: [{ key: 'a', valueExpression: 'true' }] }),
        'spec.auditAnnotations[0].valueExpression: Invalid value: "true": must evaluate to one of [string null_type] but got bool',
      )
      assert.equal(
        await one({ expression: '' }),
        'spec.validations[0].expression: Required value: expression is not specified',
      )
      assert.equal(
        await one({ expression: 'true', messageExpression: '1' }),
        'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      )
      assert.equal(
        await one({ expression: 'request.foo == 1' }),
        `spec.validations[0].expression: Invalid value: "request.foo == 1": compilation failed: ERROR: <input>:1:8: undefined field 'foo'\n | request.foo == 1\n | .......^`,
      )
      assert.equal(
        await refused(api, {
          variables: [{ name: 'a', expression: '1' }],
          validations: [{ expression: 'variables.zz == 1' }],
        }),
        `spec.validations[0].expression: Invalid value: "variables.zz == 1": compilation failed: ERROR: <input>:1:10: undefined field 'zz'\n | variables.zz == 1\n | .........^`,
      )
      assert.equal(
        await refused(api, { validations: [] }),
        '[spec.validations: Required value: validations or auditAnnotations must contain at least one item, spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]',
      )
      assert.equal(
        await refused(api, { failurePolicy: 'Foo', validations: [{ expression: 'true' }] }),
        'spec.failurePolicy: Unsupported value: "Foo": supported values: "Fail", "Ignore"',
      )
    },
  },
  {
    title: 'accepting a cluster needs the verb accept on it',
    async run(api) {
      const example = Cluster.examples[0]! as unknown as { spec: Spec }
      const cluster = (name: string, accepted: boolean) => ({
        ...example,
        metadata: { name },
        spec: { ...example.spec, accepted },
      })
      const ann = `ann-${api.namespace}`
      const rules = [{ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['get', 'create', 'update'] }]
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: ann }, rules }
      await api.ok('POST', `${rbac}/clusterroles`, role)
      await api.ok('POST', `${rbac}/clusterrolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: ann },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ann },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ann }],
      })
      const name = `c-${api.namespace}`
      const post = (accepted: boolean) =>
        api.send('POST', '/apis/flotilla.dev/v1alpha1/clusters?dryRun=All', {
          body: cluster(name, accepted),
          headers: { 'impersonate-user': ann },
        })
      const installed = [ACCEPT_POLICY, ACCEPT_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const reply = await post(true)
        assert.equal(reply.status, 403, reply.text)
        const policyName = ACCEPT_POLICY.metadata.name
        assert.equal(
          reply.body.message,
          `clusters.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${ann} may not accept ${name}: it needs the verb accept on clusters.flotilla.dev`,
        )
        assert.equal((await post(false)).status, 201)
        const able = [{ ...rules[0]!, verbs: [...rules[0]!.verbs, 'accept'] }]
        await api.ok('PUT', `${rbac}/clusterroles/${ann}`, { ...role, rules: able })
        await eventually(async () => assert.equal((await post(true)).status, 201))
      })
    },
  },
  {
    title: 'the gateway changes the sealing key of a cluster and no other field',
    async run(api) {
      const name = `gw-${api.namespace}`
      const gateway = 'system:flotilla:gateway'
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      await api.ok('POST', `${rbac}/clusterroles`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        rules: [{ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['get', 'patch'] }],
      })
      await api.ok('POST', `${rbac}/clusterrolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: ['ann', gateway].map((user) => ({
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'User',
          name: user,
        })),
      })
      const clusters = '/apis/flotilla.dev/v1alpha1/clusters'
      const example = Cluster.examples[0]! as unknown as { spec: Spec }
      const spec = { ...example.spec, values: { a: { b: [1, 'x'] } }, limits: { maxPrune: 3 } }
      await api.ok('POST', clusters, { ...example, metadata: { name, labels: { region: 'eu' } }, spec })
      const patch = (body: Spec, user = gateway) =>
        api.send('PATCH', `${clusters}/${name}?dryRun=All`, {
          body,
          contentType: 'application/merge-patch+json',
          headers: { 'impersonate-user': user },
        })
      const sealingKey = String(example.spec['sealingKey']).replace('3p7b', '3p7c')
      const installed = [GATEWAY_POLICY, GATEWAY_BINDING] as unknown as readonly [Spec, Spec]
      try {
        await withPolicy(api, installed, async () => {
          const reply = await patch({ spec: { sealingKey, accepted: false } })
          assert.equal(reply.status, 403, reply.text)
          const policyName = GATEWAY_POLICY.metadata.name
          assert.equal(
            reply.body.message,
            `clusters.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${gateway} may change spec.sealingKey of ${name} and no other field`,
          )
          const accepted = await patch({ spec: { sealingKey } })
          assert.equal(accepted.status, 200, accepted.text)
          for (const metadata of [{ labels: { region: 'us' } }, { labels: null }, { finalizers: ['example.com/x'] }]) {
            assert.equal((await patch({ metadata })).status, 403)
          }
          assert.equal((await patch({ spec: { identityKey: sealingKey } })).status, 422)
          for (const field of [{ values: { a: { b: [1] } } }, { limits: null }]) {
            assert.equal((await patch({ spec: field })).status, 403)
          }
          assert.equal((await patch({ metadata: { labels: { region: 'us' } } }, 'ann')).status, 200)
        })
      } finally {
        await api.ok('DELETE', `${clusters}/${name}`)
      }
    },
  },
  {
    title: 'the sealing keys of a cluster change with the verb accept, its identity key never',
    async run(api) {
      const name = `keys-${api.namespace}`
      const rules = [{ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['get', 'update', 'patch'] }]
      const grant = await grantTo(api, name, rules)
      const clusters = '/apis/flotilla.dev/v1alpha1/clusters'
      const example = Cluster.examples[0]! as unknown as { spec: Spec }
      await api.ok('POST', clusters, { ...example, metadata: { name }, spec: { ...example.spec, accepted: true } })
      const patch = (body: Spec, user = name) =>
        api.send('PATCH', `${clusters}/${name}?dryRun=All`, {
          body,
          contentType: 'application/merge-patch+json',
          headers: { 'impersonate-user': user },
        })
      const other = String(example.spec['sealingKey']).replace('3p7b', '3p7c')
      const retiredSealingKey = { key: example.spec['sealingKey'], at: '2030-01-01T00:00:00Z' }
      const installed = [KEYS_POLICY, KEYS_BINDING] as unknown as readonly [Spec, Spec]
      try {
        await withPolicy(api, installed, async () => {
          const reply = await patch({ spec: { sealingKey: other } })
          assert.equal(reply.status, 403, reply.text)
          const policyName = KEYS_POLICY.metadata.name
          assert.equal(
            reply.body.message,
            `clusters.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${name} may not change the keys of ${name}: it needs the verb accept on clusters.flotilla.dev`,
          )
          assert.equal((await patch({ spec: { retiredSealingKey } })).status, 403)
          const replaced = await patch({ spec: { identityKey: other } })
          assert.equal(replaced.status, 422, replaced.text)
          assert.match(
            String(replaced.body.message),
            /spec: Invalid value: .*identityKey is immutable without kubeconfigSecret/,
          )
          assert.equal((await patch({ metadata: { labels: { region: 'us' } } })).status, 200)
          await grant([{ ...rules[0]!, verbs: [...rules[0]!.verbs, 'accept'] }])
          await eventually(async () => assert.equal((await patch({ spec: { sealingKey: other } })).status, 200))
          assert.equal((await patch({ spec: { retiredSealingKey } })).status, 200)
          assert.equal((await patch({ spec: { identityKey: other } })).status, 422, 'not even then')
        })
      } finally {
        await api.ok('DELETE', `${clusters}/${name}`)
      }
    },
  },
  {
    title: 'who asks for values of drifted fields needs the verb reveal in the namespace of the bundle',
    async run(api) {
      const name = `asks-${api.namespace}`
      const mayWrite = { apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['get', 'create', 'patch'] }
      const mayReveal = { apiGroups: ['view.flotilla.dev'], resources: ['bundlestates'], verbs: ['reveal'] }
      const grant = await grantTo(api, name, [mayWrite])
      const clusters = '/apis/flotilla.dev/v1alpha1/clusters'
      const key = `MCowBQYDK2VuAyEA${'A'.repeat(43)}=`
      const asking = (bundle: string, at = '2026-01-01T00:00:00Z') => ({ valuesAsked: { at, bundle, key } })
      const keys = { id: 'c-1', identityKey: 'AAAA', sealingKey: 'AAAA' }
      const about = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Cluster', metadata: { name } }
      await api.ok('POST', clusters, { ...about, spec: { accepted: false, ...keys } })
      const headers = { 'impersonate-user': name }
      const patch = (body: Spec, query = '') =>
        api.send('PATCH', `${clusters}/${name}${query}`, { body, contentType: 'application/merge-patch+json', headers })
      try {
        await withPolicy(api, [REVEAL_POLICY as unknown as Spec, REVEAL_BINDING as unknown as Spec], async () => {
          // Until the policy is in force, a question must not be stored: the same question is allowed then.
          const reply = await patch({ spec: asking('shop/web') }, '?dryRun=All')
          assert.equal(reply.status, 403, reply.text)
          const policyName = REVEAL_POLICY.metadata.name
          assert.equal(
            reply.body.message,
            `clusters.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${name} may not ask for values of bundle shop/web: it needs the verb reveal on bundlestates.view.flotilla.dev in namespace shop`,
          )
          const made = await api.send('POST', `${clusters}?dryRun=All`, {
            headers,
            body: {
              ...about,
              metadata: { name: `${name}-2` },
              spec: { accepted: false, ...keys, ...asking('shop/web') },
            },
          })
          assert.equal(made.status, 403, made.text)
          assert.equal((await patch({ spec: { logsAskedAt: '2026-01-01T00:00:00Z' } })).status, 200)
          const named = { ...mayReveal, resourceNames: [`web.${name}`] }
          await grant([mayWrite, named])
          await eventually(async () => {
            const allowed = await patch({ spec: asking('shop/web') })
            assert.equal(allowed.status, 200, allowed.text)
          })
          assert.equal((await patch({ spec: asking('shop/other') })).status, 403, 'another bundle')
          assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 200, 'the question is the same')
          await grant([mayWrite])
          await eventually(async () =>
            assert.equal((await patch({ spec: asking('shop/web', '2026-01-01T00:00:01Z') })).status, 403),
          )
          assert.equal((await patch({ spec: { valuesAsked: null } })).status, 200, 'a question can be withdrawn')
        })
      } finally {
        await api.ok('DELETE', `${clusters}/${name}`)
      }
    },
  },
  {
    title: 'a cluster that names a kubeconfig needs the verb accept on it and the verb get on the Secret',
    async run(api) {
      const name = `push-${api.namespace}`
      const verbs = ['get', 'create', 'update', 'patch']
      const mayWrite = { apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs }
      const mayAccept = { ...mayWrite, verbs: [...verbs, 'accept'] }
      const mayRead = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get'] }
      const grant = await grantTo(api, name, [mayWrite, mayRead])
      const clusters = '/apis/flotilla.dev/v1alpha1/clusters'
      const about = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Cluster' }
      const post = (secret: string, user = name) =>
        api.send('POST', `${clusters}?dryRun=All`, {
          body: {
            ...about,
            metadata: { name },
            spec: { accepted: false, kubeconfigSecret: { namespace: api.namespace, name: secret } },
          },
          headers: { 'impersonate-user': user },
        })
      const patch = (spec: Spec, user = name) =>
        api.send('PATCH', `${clusters}/${name}?dryRun=All`, {
          body: { spec },
          contentType: 'application/merge-patch+json',
          headers: { 'impersonate-user': user },
        })
      const example = Cluster.examples[0]! as unknown as { spec: Spec }
      const installed = [PUSH_POLICY, PUSH_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const policyName = PUSH_POLICY.metadata.name
        const refused = `clusters.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${name}`
        assert.equal(
          (await post('mine')).body.message,
          `${refused} may not change the kubeconfigSecret of ${name}: it needs the verb accept on clusters.flotilla.dev`,
        )
        await grant([mayAccept, mayRead])
        await eventually(async () => assert.equal((await post('mine')).status, 201))
        assert.equal(
          (await post('theirs')).body.message,
          `${refused} may not name Secret ${api.namespace}/theirs: it needs the verb get on this Secret`,
        )
        await api.ok('POST', clusters, {
          ...about,
          metadata: { name },
          spec: { ...example.spec, kubeconfigSecret: { namespace: api.namespace, name: 'mine' } },
        })
        try {
          assert.equal((await patch({ kubeconfigSecret: { name: 'theirs' } })).status, 403)
          assert.equal((await patch({ kubeconfigSecret: { key: 'other' } })).status, 200)
          await grant([mayWrite, mayRead])
          await eventually(async () => assert.equal((await patch({ kubeconfigSecret: { key: 'other' } })).status, 403))
          assert.equal((await patch({ kubeconfigSecret: null })).status, 403, 'another agent could follow')
          assert.equal((await patch({ timeZone: 'Europe/Berlin' })).status, 200)
        } finally {
          await api.ok('DELETE', `${clusters}/${name}`)
        }
      })
    },
  },
  {
    title: 'a join token that accepts or labels clusters needs the verb accept on them',
    async run(api) {
      const name = `token-${api.namespace}`
      const rules = [{ apiGroups: ['flotilla.dev'], resources: ['jointokens'], verbs: ['create', 'update', 'patch'] }]
      const grant = await grantTo(api, name, rules)
      const tokens = '/apis/flotilla.dev/v1alpha1/jointokens'
      const { labels: _labels, accept: _accept, ...spec } = (JoinToken.examples[0]! as unknown as { spec: Spec }).spec
      const token = (change: Spec) => ({
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'JoinToken',
        metadata: { name },
        spec: { ...spec, clusterName: 'store-1', ...change },
      })
      const as = { 'impersonate-user': name }
      const contentType = 'application/merge-patch+json'
      const patch = (body: Spec) =>
        api.send('PATCH', `${tokens}/${name}?dryRun=All`, { body, contentType, headers: as })
      await api.ok('POST', tokens, token({}))
      const changes: Spec[] = [
        { accept: 'Auto' },
        { labels: { tier: 'store' } },
        { uses: 7 },
        { expiresAt: '2031-01-01T00:00:00Z' },
        { acceptRule: 'true' },
        { acceptNetworks: ['10.0.0.0/8'] },
        { networks: ['10.0.0.0/8'] },
        { clusterName: 'store-2' },
      ]
      const installed = [JOIN_TOKEN_POLICY, JOIN_TOKEN_BINDING] as unknown as readonly [Spec, Spec]
      const policyName = JOIN_TOKEN_POLICY.metadata.name
      const denied = `jointokens.flotilla.dev "${name}" is forbidden: ValidatingAdmissionPolicy '${policyName}' with binding '${policyName}' denied request: ${name} may not`
      const verb = 'it needs the verb accept on clusters.flotilla.dev'
      const other = { metadata: { name: `${name}-2` } }
      const post = (change: Spec) =>
        api.send('POST', `${tokens}?dryRun=All`, { body: { ...token(change), ...other }, headers: as })
      try {
        await withPolicy(api, installed, async () => {
          const reply = await post({ accept: 'Auto' })
          assert.equal(reply.status, 403, reply.text)
          assert.equal(
            reply.body.message,
            `${denied.replace(`"${name}"`, `"${name}-2"`)} create join token ${name}-2, which accepts or labels clusters: ${verb}`,
          )
          assert.equal((await post({ labels: { tier: 'store' } })).status, 403)
          for (const accept of ['Networks', 'Rule']) assert.equal((await post({ accept })).status, 403)
          assert.equal((await post({})).status, 201)
          for (const change of changes) {
            const changed = await patch({ spec: change })
            assert.equal(changed.status, 403, changed.text)
            assert.equal(changed.body.message, `${denied} change the terms of join token ${name}: ${verb}`)
          }
          assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 200)
          const accept = { apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['accept'] }
          await grant([...rules, { ...accept, resourceNames: ['store-1'] }])
          await eventually(async () => assert.equal((await post({ accept: 'Auto' })).status, 201))
          assert.equal((await post({ accept: 'Auto', clusterName: 'store-2' })).status, 403)
          assert.equal((await post({ accept: 'Rule', clusterName: undefined, namePattern: 'store-*' })).status, 403)
          await grant([...rules, accept])
          await eventually(async () =>
            assert.equal((await post({ accept: 'Rule', namePattern: 'store-*' })).status, 201),
          )
          for (const change of changes) assert.equal((await patch({ spec: change })).status, 200)
        })
      } finally {
        await api.ok('DELETE', `${tokens}/${name}`)
      }
    },
  },
  {
    title: 'binding a cluster set to a namespace needs the verb bind on that set',
    async run(api) {
      const { namespace } = api
      const ben = `ben-${namespace}`
      const rules = [{ apiGroups: ['flotilla.dev'], resources: ['clustersetbindings'], verbs: ['create'] }]
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: ben }, rules }
      await api.ok('POST', `${rbac}/clusterroles`, role)
      await api.ok('POST', `${rbac}/clusterrolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: ben },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ben },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ben }],
      })
      const post = (clusterSet: string) =>
        api.send('POST', `/apis/flotilla.dev/v1alpha1/namespaces/${namespace}/clustersetbindings?dryRun=All`, {
          body: {
            apiVersion: 'flotilla.dev/v1alpha1',
            kind: 'ClusterSetBinding',
            metadata: { name: clusterSet, namespace },
            spec: { clusterSet },
          },
          headers: { 'impersonate-user': ben },
        })
      const installed = [BIND_POLICY, BIND_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const reply = await post('stores')
        assert.equal(reply.status, 403, reply.text)
        assert.match(
          reply.body.message as string,
          new RegExp(`${ben} may not bind stores: it needs the verb bind on clustersets.flotilla.dev$`),
        )
        const may = {
          apiGroups: ['flotilla.dev'],
          resources: ['clustersets'],
          resourceNames: ['stores'],
          verbs: ['bind'],
        }
        await api.ok('PUT', `${rbac}/clusterroles/${ben}`, { ...role, rules: [...rules, may] })
        await eventually(async () => assert.equal((await post('stores')).status, 201))
        assert.equal((await post('labs')).status, 403, 'the verb is on one set, not on all')
      })
    },
  },
  {
    title: 'an exception of a window is used as oneself, as a group one is in, or as a role one has',
    async run(api) {
      const { namespace } = api
      const cleo = `cleo-${namespace}`
      const rules = [{ apiGroups: ['flotilla.dev'], resources: ['rollouts'], verbs: ['create', 'update'] }]
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: cleo }, rules }
      await api.ok('POST', `${rbac}/clusterroles`, role)
      await api.ok('POST', `${rbac}/clusterrolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: cleo },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: cleo },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: cleo }],
      })
      const rollouts = `/apis/flotilla.dev/v1alpha1/namespaces/${namespace}/rollouts`
      const rollout = (...exceptions: Spec[]) => ({
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'Rollout',
        metadata: { name: 'pos-g1', namespace },
        spec: { release: 'pos-g1', exceptions },
      })
      const as = { 'impersonate-user': cleo, 'impersonate-group': 'on-call' }
      const post = async (...exceptions: Spec[]) =>
        (await api.send('POST', `${rollouts}?dryRun=All`, { body: rollout(...exceptions), headers: as })).status
      const commander = { kind: 'Role', name: 'incident-commander' }
      const installed = [EXCEPTION_POLICY, EXCEPTION_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const reply = await api.send('POST', `${rollouts}?dryRun=All`, { body: rollout(commander), headers: as })
        assert.equal(reply.status, 403, reply.text)
        assert.match(reply.body.message as string, new RegExp(`${cleo} may not use an exception of pos-g1: it must be`))
        assert.equal(await post({ kind: 'User', name: cleo }), 201)
        assert.equal(await post({ kind: 'User', name: 'ana' }), 403)
        assert.equal(await post({ kind: 'Group', name: 'on-call' }), 201)
        assert.equal(await post({ kind: 'Group', name: 'on-call' }, { kind: 'Group', name: 'sre' }), 403)
        const made = await api.ok('POST', rollouts, rollout(commander))
        const paused = { ...made, spec: { ...(made['spec'] as Spec), paused: true } }
        const kept = await api.send('PUT', `${rollouts}/pos-g1?dryRun=All`, { body: paused, headers: as })
        assert.equal(kept.status, 200, "another author's exception stays when others write")
        await api.ok('DELETE', `${rollouts}/pos-g1`)
        const may = {
          apiGroups: ['flotilla.dev'],
          resources: ['exceptions'],
          resourceNames: ['incident-commander'],
          verbs: ['use'],
        }
        await api.ok('PUT', `${rbac}/clusterroles/${cleo}`, { ...role, rules: [...rules, may] })
        await eventually(async () => assert.equal(await post(commander), 201))
        assert.equal(await post({ ...commander, name: 'owner' }), 403, 'the verb is on one role, not on all')
      })
    },
  },
]
