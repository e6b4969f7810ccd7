import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { compact } from '../../../core/compact.ts'
import { ConfigMap, ServiceAccount } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Loose } from '../harness.ts'

/** Owners and namespaces: what goes with what, in which order. A real home needs its controller manager for these. */
export const OWNER_CASES: readonly ApiCase[] = [
  {
    title: 'background: dependents of several kinds go after their owner, those with another owner stay without it',
    async run(api) {
      const owner = await make(api, 'owner')
      const other = await make(api, 'other')
      await make(api, 'only', [owner])
      await make(api, 'both', [owner, other])
      await api.ok('POST', api.path(Gadget), gadget('of', {}, { ownerReferences: [refTo(owner)] }))
      const status = await remove(api, 'owner', 'Background')
      assert.equal(status.kind, 'Status')
      await gone(api, ConfigMap, 'only')
      await gone(api, Gadget, 'of')
      const both = await until(api, 'both', (map) => map.metadata.ownerReferences.length === 1)
      assert.equal(both.metadata.ownerReferences[0].uid, other.metadata.uid)
    },
  },
  {
    title: 'background is what happens without a word about it, through several generations',
    async run(api) {
      const first = await make(api, 'a')
      const second = await make(api, 'b', [first])
      const third = await make(api, 'c', [second])
      await make(api, 'd', [third])
      await api.ok('DELETE', api.path(ConfigMap, 'a'))
      await gone(api, ConfigMap, 'd')
      assert.equal((await api.send('GET', api.path(ConfigMap, 'b'))).status, 404)
    },
  },
  {
    title: 'foreground: the owner waits for dependents that block it, and only for those',
    async run(api) {
      const owner = await make(api, 'owner')
      const held = { finalizers: ['example.com/hold'] }
      await make(api, 'blocks', [owner], { block: true, metadata: held })
      await make(api, 'free', [owner], { metadata: held })
      const answer = await remove(api, 'owner', 'Foreground')
      assert.equal(answer.kind, 'ConfigMap')
      assert.deepEqual(answer.metadata.finalizers, ['foregroundDeletion'])
      assert.ok(answer.metadata.deletionTimestamp)
      await until(api, 'blocks', isDeleting)
      await until(api, 'free', isDeleting)
      assert.equal((await api.send('GET', api.path(ConfigMap, 'owner'))).status, 200)
      await release(api, 'blocks')
      await gone(api, ConfigMap, 'owner')
      assert.equal((await api.send('GET', api.path(ConfigMap, 'free'))).status, 200)
      await release(api, 'free')
      await gone(api, ConfigMap, 'free')
    },
  },
  {
    title: 'foreground without dependents still answers with the object, and it goes',
    async run(api) {
      await make(api, 'alone')
      assert.equal((await remove(api, 'alone', 'Foreground')).kind, 'ConfigMap')
      await gone(api, ConfigMap, 'alone')
    },
  },
  {
    title: 'foreground goes down the generations: the last one first',
    async run(api) {
      const owner = await make(api, 'a')
      const middle = await make(api, 'b', [owner], { block: true })
      await make(api, 'c', [middle], { block: true, metadata: { finalizers: ['example.com/hold'] } })
      await remove(api, 'a', 'Foreground')
      await until(api, 'c', isDeleting)
      const between = await until(api, 'b', isDeleting)
      assert.deepEqual(between.metadata.finalizers, ['foregroundDeletion'])
      await release(api, 'c')
      await gone(api, ConfigMap, 'a')
      assert.equal((await api.send('GET', api.path(ConfigMap, 'b'))).status, 404)
    },
  },
  {
    title: 'orphan: dependents stay and forget their owner',
    async run(api) {
      const owner = await make(api, 'owner')
      const other = await make(api, 'other')
      await make(api, 'x', [owner])
      await make(api, 'y', [owner, other])
      const answer = await remove(api, 'owner', 'Orphan')
      assert.deepEqual(answer.metadata.finalizers, ['orphan'])
      await gone(api, ConfigMap, 'owner')
      const left = await until(api, 'x', (map) => map.metadata.ownerReferences === undefined)
      assert.equal(left.metadata.deletionTimestamp, undefined)
      const shared = await api.ok('GET', api.path(ConfigMap, 'y'))
      assert.deepEqual(
        shared.metadata.ownerReferences.map(({ name }: Loose) => name),
        ['other'],
      )
    },
  },
  {
    title: 'a circle of owners goes, in the background and in the foreground',
    async run(api) {
      for (const [policy, names] of [
        ['Background', ['a', 'b', 'c']],
        ['Foreground', ['d', 'e', 'f']],
      ] as const) {
        const made: Loose[] = []
        for (const name of names) made.push(await make(api, name))
        for (const [index, name] of names.entries()) {
          const owner = made[(index + 2) % 3]
          await api.send('PATCH', api.path(ConfigMap, name), {
            body: { metadata: { ownerReferences: [refTo(owner, true)] } },
            contentType: 'application/merge-patch+json',
          })
        }
        await remove(api, names[0], policy)
        for (const name of names) await gone(api, ConfigMap, name)
      }
    },
  },
  {
    title: 'an owner that was never there, or is another one of the same name, is no owner',
    async run(api) {
      const owner = await make(api, 'owner')
      await make(api, 'x', [{ ...owner, metadata: { ...owner.metadata, uid: '00000000-0000-4000-8000-000000000000' } }])
      await gone(api, ConfigMap, 'x')
      assert.equal((await api.send('GET', api.path(ConfigMap, 'owner'))).status, 200)
    },
  },
  {
    title: 'deletecollection passes its propagation on',
    async run(api) {
      const owner = await make(api, 'owner', [], { metadata: { labels: { go: 'yes' } } })
      await make(api, 'x', [owner])
      const reply = await api.send('DELETE', `${api.path(ConfigMap)}?labelSelector=go%3Dyes`, {
        body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' },
      })
      assert.equal(reply.status, 200, reply.text)
      await gone(api, ConfigMap, 'owner')
      await until(api, 'x', (map) => map.metadata.ownerReferences === undefined)
    },
  },
  {
    title: 'a namespace goes after its contents; meanwhile nothing new may come',
    async run(api) {
      await make(api, 'held', [], { metadata: { finalizers: ['example.com/hold'] } })
      await make(api, 'plain')
      const path = `/api/v1/namespaces/${api.namespace}`
      const answer = await api.ok('DELETE', path)
      assert.equal(answer.status.phase, 'Terminating')
      assert.deepEqual(answer.spec.finalizers, ['kubernetes'])
      await gone(api, ConfigMap, 'plain')
      const refused = await api.send('POST', api.path(ConfigMap), { body: configMap('late') })
      assert.equal(refused.status, 403)
      assert.equal(refused.body.details.causes[0].reason, 'NamespaceTerminating')
      assert.match(refused.body.message, /unable to create new content in namespace .* because it is being terminated/)
      await release(api, 'held')
      await untilReply(api, path, (reply) => reply.status === 404)
    },
  },
  {
    title: 'pods are the first to leave a namespace, and everything else waits for them',
    async run(api) {
      const pods = `/api/v1/namespaces/${api.namespace}/pods`
      await make(api, 'waits')
      await api.ok('POST', pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'held', finalizers: ['example.com/hold'] },
        spec: { containers: [{ name: 'c', image: 'web:1' }] },
      })
      const path = `/api/v1/namespaces/${api.namespace}`
      await api.ok('DELETE', path)
      await untilReply(api, path, (reply) => reply.body.status.conditions !== undefined)
      await untilReply(api, `${pods}/held`, (reply) => isDeleting(reply.body))
      assert.ok(!isDeleting(await api.ok('GET', api.path(ConfigMap, 'waits'))))
      const free = { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' }
      assert.equal((await api.send('PATCH', `${pods}/held`, free)).status, 200)
      await untilReply(api, path, (reply) => reply.status === 404)
    },
  },
  {
    title: 'a namespace that is kept says by what',
    async run(api) {
      await make(api, 'held', [], { metadata: { finalizers: ['example.com/hold'] } })
      await api.ok('POST', api.path(Gadget), gadget('too', {}, { finalizers: ['example.com/hold', 'example.com/b'] }))
      const path = `/api/v1/namespaces/${api.namespace}`
      await api.ok('DELETE', path)
      const { body } = await untilReply(api, path, (reply) => reply.body.status.conditions !== undefined)
      const said = body.status.conditions.map((found: Loose) => [found.type, found.status, found.reason, found.message])
      assert.deepEqual(said, [
        ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
        [
          'NamespaceDeletionGroupVersionParsingFailure',
          'False',
          'ParsedGroupVersions',
          'All legacy kube types successfully parsed',
        ],
        [
          'NamespaceDeletionContentFailure',
          'False',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ],
        [
          'NamespaceContentRemaining',
          'True',
          'SomeResourcesRemain',
          'Some resources are remaining: configmaps. has 1 resource instances, gadgets.contract.flotilla.dev has 1 resource instances',
        ],
        [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          'Some content in the namespace has finalizers remaining: example.com/b in 1 resource instances, example.com/hold in 2 resource instances',
        ],
      ])
      assert.equal(body.status.phase, 'Terminating')
      await release(api, 'held')
      await release(api, 'too', Gadget)
      await untilReply(api, path, (reply) => reply.status === 404)
    },
  },
  {
    title: 'every namespace has its default service account and the root certificate, and gets them back',
    async run(api) {
      const account = api.path(ServiceAccount, 'default')
      const root = api.path(ConfigMap, 'kube-root-ca.crt')
      const first = await untilReply(api, account, ({ status }) => status === 200)
      const { body } = await untilReply(api, root, ({ status }) => status === 200)
      assert.match(body.data['ca.crt'], /^-----BEGIN CERTIFICATE-----\n/)
      assert.match(body.metadata.annotations['kubernetes.io/description'], /^Contains a CA bundle that can be used/)
      await api.ok('DELETE', account)
      const isNew = (reply: Loose) => reply.status === 200 && reply.body.metadata.uid !== first.body.metadata.uid
      await untilReply(api, account, isNew)
      await api.ok('PUT', root, { ...body, data: { 'ca.crt': 'mine' } })
      await untilReply(api, root, (reply) => reply.body.data['ca.crt'] === body.data['ca.crt'])
    },
  },
  {
    title: 'spec.finalizers of a namespace change through /finalize only, and hold it',
    async run(api) {
      const path = `/api/v1/namespaces/${api.namespace}`
      const space = await api.ok('GET', path)
      assert.deepEqual(space.spec.finalizers, ['kubernetes'])
      const finalizers = ['kubernetes', 'example.com/mine']
      const ignored = await api.ok('PUT', path, { ...space, spec: { finalizers } })
      assert.deepEqual(ignored.spec.finalizers, ['kubernetes'])
      const taken = await api.ok('PUT', `${path}/finalize`, { ...ignored, spec: { finalizers } })
      assert.deepEqual(taken.spec.finalizers, finalizers)
      await api.ok('DELETE', path)
      const waiting = await untilReply(api, path, ({ body }) => body.spec.finalizers.length === 1)
      assert.deepEqual(waiting.body.spec.finalizers, ['example.com/mine'])
      assert.equal(waiting.body.status.phase, 'Terminating')
      await api.ok('PUT', `${path}/finalize`, { ...waiting.body, spec: {}, metadata: { name: api.namespace } })
      await untilReply(api, path, (reply) => reply.status === 404)
    },
  },
  {
    title: 'default cannot be deleted',
    async run(api) {
      const reply = await api.send('DELETE', '/api/v1/namespaces/default')
      assert.equal(reply.status, 403)
      assert.equal(reply.body.message, 'namespaces "default" is forbidden: this namespace may not be deleted')
    },
  },
]

interface Making {
  readonly block?: boolean
  readonly metadata?: object
}

async function make(api: Api, name: string, owners: readonly Loose[] = [], making: Making = {}): Promise<Loose> {
  const ownerReferences = owners.map((owner) => refTo(owner, making.block))
  return await api.ok('POST', api.path(ConfigMap), {
    ...configMap(name),
    metadata: { name, ...making.metadata, ...(owners.length > 0 ? { ownerReferences } : {}) },
  })
}

function refTo({ apiVersion, kind, metadata: { name, uid } }: Loose, blockOwnerDeletion?: boolean): object {
  return compact({ apiVersion, kind, name, uid, blockOwnerDeletion })
}

async function remove(api: Api, name: string, propagationPolicy: string): Promise<Loose> {
  return await api.ok('DELETE', api.path(ConfigMap, name), {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy,
  })
}

async function release(api: Api, name: string, kind: Kind = ConfigMap): Promise<void> {
  const reply = await api.send('PATCH', api.path(kind, name), {
    body: { metadata: { finalizers: null } },
    contentType: 'application/merge-patch+json',
  })
  assert.equal(reply.status, 200, reply.text)
}

function isDeleting(object: Loose): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

async function gone(api: Api, kind: Kind, name: string): Promise<void> {
  await untilReply(api, api.path(kind, name), ({ status }) => status === 404)
}

async function until(api: Api, name: string, isSo: (map: Loose) => boolean): Promise<Loose> {
  const path = api.path(ConfigMap, name)
  return (await untilReply(api, path, ({ status, body }) => status === 200 && isSo(body))).body
}

// The deadline only ends a case that would hang.
async function untilReply(api: Api, path: string, isSo: (reply: Loose) => boolean): Promise<Loose> {
  let reply: Loose
  for (let tries = 0; tries < 600; tries += 1) {
    reply = await api.send('GET', path)
    if (isSo(reply)) return reply
    await sleep(50)
  }
  assert.fail(`${path} never came to it: ${reply.text}`)
}
