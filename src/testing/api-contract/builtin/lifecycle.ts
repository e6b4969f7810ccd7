import assert from 'node:assert/strict'
import { BUILTIN_KINDS } from '../../../kinds/builtin/builtin-kinds.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Api, ApiCase, Loose } from '../harness.ts'
import { configMap, Gadget, gadget, ownersOf } from '../harness.ts'
import { BUILTIN_EXAMPLES } from './builtin-examples.ts'

/** What single kinds do otherwise than all others while they change and go. */

const MERGE = 'application/merge-patch+json'

/** Creates the example of a kind under the case's own name; answers its path and what was made. */
async function make(
  api: Api,
  apiVersion: string,
  kindName: string,
  labels: object = {},
): Promise<{ path: string; made: Loose }> {
  const kind = BUILTIN_KINDS.find((it) => apiVersionOf(it) === apiVersion && it.kind === kindName)!
  const example = BUILTIN_EXAMPLES.find(({ object }) => object.apiVersion === apiVersion && object.kind === kindName)!
  const name = example.object.metadata?.name ?? api.namespace
  const text = JSON.stringify({ ...example.object, metadata: { ...example.object.metadata, name, labels } })
  const path = api.path(kind)
  const made = await api.ok('POST', path, JSON.parse(text.replaceAll('NAMESPACE', api.namespace)))
  return { path: `${path}/${made.metadata.name}`, made }
}

const merge = async (api: Api, path: string, body: object): Promise<Loose> => {
  const reply = await api.send('PATCH', path, { body, contentType: MERGE })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const SHOWN = [
  ['v1', 'Pod'],
  ['v1', 'Service'],
  ['v1', 'ServiceAccount'],
  ['v1', 'PodTemplate'],
  ['v1', 'ResourceQuota'],
  ['resource.k8s.io/v1', 'ResourceClaim'],
  ['storage.k8s.io/v1', 'StorageClass'],
  ['storage.k8s.io/v1', 'CSIDriver'],
] as const

export const LIFECYCLE_CASES: readonly ApiCase[] = [
  {
    title: 'built-in kinds are selected by fields of their own, also where these say nothing',
    async run(api) {
      for (const [apiVersion, kind, selector] of [
        ['v1', 'Node', 'spec.unschedulable=false'],
        ['events.k8s.io/v1', 'Event', 'reportingController=example.dev/a'],
        ['events.k8s.io/v1', 'Event', 'regarding.fieldPath='],
        ['v1', 'Pod', 'spec.hostNetwork=false'],
        ['v1', 'Service', 'spec.type!=NodePort'],
        ['v1', 'ReplicationController', 'status.replicas=0'],
        ['batch/v1', 'Job', 'status.successful=0'],
      ] as const) {
        const { path, made } = await make(api, apiVersion, kind)
        const { name } = made.metadata
        const names = async (fields: string) => {
          const list = await api.ok(
            'GET',
            `${path.slice(0, -name.length - 1)}?fieldSelector=${encodeURIComponent(fields)}`,
          )
          return list.items.map(({ metadata }: Loose) => metadata.name)
        }
        assert.ok((await names(selector)).includes(name), selector)
        const other = selector.includes('!=') ? selector.replace('!=', '=') : selector.replace('=', '!=')
        assert.ok(!(await names(other)).includes(name), other)
        await api.ok('DELETE', `${path}?propagationPolicy=Background&gracePeriodSeconds=0`)
      }
    },
  },
  {
    title: 'nothing is required of a condition in the status of a built-in kind',
    async run(api) {
      for (const [apiVersion, kind] of [
        ['v1', 'Service'],
        ['apps/v1', 'Deployment'],
        ['v1', 'Node'],
      ] as const) {
        const { path } = await make(api, apiVersion, kind)
        const { status } = await merge(api, `${path}/status`, { status: { conditions: [{ message: 'x' }] } })
        assert.equal(status.conditions[0].message, 'x', kind)
        await api.ok('DELETE', path)
      }
    },
  },
  {
    title: 'an IPAddress is named by its address',
    async run(api) {
      const path = '/apis/networking.k8s.io/v1/ipaddresses'
      const parentRef = { group: '', resource: 'services', namespace: api.namespace, name: 'x' }
      const named = (name: string) =>
        api.send('POST', path, {
          body: { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', metadata: { name }, spec: { parentRef } },
        })
      for (const name of ['fe80::42:1dff:fe84:f9e2', '192.0.2.77']) {
        assert.equal((await named(name)).status, 201, name)
        await api.ok('DELETE', `${path}/${encodeURIComponent(name)}`)
      }
      assert.equal((await named('web')).status, 422)
    },
  },
  {
    title: 'the answer to a question is no table',
    async run(api) {
      const { status } = await api.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
        },
      })
      assert.equal(status, 406)
    },
  },
  {
    title: 'some kinds are shown once more when they are gone, of others a Status says so',
    async run(api) {
      for (const [apiVersion, kind] of SHOWN) {
        const { path, made } = await make(api, apiVersion, kind)
        const gone = await api.ok('DELETE', `${path}?gracePeriodSeconds=0`)
        assert.deepEqual([gone.kind, gone.metadata.uid], [kind, made.metadata.uid])
      }
      await api.ok('POST', `/api/v1/namespaces/${api.namespace}/configmaps`, configMap('a'))
      assert.equal((await api.ok('DELETE', `/api/v1/namespaces/${api.namespace}/configmaps/a`)).kind, 'Status')
    },
  },
  {
    title: 'a delete that expects another object says which',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      const path = api.path(Gadget, 'a')
      const refused = async (preconditions: object) => {
        const { status, body } = await api.send('DELETE', path, { body: { preconditions } })
        assert.equal(status, 409)
        assert.deepEqual(body.details, { name: 'a', group: 'contract.flotilla.dev', kind: 'Gadget' })
        return body.message as string
      }
      const head = 'Operation cannot be fulfilled on Gadget.contract.flotilla.dev "a": the'
      assert.equal(
        await refused({ uid: 'other' }),
        `${head} UID in the precondition (other) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
      )
      assert.equal(
        await refused({ resourceVersion: '1' }),
        `${head} ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${made.metadata.resourceVersion}). The object might have been modified`,
      )
    },
  },
  {
    title: 'a Job that is deleted without a word leaves its pods, and warns of it',
    async run(api) {
      const { path } = await make(api, 'batch/v1', 'Job')
      const reply = await api.send('DELETE', `${path}?dryRun=All`)
      assert.deepEqual(reply.body.metadata.finalizers, ['orphan'])
      assert.match(reply.headers['warning'] ?? '', /child pods are preserved by default when jobs are deleted/)
      const told = await api.send('DELETE', `${path}?propagationPolicy=Background`)
      assert.equal(told.body.kind, 'Status')
      assert.equal(told.headers['warning'], undefined)
      const controller = await make(api, 'v1', 'ReplicationController')
      assert.deepEqual((await api.ok('DELETE', `${controller.path}?dryRun=All`)).metadata.finalizers, ['orphan'])
    },
  },
  {
    title: 'the status of a VolumeAttachment and of a ServiceCIDR is written without their metadata',
    async run(api) {
      for (const [apiVersion, kind] of [
        ['storage.k8s.io/v1', 'VolumeAttachment'],
        ['networking.k8s.io/v1', 'ServiceCIDR'],
      ] as const) {
        const { path } = await make(api, apiVersion, kind)
        const after = await merge(api, `${path}/status`, { metadata: { labels: { late: 'yes' } } })
        assert.equal(after.metadata.labels?.late, undefined, kind)
        await api.ok('DELETE', path)
      }
    },
  },
  {
    title: 'the labels of an EndpointSlice are part of its content',
    async run(api) {
      const { path, made } = await make(api, 'discovery.k8s.io/v1', 'EndpointSlice')
      const annotated = await merge(api, path, { metadata: { annotations: { a: 'b' } } })
      assert.equal(annotated.metadata.generation, made.metadata.generation)
      const labelled = await merge(api, path, { metadata: { labels: { a: 'b' } } })
      assert.equal(labelled.metadata.generation, made.metadata.generation + 1)
    },
  },
  {
    title: 'a DaemonSet counts the changes of its template, and no write removes the count',
    async run(api) {
      const { path, made } = await make(api, 'apps/v1', 'DaemonSet')
      const count = ({ metadata }: Loose) => metadata.annotations['deprecated.daemonset.template.generation']
      assert.equal(count(made), '1')
      const template = { metadata: { labels: { more: 'yes' } } }
      assert.equal(count(await merge(api, path, { spec: { template } })), '2')
      assert.equal(count(await merge(api, path, { metadata: { annotations: null } })), '2')
      assert.equal(count(await merge(api, `${path}/status`, { metadata: { annotations: null } })), '2')
    },
  },
  {
    title: 'the author of a label on a certificate request owns it; no manager owns the request',
    async run(api) {
      const { path } = await make(api, 'certificates.k8s.io/v1', 'CertificateSigningRequest', { a: 'b' })
      const labelled = await merge(api, `${path}?fieldManager=ann`, { metadata: { labels: { c: 'd' } } })
      assert.deepEqual(
        ownersOf(labelled).map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
        [
          ['ann', { 'f:metadata': { 'f:labels': { 'f:c': {} } } }],
          ['contract', { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }],
        ],
      )
      await api.ok('DELETE', path)
    },
  },
  {
    title: 'what a class means stays what it was',
    async run(api) {
      for (const [apiVersion, kind, patch, words] of [
        ['scheduling.k8s.io/v1', 'PriorityClass', { value: 7 }, 'value: Forbidden: may not be changed in an update.'],
        [
          'scheduling.k8s.io/v1',
          'PriorityClass',
          { preemptionPolicy: 'Never' },
          'preemptionPolicy: Invalid value: "Never": field is immutable',
        ],
        [
          'storage.k8s.io/v1',
          'StorageClass',
          { provisioner: 'other', parameters: { other: 'x' } },
          '[parameters: Invalid value: {"other":"x"}: field is immutable, provisioner: Invalid value: "other": field is immutable]',
        ],
        [
          'storage.k8s.io/v1',
          'StorageClass',
          { reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' },
          '[reclaimPolicy: Invalid value: "Retain": field is immutable, volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable]',
        ],
        ['node.k8s.io/v1', 'RuntimeClass', { handler: 'other' }, 'handler: Invalid value: "other": field is immutable'],
        [
          'networking.k8s.io/v1',
          'IngressClass',
          { spec: { controller: 'example.com/other' } },
          'spec.controller: Invalid value: "example.com/other": field is immutable',
        ],
      ] as const) {
        const { path, made } = await make(api, apiVersion, kind)
        const { status, body } = await api.send('PATCH', path, { body: patch, contentType: MERGE })
        const { message } = body as { message: string }
        const { name } = made.metadata
        const group = apiVersion.replace('/v1', '')
        assert.deepEqual([status, message], [422, `${kind}.${group} "${name}" is invalid: ${words}`])
        await merge(api, path, { metadata: { labels: { still: 'changes' } } })
        await api.ok('DELETE', path)
      }
    },
  },
  {
    title: 'what a cluster cannot do without is there from the start, and mostly stays',
    async run(api) {
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
      for (const [name, value] of [
        ['system-node-critical', 2_000_001_000],
        ['system-cluster-critical', 2_000_000_000],
      ] as const) {
        const found = await api.ok('GET', `${classes}/${name}`)
        assert.deepEqual(
          [found.value, found.preemptionPolicy, found.metadata.generation],
          [value, 'PreemptLowerPriority', 1],
        )
        const { status, body } = await api.send('DELETE', `${classes}/${name}`)
        const why = 'this is a system priority class and cannot be deleted'
        const what = `priorityclasses.scheduling.k8s.io "${name}"`
        assert.deepEqual([status, body.message], [403, `${what} is forbidden: ${why}`])
      }
      const { spec, status } = await api.ok('GET', '/apis/networking.k8s.io/v1/servicecidrs/kubernetes')
      assert.equal(spec.cidrs.length, 1)
      const { lastTransitionTime: _time, ...ready } = status.conditions[0]
      assert.deepEqual(ready, {
        type: 'Ready',
        status: 'True',
        reason: '',
        message: 'Kubernetes default Service CIDR is ready',
      })
      assert.equal((await api.ok('GET', '/api/v1/namespaces/kube-node-lease')).status.phase, 'Active')
      assert.equal((await api.send('DELETE', '/api/v1/namespaces/kube-public?dryRun=All')).status, 403)
    },
  },
]
