/** What an agent asks of its cluster for itself, and what its roles grant: all of it is used, and no more is needed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClusterState } from '../../agent/cluster/cluster-state.ts'
import type { Inventory } from '../../agent/cluster/inventory.ts'
import { readClaims } from '../../agent/report/claims.ts'
import { createEngineResults } from '../../agent/results/engine-results.ts'
import { createSecretStorage } from '../../agent/storage/secret-storage.ts'
import { AGENT_FILES, createMemoryStorage } from '../../agent/storage/storage.ts'
import { clientOver } from '../../client/create-client.ts'
import { createDiscovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Transport } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { KubeObject, UnknownObject } from '../../kinds/meta.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { ENGINE_KINDS, engineKind } from '../../testing/agents/engine-kinds.ts'
import { grantedRights, rightsNoter } from '../../testing/hub/used-rights.ts'
import type { UsedRights } from '../../testing/hub/used-rights.ts'
import { CrdResource } from '../home/kube-home.ts'
import { agentRbac } from './agent-rbac.ts'

const HOME = 'flotilla-agent'
const SIGNAL = new AbortController().signal
const CONSTRAINTS = /^(\w+) \w+\.constraints\.gatekeeper\.sh$/

interface RoleObject extends KubeObject {
  readonly rules?: readonly PolicyRule[]
}

/** The rights of the roles that a profile brings, without the rights for content. */
function ownRights(): Set<string> {
  const objects = agentRbac({ profile: 'namespaced', namespaces: ['shop'], home: HOME, account: HOME, labels: {} })
  const roles = (objects as RoleObject[]).filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
  return new Set(
    roles.flatMap(({ rules = [], metadata }) => [
      ...grantedRights(rules, metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`),
    ]),
  )
}

/** A kind that only has names, as the standards of cluster properties and claims define theirs. */
function declaredKind(group: string, kind: string, plural: string): UnknownObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1111' },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  }
}

test('an agent uses each right of its roles, and needs no other', async (t) => {
  const clock = createVirtualClock()
  const ids = createSeededIds('rights')
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
  t.after(() => cluster.close())
  const rights: UsedRights = { used: new Set(), denied: [] }
  const note = rightsNoter(rights, ({ namespace }) => (namespace === undefined ? '' : ` in ${namespace}`))
  const transport: Transport = async (request, signal) => {
    const answer = await cluster.transport(request, signal)
    note(request, answer.status)
    return answer
  }
  const namespaces = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' } as const
  await cluster.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } })
  for (const definition of [
    declaredKind('about.k8s.io', 'ClusterProperty', 'clusterproperties'),
    declaredKind('cluster.open-cluster-management.io', 'ClusterClaim', 'clusterclaims'),
    ...(Object.keys(ENGINE_KINDS) as (keyof typeof ENGINE_KINDS)[]).map(engineKind),
  ]) {
    await cluster.client.create(CrdResource, definition as never)
  }
  await clock.advance(60_000)
  const rest = createRest({ transport, clock, userAgent: 'flotilla-agent/test' })
  const [client, discovery] = [clientOver(rest), createDiscovery(rest)]

  // Inventories, the high-water mark, receipts and frozen values, through a restart.
  const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'map' }]
  const set = `sha256:${'0'.repeat(64)}` as const
  const inventory = (generation: number): Inventory => {
    return { bundle: 'shop/app', generation, epoch: 1, set, phase: 'Settled', objects }
  }
  for (let generation = 1; generation <= 2; generation++) {
    const state = createClusterState(client)
    await state.listInventories(SIGNAL)
    await state.readMark('c-1', SIGNAL)
    await state.writeInventory(inventory(generation))
    await state.writeMark('c-1', { epoch: 1, revision: generation, digest: set })
    await state.readReceipts(SIGNAL)
    await state.writeReceipts([])
    await state.readFrozen('shop/app', SIGNAL)
    await state.writeFrozen('shop/app', { key: 'k'.repeat(44), drawn: { generation } })
    if (generation === 1) continue
    await state.deleteInventory('shop/app')
    await state.deleteFrozen('shop/app')
  }
  const storage = createSecretStorage(client, 'identity', createMemoryStorage())
  for (const text of ['1', '2']) await storage.write(AGENT_FILES.identity, utf8(text))

  // Facts about the cluster, and results of policy engines.
  await readClaims({ client, discovery }, 'v1.36.0', SIGNAL)
  const stopping = new AbortController()
  const parts = { client, discovery, clock, ids, log: silentLogger, localLimits: {}, storage: createMemoryStorage() }
  const running = createEngineResults({ ...parts, onChange: () => {} }).run(stopping.signal)
  await clock.advance(120_000)
  stopping.abort()
  await clock.settle()
  await running

  // Discovery is open to each authenticated user.
  const used = [...rights.used].filter((right) => !/^\w+ \//.test(right))
  assert.deepEqual(
    [...new Set(used.map((right) => right.replace(CONSTRAINTS, '$1 *.constraints.gatekeeper.sh')))].sort(),
    [...ownRights()].sort(),
  )
  assert.deepEqual(rights.denied, [])
})
