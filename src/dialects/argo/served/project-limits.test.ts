import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { argoNameOf, serverOf, spellingsOf } from '../clusters/destinations.ts'
import { closedWindow, projectNotes, projectRefusal } from './project-limits.ts'

const ALIASES = ['prod', 'https://10.0.0.1:6443', 'local'].map((name) => ({ dialect: 'argo' as const, name }))
const CLUSTER = buildCluster('c1', { spec: { aliases: ALIASES } })

const DESTINATION = {
  name: argoNameOf(CLUSTER),
  server: serverOf(CLUSTER),
  spellings: spellingsOf(CLUSTER),
  namespace: 'shop',
}

function isAllowed(...destinations: readonly { readonly name?: string; readonly server?: string }[]): boolean {
  const spec = { sourceRepos: ['*'], destinations: destinations.map((one) => ({ ...one, namespace: '*' })) }
  const where = { destination: DESTINATION, namespace: 'argocd', argoNamespace: 'argocd' }
  return projectRefusal({ name: 'p', spec }, { source: { repoURL: 'https://x.example/a' } }, where) === undefined
}

const NAMES = ['prod', 'c1', 'in-cluster']
const SERVERS = ['https://10.0.0.1:6443', 'https://c1.clusters.flotilla.invalid', 'https://kubernetes.default.svc']

test('a project may allow a destination by each of its spellings', () => {
  for (const name of NAMES) assert.ok(isAllowed({ name }), name)
  for (const server of SERVERS) assert.ok(isAllowed({ server }), server)
  assert.ok(!isAllowed({ name: 'other' }))
  assert.ok(!isAllowed())
})

test('a deny of one spelling wins over all that is allowed', () => {
  for (const name of NAMES) assert.ok(!isAllowed({ name: '*', server: '*' }, { name: `!${name}` }), name)
  for (const server of SERVERS) assert.ok(!isAllowed({ name: '*', server: '*' }, { server: `!${server}` }), server)
  assert.ok(isAllowed({ name: '*', server: '*' }, { name: '!other' }))
})

test('a sync window may name the cluster by each of its spellings', () => {
  const isClosed = (cluster: string) => {
    const window = { kind: 'deny', schedule: '* * * * *', duration: '1h', clusters: [cluster] }
    const question = { atMs: Date.UTC(2026, 0, 1, 12, 30), isManual: false }
    return closedWindow({ syncWindows: [window] }, { name: 'app', destination: DESTINATION }, question) !== undefined
  }
  for (const cluster of [...NAMES, ...SERVERS]) assert.ok(isClosed(cluster), cluster)
  assert.ok(!isClosed('other'))
})

test('fields without an effect are said, and empty ones are not', () => {
  const spec = { sourceRepos: ['*'], roles: [{ name: 'ci' }], orphanedResources: {}, signatureKeys: [] }
  assert.deepEqual(projectNotes('shop', spec), [
    'roles of AppProject shop has no effect: use RBAC of the hub',
    'orphanedResources of AppProject shop has no effect: an agent lists only what it applied',
  ])
})
