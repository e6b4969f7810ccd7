/**
 * Handovers on a real cluster: an API server with its garbage collector and workload controllers, and the marks that
 * the other systems leave.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import type { ResourceType, UnknownObject } from '../../../kinds/meta.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import { clusterOf, createOperatingAgent } from '../../../testing/agents/operating-agent.ts'
import type { OperatingAgent } from '../../../testing/agents/operating-agent.ts'
import { startControlPlane } from '../../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../../testing/control-plane/control-plane.ts'
import { createPeerKinds, PEER_FIXTURES, PEER_TYPES, peerObjects } from '../../../testing/fixtures/peer-systems.ts'
import type { PeerFixture } from '../../../testing/fixtures/peer-systems.ts'
import { configMap, deployment } from '../../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const PODS: ResourceType = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' }
const REPLICA_SETS: ResourceType = { ...PODS, group: 'apps', kind: 'ReplicaSet', plural: 'replicasets' }
const WEB = { namespace: 'default', name: 'web' }

describe('a handover on a real cluster', () => {
  let plane: ControlPlane
  let close: () => Promise<void>
  let client: ReturnType<typeof createClient>
  let transport: Awaited<ReturnType<typeof clusterOf>>['transport']
  let revision = 0

  before(async () => {
    plane = await startControlPlane({ controllers: true, nodes: 1 })
    const cluster = await clusterOf(plane.kubeconfigPath)
    ;({ transport, close } = cluster)
    client = createClient({ transport, clock: systemClock })
    await createPeerKinds(client)
  })
  after(async () => {
    await close()
    await plane.stop()
  })

  async function until(what: () => unknown, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = systemClock.monotonicMs() + 90_000
    while (!(await holds())) {
      if (systemClock.monotonicMs() > end) throw new Error(JSON.stringify(what()))
      await sleep(100)
    }
  }

  async function step(agent: OperatingAgent, fixture: PeerFixture, step: HandoverRule['step']) {
    revision += 1
    const since = `2026-11-16T08:00:00.${String(revision).padStart(3, '0')}Z`
    const handover = { from: fixture.name, step, acceptDifferences: false, since }
    const objects = [configMap('x', { a: '1' }), deployment('web')]
    await agent.assign({ [BUNDLE]: { generation: 1, objects } }, { rules: { handover } })
    const isDone = () => agent.handover()?.since === since && agent.handover()?.state === 'Complete'
    await until(() => [step, agent.handover(), agent.row(BUNDLE)], isDone)
    return agent.handover()!
  }

  async function get(kind: keyof typeof PEER_TYPES, name: string, namespace?: string) {
    const type: ResourceType = PEER_TYPES[kind]
    const key = type.scope === 'Cluster' ? { name } : { name, namespace: namespace ?? 'default' }
    return client.get(type, key).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
  }

  /** What a restart would change. */
  async function running(): Promise<unknown> {
    const select = { namespace: 'default', labelSelector: 'app=web' }
    const [web, sets, pods] = await Promise.all([
      client.get(Deployment, WEB),
      client.list(REPLICA_SETS, select),
      client.list(PODS, select),
    ])
    const uid = ({ metadata }: { metadata: { uid?: string } }) => metadata.uid
    return { web: web.metadata.uid, spec: web.spec, sets: sets.items.map(uid), pods: pods.items.map(uid) }
  }

  async function replicas({ controllers }: PeerFixture): Promise<(number | undefined)[]> {
    const found = await Promise.all(controllers.map(({ kind, name, namespace }) => get(kind, name, namespace)))
    return found.map((object) => (object?.['spec'] as { replicas?: number } | undefined)?.replicas)
  }

  /** An object that an untouched record owns: it goes with its record, so the garbage collector has been there. */
  async function control(type: ResourceType): Promise<() => Promise<boolean>> {
    const group = type.group === '' ? '' : `${type.group}/`
    const metadata = { name: 'owner', ...(type.scope === 'Cluster' ? {} : { namespace: 'default' }) }
    const owner: UnknownObject = { apiVersion: `${group}${type.version}`, kind: type.kind, metadata }
    const { uid } = (await client.create(type, owner)).metadata
    const ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name: 'owner', uid: uid! }]
    const owned = { ...configMap('owned'), metadata: { name: 'owned', namespace: 'default', ownerReferences } }
    await client.create<UnknownObject>(PEER_TYPES.ConfigMap, owned)
    return async () => {
      await client
        .delete(type, type.scope === 'Cluster' ? { name: 'owner' } : { ...WEB, name: 'owner' })
        .catch(() => {})
      return (await get('ConfigMap', 'owned')) === undefined
    }
  }

  // The garbage collector learns of new kinds every 30 s: the system with owner references comes last.
  for (const fixture of PEER_FIXTURES.toReversed()) {
    it(`from ${fixture.name}: no pod restarts, the way back works, and removing the other system deletes nothing`, async () => {
      // An owner that goes before the garbage collector knows its kind is noticed much later.
      if (fixture.name === 'ocm') await until(() => 'the new kind', await control(PEER_TYPES.AppliedManifestWork))
      await peerObjects(client, fixture, [configMap('x', { a: '1' }), deployment('web')])
      const isAvailable = async () => (await client.get(Deployment, WEB)).status?.availableReplicas === 1
      await until(() => 'web', isAvailable)
      const pods = await running()
      const agent = createOperatingAgent({ transport, clock: systemClock, ids: systemIds })
      agent.start()
      try {
        const compared = await step(agent, fixture, 'Compare')
        assert.deepEqual([compared.objects, compared.differing, compared.left], [2, 0, 0], JSON.stringify(compared))
        assert.deepEqual(new Set(await replicas(fixture)), new Set([1]))
        const untouched = JSON.stringify((await client.get(Deployment, WEB)).metadata)

        await step(agent, fixture, 'Take')
        assert.deepEqual(new Set(await replicas(fixture)), new Set([0]))
        assert.deepEqual(await running(), pods)

        await step(agent, fixture, 'Undo')
        assert.deepEqual(new Set(await replicas(fixture)), new Set([1]))
        const back = (await client.get(Deployment, WEB)).metadata
        const former = JSON.parse(untouched) as typeof back
        assert.deepEqual(
          [back.labels, back.ownerReferences, new Set(back.managedFields?.map(({ manager }) => manager))],
          [former.labels, former.ownerReferences, new Set(former.managedFields?.map(({ manager }) => manager))],
        )
        for (const { kind, name, namespace, finalizer } of fixture.records)
          assert.ok(!finalizer || (await get(kind, name, namespace))?.metadata.finalizers?.includes(finalizer), name)
        assert.deepEqual(await running(), pods)

        await step(agent, fixture, 'Compare')
        await step(agent, fixture, 'Take')
        // The records of the other system are removed now, while the way back would still be open.
        const isCollected = await control(
          fixture.name === 'ocm' ? PEER_TYPES.AppliedManifestWork : PEER_TYPES.ConfigMap,
        )
        for (const { kind, name, namespace } of fixture.records) {
          const type: ResourceType = PEER_TYPES[kind]
          await client.delete(type, type.scope === 'Cluster' ? { name } : { name, namespace: namespace! })
        }
        const areGone = async () => {
          const left = await Promise.all(fixture.records.map(({ kind, name, namespace }) => get(kind, name, namespace)))
          return left.every((record) => record === undefined)
        }
        await until(() => 'records', areGone)
        await until(() => 'garbage collection', isCollected)
        assert.ok(await get('ConfigMap', 'x'))
        assert.deepEqual(await running(), pods)

        await step(agent, fixture, 'Finish')
        const { labels = {}, annotations = {}, managedFields = [] } = (await client.get(Deployment, WEB)).metadata
        assert.deepEqual(
          fixture.marks.filter((mark) => mark in labels || mark in annotations),
          [],
        )
        assert.ok(!managedFields.some(({ manager }) => manager === fixture.manager))
        assert.deepEqual(await running(), pods)
      } finally {
        await agent.stop()
        await client.delete(Deployment, WEB, { propagationPolicy: 'Foreground' })
        await client.delete(PEER_TYPES.ConfigMap, { namespace: 'default', name: 'x' })
        const isEmpty = async () => {
          const { items } = await client.list(PODS, { namespace: 'default', labelSelector: 'app=web' })
          return items.length === 0 && (await get('Deployment', 'web')) === undefined
        }
        await until(() => 'clean-up', isEmpty)
      }
    })
  }
})
