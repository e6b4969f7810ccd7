import assert from 'node:assert/strict'
import type { Api, ApiCase, Loose } from '../harness.ts'
import { configMap } from '../harness.ts'

/**
 * What kubectl's own commands meet besides objects: approvals, selectors, bodies that are none, and documents for old
 * clients.
 */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const MERGE = 'application/merge-patch+json'

/** A request for the common name `contract`, made with openssl. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIT01IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SVkyOXVkSEpoWTNRd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBUWMxN3c2K3hFS2VkdnBmckFRMVZGalJ3WmgySmlaZlFkM0xwbnRPS1JLck1QVFFZOStNM0JzClNKTXZmOUI0TE1GMmRXM2Z4aFZzc29YYVFOYmJydndBb0FBd0NnWUlLb1pJemowRUF3SURTUUF3UmdJaEFKaUcKNUNUc1p0d09IOHRwMFRDTWZnc0FBNFBaWmJwUDBsZGpQMUk5bTZyTkFpRUEwREp6TlhuQlRwMWh2dld2clJsNQpvQ1RBTFMxT0lMN2pLbWFNRVNFTTQrOD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

const workload = (kind: string, selector: object, labels: object): Loose => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: {
    selector,
    ...(kind === 'StatefulSet' ? { serviceName: 'web' } : {}),
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } },
  },
})

const WORKLOADS = [
  ['Deployment', 'deployment'],
  ['ReplicaSet', 'deployment'],
  ['StatefulSet', 'statefulset'],
  ['DaemonSet', 'daemonset'],
] as const

/** Makes a definition of `things` and waits until old clients can read about it. */
async function swaggerOf(api: Api, schema: object): Promise<Loose> {
  const group = `${api.namespace}.example.com`
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }
  const names = { plural: 'things', kind: 'Thing' }
  await api.ok('POST', CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [version] },
  })
  const name = `com.example.${api.namespace}.v1.Thing`
  for (let tries = 0; tries < 200; tries += 1) {
    const { definitions } = await api.ok('GET', '/openapi/v2')
    if (definitions[name]) return definitions[name]
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail(`${name} did not appear`)
}

export const KUBECTL_CASES: readonly ApiCase[] = [
  {
    title: 'a body that is no JSON is refused in the words of its kind',
    async run(api) {
      const path = `/api/v1/namespaces/${api.namespace}/configmaps`
      for (const [method, where] of [
        ['POST', path],
        ['PUT', `${path}/x`],
      ] as const) {
        const { status, body } = await api.send(method, where, {
          body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n',
        })
        assert.equal(status, 400)
        assert.equal(
          body.message,
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value (61706956657273696f6e3a2076310a6b696e643a20436f6e6669674d6170 ...)",
        )
      }
    },
  },
  {
    title: 'a patch that makes text of labels is invalid, in every form',
    async run(api) {
      const path = `/api/v1/namespaces/${api.namespace}/configmaps`
      await api.ok('POST', path, configMap('x'))
      const body = { metadata: { labels: 'no' } }
      const send = (contentType: string, patch: unknown) => api.send('PATCH', `${path}/x`, { body: patch, contentType })
      const strategic = await send('application/strategic-merge-patch+json', body)
      assert.equal(strategic.status, 422)
      assert.match(
        strategic.body.message,
        /patch: Invalid value: "map\[metadata:map\[labels:no\]\]": cannot restore map from string/,
      )
      const operations = [{ op: 'add', path: '/metadata/labels', value: 'no' }]
      for (const reply of [await send(MERGE, body), await send('application/json-patch+json', operations)]) {
        assert.equal(reply.status, 422)
        const why =
          'json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string'
        assert.ok(reply.body.message.endsWith(why), reply.body.message)
      }
    },
  },
  ...WORKLOADS.map(([kind, name]): ApiCase => ({
    title: `the selector of a ${kind} matches its own template, is not empty and never changes`,
    async run(api) {
      const path = `/apis/apps/v1/namespaces/${api.namespace}/${kind.toLowerCase()}s`
      const labels = { a: 'b', more: 'x' }
      const refused = async (method: string, where: string, body: unknown): Promise<string> => {
        const reply = await api.send(method, where, { body })
        assert.equal(reply.status, 422, reply.text)
        return reply.body.message
      }
      assert.match(
        await refused('POST', path, workload(kind, { matchLabels: { a: 'c' } }, labels)),
        /spec\.template\.metadata\.labels: Invalid value: \{"a":"b","more":"x"\}: `selector` does not match template `labels`$/,
      )
      const empty = `spec.selector: Invalid value: {}: empty selector is invalid for ${name}`
      assert.ok((await refused('POST', path, workload(kind, {}, labels))).includes(empty))
      const created = await api.ok('POST', path, workload(kind, { matchLabels: { a: 'b' } }, labels))
      const other = { ...created, spec: { ...created.spec, selector: { matchLabels: { more: 'x' } } } }
      assert.match(
        await refused('PUT', `${path}/web`, other),
        kind === 'StatefulSet'
          ? /spec: Forbidden: updates to statefulset spec for fields other than 'replicas', .* and 'minReadySeconds' are forbidden$/
          : /spec\.selector: Invalid value: \{"matchLabels":\{"more":"x"\}\}: field is immutable$/,
      )
      await api.ok('PUT', `${path}/web`, { ...created, metadata: { ...created.metadata, labels } })
    },
  })),
  {
    title: 'a certificate request is approved once, at its own address, by who may approve for its signer',
    async run(api) {
      const name = `${api.namespace}-request`
      const spec = { signerName: 'example.com/contract', request: REQUEST, usages: ['client auth'] }
      const made = await api.send('POST', REQUESTS, {
        body: { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name }, spec },
      })
      assert.equal(made.status, 201, made.text)
      const approval = `${REQUESTS}/${name}/approval`
      const condition = { type: 'Approved', status: 'True', reason: 'Contract', message: 'yes' }
      const decide = (conditions: object[], headers: Record<string, string> = {}) =>
        api.send('PATCH', approval, { body: { status: { conditions } }, contentType: MERGE, headers })
      const asAnn = { 'impersonate-user': `ann-${api.namespace}` }
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const about = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } }
      const rules = [
        { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['patch'] },
      ]
      await api.ok('POST', `${rbac}/clusterroles`, { ...about, kind: 'ClusterRole', rules })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `ann-${api.namespace}` }]
      await api.ok('POST', `${rbac}/clusterrolebindings`, { ...about, kind: 'ClusterRoleBinding', roleRef, subjects })
      const why = 'user not permitted to approve requests with signerName "example.com/contract"'
      let refused = await decide([condition], asAnn)
      for (let tries = 0; !String(refused.body.message).includes(why) && tries < 50; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        refused = await decide([condition], asAnn)
      }
      assert.deepEqual([refused.status, String(refused.body.message).endsWith(why)], [403, true], refused.text)

      const approved = await decide([condition])
      assert.equal(approved.status, 200, approved.text)
      const [stored] = approved.body.status.conditions
      assert.deepEqual(
        { ...stored, lastUpdateTime: '', lastTransitionTime: '' },
        { ...condition, lastUpdateTime: '', lastTransitionTime: '' },
      )
      assert.match(stored.lastUpdateTime, /^\d{4}-/)
      assert.equal(approved.body.metadata.managedFields, undefined)
      const noted = await api.send('PATCH', `${REQUESTS}/${name}/approval`, {
        body: { metadata: { annotations: { noted: 'yes' } } },
        contentType: MERGE,
      })
      assert.deepEqual(noted.body.metadata.annotations, { noted: 'yes' })
      assert.match(
        (await decide([condition, { ...condition, type: 'Denied' }])).body.message,
        /status\.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive/,
      )
      assert.match(
        (await decide([])).body.message,
        /status\.conditions: Forbidden: updates may not remove a condition of type "Approved"/,
      )
      const main = await api.ok('GET', `${REQUESTS}/${name}`)
      assert.equal(main.status.conditions.length, 1)
      const { resources } = await api.ok('GET', '/apis/certificates.k8s.io/v1')
      const found = resources.find((it: Loose) => it.name === 'certificatesigningrequests/approval')
      assert.deepEqual(found?.verbs, ['get', 'patch', 'update'])
    },
  },
  {
    title: 'a schema may name fields and take others; old clients read nothing that would make them refuse',
    async run(api) {
      const text = { type: 'string' }
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: text } }
      const properties = {
        open: { ...open, description: 'takes anything' },
        nullable: { type: 'object', nullable: true, properties: { a: text } },
        list: { type: 'array', items: open },
        mixed: { type: 'object', properties: { a: text }, additionalProperties: true },
      }
      const shown = await swaggerOf(api, { type: 'object', properties })
      const anything = { 'x-kubernetes-preserve-unknown-fields': true }
      assert.deepEqual(
        { ...shown.properties, apiVersion: 0, kind: 0, metadata: 0 },
        {
          open: { ...anything, description: 'takes anything' },
          nullable: {},
          list: { type: 'array', items: anything },
          mixed: { type: 'object', properties: { a: text }, additionalProperties: true },
          apiVersion: 0,
          kind: 0,
          metadata: 0,
        },
      )
    },
  },
  {
    title: 'a kind that takes anything at its root has no fields for old clients',
    async run(api) {
      const schema = {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { a: { type: 'string' } },
      }
      const { 'x-kubernetes-group-version-kind': _kind, ...shown } = await swaggerOf(api, schema)
      assert.deepEqual(shown, { type: 'object' })
    },
  },
  {
    title: 'named fields and a schema for all others exclude each other',
    async run(api) {
      for (const additionalProperties of [false, { type: 'string' }]) {
        const spec = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties }
        const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
        const reply = await api.send('POST', CRDS, {
          body: {
            apiVersion: 'apiextensions.k8s.io/v1',
            kind: 'CustomResourceDefinition',
            metadata: { name: 'mixed.example.com' },
            spec: {
              group: 'example.com',
              scope: 'Namespaced',
              names: { plural: 'mixed', kind: 'Mixed' },
              versions: [{ name: 'v1', served: true, storage: true, schema }],
            },
          },
        })
        assert.equal(reply.status, 422)
        assert.match(
          reply.body.message,
          /properties\[spec\]\.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive/,
        )
      }
    },
  },
  {
    title: 'quantities of resources are read from numbers and texts, and written in one way',
    async run(api) {
      const pod = (limits: object) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'q' },
        spec: { containers: [{ name: 'c', image: 'x', resources: { limits } }] },
      })
      const path = `/api/v1/namespaces/${api.namespace}/pods?dryRun=All`
      const limits = { cpu: 0.1, memory: '2048Ki', 'ephemeral-storage': 1000 }
      const { spec } = await api.ok('POST', path, pod(limits))
      const shown = { cpu: '100m', memory: '2Mi', 'ephemeral-storage': '1k' }
      assert.deepEqual(spec.containers[0].resources, { limits: shown, requests: shown })
    },
  },
  {
    title: 'a version that is deprecated warns with every answer, and names a better one',
    async run(api) {
      const group = `${api.namespace}.example.com`
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      const version = (name: string, more: object) => ({ name, served: true, storage: name === 'v1', schema, ...more })
      const versions = [
        version('v1', {}),
        version('v1beta1', { deprecated: true }),
        version('v1alpha1', { deprecated: true, deprecationWarning: 'use something else' }),
        version('v2', { deprecated: true }),
      ]
      await api.ok('POST', CRDS, {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `olds.${group}` },
        spec: { group, scope: 'Namespaced', names: { plural: 'olds', kind: 'Old' }, versions },
      })
      const ask = (name: string, more = '') =>
        api.send('GET', `/apis/${group}/${name}/namespaces/${api.namespace}/olds${more}`)
      for (let tries = 0; (await ask('v1')).status !== 200 && tries < 100; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      const warningOf = async (name: string, more = '') => (await ask(name, more)).headers['warning']
      assert.equal(await warningOf('v1'), undefined)
      const words = `299 - "${group}/v1beta1 Old is deprecated; use ${group}/v1 Old"`
      assert.equal(await warningOf('v1beta1'), words)
      assert.equal(await warningOf('v1beta1', '/missing'), words)
      assert.equal(await warningOf('v1beta1', '?watch=true&timeoutSeconds=1'), words)
      assert.equal(await warningOf('v1alpha1'), '299 - "use something else"')
      assert.equal(await warningOf('v2'), `299 - "${group}/v2 Old is deprecated"`)
    },
  },
  {
    title: 'the API says where it is, beside its own Service',
    async run(api) {
      const endpoints = await api.ok('GET', '/api/v1/namespaces/default/endpoints/kubernetes')
      assert.deepEqual(endpoints.metadata.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' })
      const [{ addresses, ports }] = endpoints.subsets
      assert.deepEqual([addresses.length, ports.length, endpoints.subsets.length], [1, 1, 1])
      const { ip } = addresses[0]
      const { port } = ports[0]
      assert.deepEqual(ports, [{ name: 'https', port, protocol: 'TCP' }])
      const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
      const { items } = await api.ok('GET', `${slices}?labelSelector=kubernetes.io/service-name%3Dkubernetes`)
      assert.equal(items.length, 1)
      const { metadata, ...slice } = items[0]
      assert.deepEqual([metadata.name, metadata.generation], ['kubernetes', 1])
      assert.deepEqual(metadata.labels, { 'kubernetes.io/service-name': 'kubernetes' })
      const endpoint = { addresses: [ip], conditions: { ready: true } }
      assert.deepEqual(slice, { addressType: 'IPv4', endpoints: [endpoint], ports })
    },
  },
  {
    title: 'the API has its own Service, and says how it does in text',
    async run(api) {
      const { spec, metadata } = await api.ok('GET', '/api/v1/namespaces/default/services/kubernetes')
      assert.deepEqual(metadata.labels, { component: 'apiserver', provider: 'kubernetes' })
      assert.deepEqual([spec.type, spec.ports[0].port, spec.ports[0].name], ['ClusterIP', 443, 'https'])
      const { status, headers } = await api.send('GET', '/metrics', { accept: 'text/plain' })
      assert.deepEqual([status, headers['content-type']?.split(';')[0]], [200, 'text/plain'])
    },
  },
]
