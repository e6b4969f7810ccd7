import assert from 'node:assert/strict'
import { configMap, gadget, ownersOf } from '../harness.ts'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'
import { eventually } from './validating-policies.ts'
import type { Spec } from './validating-policies.ts'

/** MutatingAdmissionPolicies: what they change, and what they cannot. */

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const POLICIES = `${GROUP}/mutatingadmissionpolicies`
const BINDINGS = `${GROUP}/mutatingadmissionpolicybindings`

const apply = (expression: string): Spec => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string): Spec => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** A policy about everything that the case's namespace gets. */
function policy(api: Api, mutations: readonly Spec[], spec: Spec = {}, name = api.namespace): Spec {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } },
        resourceRules: [
          {
            apiGroups: ['', 'apps', 'contract.flotilla.dev'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps', 'deployments', 'gadgets'],
          },
        ],
      },
      reinvocationPolicy: 'Never',
      mutations,
      ...spec,
    },
  }
}

async function under(
  api: Api,
  policies: readonly Spec[],
  check: () => Promise<void>,
  binding: Spec = {},
): Promise<void> {
  const names = policies.map((one) => String((one['metadata'] as Spec)['name']))
  for (const [index, name] of names.entries()) {
    await api.ok('POST', POLICIES, policies[index])
    await api.ok('POST', BINDINGS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, ...binding },
    })
  }
  try {
    await eventually(check)
  } finally {
    for (const name of names) {
      await api.ok('DELETE', `${BINDINGS}/${name}`)
      await api.ok('DELETE', `${POLICIES}/${name}`)
    }
  }
}

const maps = ({ namespace }: Api): string => `/api/v1/namespaces/${namespace}/configmaps`

const create = (api: Api, data: Record<string, string> = { a: '1' }): Promise<Reply> =>
  api.send('POST', `${maps(api)}?dryRun=All`, { body: configMap('cm', data) })

async function refused(api: Api, mutations: readonly Spec[], spec: Spec = {}): Promise<string> {
  const { status, body } = await api.send('POST', `${POLICIES}?dryRun=All`, { body: policy(api, mutations, spec) })
  assert.equal(status, 422)
  return body.message
}

async function says(api: Api, name: string, mutations: readonly Spec[]): Promise<Loose> {
  let said: Loose
  const whole = `${api.namespace}-${name}`
  await under(api, [policy(api, mutations, {}, whole)], async () => {
    const { status, body } = await create(api)
    assert.ok(body.message?.includes(whole), body.message)
    said = [status, body.reason, body.message.replaceAll(whole, 'NAME')]
  })
  return said
}

export const MUTATION_CASES: readonly ApiCase[] = [
  {
    title: 'a mutating policy applies a configuration: its fields are set, the rest stays, and no manager owns them',
    async run(api) {
      const label =
        'Object{metadata: Object.metadata{labels: {"by": request.userInfo.username}}, data: {"b": object.data.a + "!"}}'
      await under(api, [policy(api, [apply(label)])], async () => {
        const { status, body } = await create(api)
        assert.equal(status, 201, body.message)
        assert.equal(body.data.b, '1!')
        assert.equal(body.data.a, '1')
        assert.equal(typeof body.metadata.labels.by, 'string')
        const [owner] = ownersOf(body)
        assert.deepEqual(owner?.fieldsV1, { 'f:data': { '.': {}, 'f:a': {} } })
      })
    },
  },
  {
    title: 'lists with keys are merged by them, and defaults are filled in afterwards',
    async run(api) {
      const expression = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: [Object.spec.template.spec.containers{name: "side", image: "side:1",
          ports: [Object.spec.template.spec.containers.ports{containerPort: 80}]}]}}}}`
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'web', image: 'web:1' }] },
          },
        },
      }
      await under(api, [policy(api, [apply(expression)])], async () => {
        const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments?dryRun=All`
        const { status, body } = await api.send('POST', path, { body: deployment })
        assert.equal(status, 201, body.message)
        const { containers } = body.spec.template.spec
        assert.deepEqual(
          containers.map(({ name }: Loose) => name),
          ['web', 'side'],
        )
        assert.equal(containers[1].imagePullPolicy, 'IfNotPresent')
        assert.equal(containers[1].ports[0].protocol, 'TCP')
      })
    },
  },
  {
    title: 'a mutating policy patches, with what variables, parameters and keys with slashes give',
    async run(api) {
      const gadgets = `/apis/contract.flotilla.dev/v1/namespaces/${api.namespace}/gadgets`
      await api.ok('POST', gadgets, gadget('params', { settings: { word: 'from-params' } }))
      const expression = `[
        JSONPatch{op: "test", path: "/data/a", value: "1"},
        JSONPatch{op: "add", path: "/metadata/annotations", value: {}},
        JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/x"), value: variables.word},
        JSONPatch{op: "copy", from: "/data/a", path: "/data/c"}
      ]`
      const spec = {
        paramKind: { apiVersion: 'contract.flotilla.dev/v1', kind: 'Gadget' },
        variables: [{ name: 'word', expression: 'params.spec.settings.word' }],
        matchConditions: [{ name: 'named', expression: 'object.metadata.name == "cm"' }],
      }
      const paramRef = { name: 'params', namespace: api.namespace, parameterNotFoundAction: 'Deny' }
      await under(
        api,
        [policy(api, [patch(expression)], spec)],
        async () => {
          const { status, body } = await create(api)
          assert.equal(status, 201, body.message)
          assert.deepEqual(body.metadata.annotations, { 'example.com/x': 'from-params' })
          assert.deepEqual(body.data, { a: '1', c: '1' })
          // A test that does not hold changes nothing.
          assert.deepEqual((await create(api, { a: '2' })).body.data, { a: '2' })
        },
        { paramRef },
      )
    },
  },
  {
    title: 'changes see those before them, and a policy that asks for it sees what others changed',
    async run(api) {
      const add = (key: string, value: string) => apply(`Object{data: {"${key}": ${value}}}`)
      const first = policy(
        api,
        [add('seen', 'has(object.data.late) ? "late" : "nothing"'), add('again', 'object.data.seen + "!"')],
        { reinvocationPolicy: 'IfNeeded' },
        `${api.namespace}-a`,
      )
      const second = policy(api, [add('late', '"yes"')], {}, `${api.namespace}-b`)
      await under(api, [first, second], async () => {
        const { body } = await create(api)
        assert.deepEqual(body.data, { a: '1', late: 'yes', seen: 'late', again: 'late!' })
      })
    },
  },
  {
    title: 'custom kinds are changed by their own lists and sets',
    async run(api) {
      const expression = 'Object{spec: Object.spec{words: ["b", "c"], size: 7}}'
      await under(api, [policy(api, [apply(expression)])], async () => {
        const path = `/apis/contract.flotilla.dev/v1/namespaces/${api.namespace}/gadgets?dryRun=All`
        const { status, body } = await api.send('POST', path, { body: gadget('g', { words: ['a', 'b'], size: 1 }) })
        assert.equal(status, 201, body.message)
        assert.deepEqual(body.spec, { mode: 'plain', size: 7, words: ['a', 'b', 'c'] })
      })
    },
  },
  {
    title: 'what a mutating policy cannot do refuses the write, unless it says to ignore that',
    async run(api) {
      const wrong = apply('Object{spec: Object.wrong{x: 1}}')
      assert.deepEqual(await says(api, 'a', [wrong]), [
        403,
        'Invalid',
        `policy 'NAME' with binding 'NAME' denied request: type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type`,
      ])
      assert.deepEqual(await says(api, 'b', [apply('Object{data: {"x": object.data.nothing}}')]), [
        403,
        'Invalid',
        `policy 'NAME' with binding 'NAME' denied request: expression 'Object{data: {"x": object.data.nothing}}' resulted in error: no such key: nothing`,
      ])
      const copies = Array.from({ length: 30 }, (_, n) => `JSONPatch{op: "copy", from: "/data", path: "/data/k${n}"}`)
      const [status, reason, message] = await says(api, 'c', [patch(`[${copies.join(', ')}]`)])
      assert.deepEqual([status, reason], [403, 'Invalid'])
      assert.match(message, /JSON Patch: .*the accumulated size increase of copy is \d+, exceeding the limit 3145728$/)
      const spec = { failurePolicy: 'Ignore' }
      const other = policy(api, [wrong], spec)
      const marks = policy(api, [apply('Object{data: {"m": "1"}}')], {}, `${api.namespace}-m`)
      await under(api, [other, marks], async () => {
        const { status, body } = await create(api)
        assert.deepEqual([status, body.data], [201, { a: '1', m: '1' }])
      })
    },
  },
  {
    title: 'what is wrong with a mutating policy is said when it is made',
    async run(api) {
      const fine = apply('Object{}')
      for (const [mutations, spec, part] of [
        [[], {}, 'spec.mutations: Required value: mutations must contain at least one item'],
        [[{}], {}, 'spec.mutations[0].patchType: Required value'],
        [
          [{ patchType: 'Other' }],
          {},
          'Unsupported value: "Other": supported values: "ApplyConfiguration", "JSONPatch"',
        ],
        [[{ patchType: 'JSONPatch' }], {}, 'must be specified when patchType is JSONPatch'],
        [
          [{ ...fine, jsonPatch: { expression: '[]' } }],
          {},
          'must not be specified when patchType is ApplyConfiguration',
        ],
        [[apply('1')], {}, 'spec.mutations[0].applyConfiguration.expression: Invalid value'],
        [[patch('[JSONPatch{nothing: 1}]')], {}, 'spec.mutations[0].jsonPatch.expression: Invalid value'],
        [[fine], { reinvocationPolicy: 'Always' }, 'supported values: "IfNeeded", "Never"'],
      ] as const) {
        const message = await refused(api, mutations as readonly Spec[], spec)
        assert.ok(message.includes(part), `${part}: ${message}`)
      }
    },
  },
  {
    title: 'a condition of a webhook that cannot be compiled is refused by name',
    async run(api) {
      for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']) {
        const webhook = (expression: string) => ({
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind,
          metadata: { name: api.namespace },
          webhooks: [
            {
              name: 'w.example.com',
              admissionReviewVersions: ['v1'],
              sideEffects: 'None',
              clientConfig: { url: 'https://example.com/hook' },
              rules: [],
              matchConditions: [{ name: 'one', expression }],
            },
          ],
        })
        const path = `${GROUP}/${kind.toLowerCase()}s?dryRun=All`
        const fine = await api.send('POST', path, { body: webhook('object.metadata.namespace == "x"') })
        assert.equal(fine.status, 201, fine.body.message)
        const { status, body } = await api.send('POST', path, { body: webhook('... [] bad expression') })
        assert.equal(status, 422)
        assert.equal(body.details.causes[0].field, 'webhooks[0].matchConditions[0].expression')
        assert.ok(body.message.includes('compilation failed'), body.message)
      }
    },
  },
]
