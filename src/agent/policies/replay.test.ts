import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { ClusterRefusal } from '../../plan/policy/policy-ports.ts'
import type { PolicyCluster } from '../../plan/policy/policy-ports.ts'
import type { PolicyAccess } from './policy-access.ts'
import { replay } from './replay.ts'

const never = new AbortController().signal
const TYPE: ResourceType = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' }
const made = (namespace: string, name: string): UnknownObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } }) // prettier-ignore

function fakeAccess() {
  const objects = new Map<string, UnknownObject>()
  const calls: string[] = []
  const access: PolicyAccess = {
    typeOf: async (_apiVersion, kind) => (kind === 'ConfigMap' ? TYPE : undefined),
    get: async (_type, namespace, name) => {
      calls.push(`get ${namespace}/${name}`)
      return objects.get(`${namespace}/${name}`)
    },
    list: async (_type, namespace, name) => {
      calls.push(`list ${namespace} ${name}`)
      return [...objects.values()].filter(
        ({ metadata }) =>
          (namespace === '' || metadata.namespace === namespace) && (name === '' || metadata.name === name),
      )
    },
    dryRunUpdate: async (_type, object) => object,
    update: async (_type, object) => object,
    create: async (_type, object) => {
      const { namespace = '', name } = object.metadata
      calls.push(`create ${namespace}/${name}`)
      if (name === 'refused') throw new ClusterRefusal('Invalid', 'no')
      objects.set(`${namespace}/${name}`, object)
      return object
    },
    remove: async () => true,
  }
  return { access, calls, objects }
}

const place = (cluster: PolicyCluster, namespace: string, name: string): string => {
  const resource = cluster.resourceOf('v1', 'ConfigMap')!
  if (cluster.get(resource, namespace, name)) return 'there'
  try {
    cluster.create(resource, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } })
  } catch (caught) {
    if (!(caught instanceof ClusterRefusal)) throw caught
    return caught.message
  }
  return cluster.get(resource, namespace, name) ? 'created' : 'lost'
}

test('each write is sent once, and a read after it sees it', async () => {
  const { access, calls } = fakeAccess()
  const { result, writes } = await replay(access, ({ cluster }) => [place(cluster, 'a', 'one'), place(cluster, 'a', 'two')], never) // prettier-ignore
  assert.deepEqual(result, ['created', 'created'])
  assert.equal(writes, 2)
  assert.deepEqual(
    calls.filter((call) => call.startsWith('create')),
    ['create a/one', 'create a/two'],
  )
})

test('a refused write is an answer, and counts as no repair', async () => {
  const { access, calls } = fakeAccess()
  const { result, writes } = await replay(access, ({ cluster }) => place(cluster, 'a', 'refused'), never)
  assert.equal(result, 'no')
  assert.equal(writes, 0)
  assert.equal(calls.filter((call) => call.startsWith('create')).length, 1)
})

test('an object of one name in many namespaces is read with few requests', async () => {
  const { access, calls, objects } = fakeAccess()
  const namespaces = Array.from({ length: 50 }, (_, index) => `ns-${index}`)
  for (const namespace of namespaces) objects.set(`${namespace}/quota`, made(namespace, 'quota'))
  const { result, reads } = await replay(access, ({ cluster }) => namespaces.map((namespace) => place(cluster, namespace, 'quota')), never) // prettier-ignore
  assert.deepEqual(new Set(result), new Set(['there']))
  assert.ok(calls.length <= 4, calls.join(', '))
  assert.equal(reads.length, namespaces.length)
})

test('a kind that the cluster does not serve is remembered as read, so that its arrival is noticed', async () => {
  const { access } = fakeAccess()
  const { result, reads } = await replay(access, ({ cluster }) => cluster.resourceOf('x/v1', 'Strange'), never)
  assert.equal(result, undefined)
  assert.deepEqual(reads, [{ apiVersion: 'x/v1', kind: 'Strange', namespace: '', name: '' }])
})
