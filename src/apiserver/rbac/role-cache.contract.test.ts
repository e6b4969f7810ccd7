import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import { ClusterRole } from '../../kinds/builtin/rbac.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createRoleCache } from './role-cache.ts'

test('clusters of one process share their default rules, and no changed rules', async (t) => {
  const ports = { clock: systemClock, ids: systemIds, log: silentLogger }
  const begun = async (name: string) => {
    const store = createMemoryStore()
    const cluster = createEmbeddedCluster({ ...ports, name, store, isSmall: true })
    t.after(() => cluster.close())
    await cluster.client.list(Namespace)
    return { store, cluster }
  }
  const [one, other] = [await begun('one'), await begun('other')]
  const more = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
  const changed = await other.cluster.client.get(ClusterRole, { name: 'cluster-admin' })
  await other.cluster.client.update(ClusterRole, { ...changed, rules: [...changed.rules!, more] })
  const rulesIn = async ({ store }: typeof one, name: string) => {
    const cache = createRoleCache({ ...ports, store })
    await cache.load()
    return cache.clusterRole(name)?.rules
  }
  assert.ok((await rulesIn(one, 'view'))!.length > 3)
  assert.equal(await rulesIn(one, 'view'), await rulesIn(other, 'view'))
  const own = await rulesIn(other, 'cluster-admin')
  assert.deepEqual(own!.at(-1), more)
  assert.equal((await rulesIn(one, 'cluster-admin'))!.length, own!.length - 1)
})
