/** flotilla status, as the users who type it, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { freezeList } from '../rollout/freeze.ts'
import { status } from './status.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t)
  const { client } = hub
  await ensureNamespace(client, 'retail')
  await client.create(Cluster, buildCluster('store-1'))
  const rings = [{ name: 'all', concurrency: 1 }]
  await client.create(Rollout, build(Rollout, 'retail/pos-g1', { spec: { release: 'pos-g1', rings, paused: false } }))
  const broken = await client.create(
    Bundle,
    build(Bundle, 'retail/pos', { spec: { placement: 'stores', manifests: 'x' } }),
  )
  const condition = {
    type: 'Ready',
    status: 'False' as const,
    reason: 'RenderFailed',
    message: 'Cannot render spec.manifests.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  await client.update(Bundle, { ...broken, status: { conditions: [condition] } }, { subresource: 'status' })
  for (const [user, role] of Object.entries({ vera: 'view', ed: 'edit' })) {
    await client.create(
      RoleBinding,
      build(RoleBinding, `retail/${user}`, {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      }),
    )
  }
  return hub
}

for (const user of ['vera', 'ed']) {
  test(`${user}, who sees one namespace, reads that namespace and what is hidden`, async (t) => {
    const { connectionOf, terminal, taken } = await started(t)
    const input = { connection: connectionOf(user), terminal }
    const refused = await expectErrorReport(status({ ...input, flags: {} }))
    assert.equal(refused.exitCode, 4)
    assert.match(refused.todo ?? '', /status -n NAMESPACE/)
    taken()
    await status({ ...input, flags: { namespace: 'retail' } })
    const { out } = taken()
    assert.match(out, /^Fleet {4}not shown: you may not list clusters$/m)
    assert.match(out, /^Rollout {2}retail\/pos-g1 /m)
    assert.match(
      out,
      /^Bundle {3}retail\/pos {3}RenderFailed {3}Cannot render spec\.manifests\.\n {9}flotilla events /m,
    )
    assert.match(out, /^Hidden {3}.*clusterwindows.*: you may not list them/m)
    assert.doesNotMatch(out, /0 clusters|cluster add/)
    await status({ ...input, flags: { namespace: 'retail', output: 'json' } })
    const summary = JSON.parse(taken().out) as { clusters?: unknown; refused: string[] }
    assert.equal(summary.clusters, undefined)
    assert.ok(summary.refused.includes('clusters'))
  })

  test(`${user}, who may not list freezes, is not told that there are none`, async (t) => {
    const { connectionOf, terminal } = await started(t)
    const input = { connection: connectionOf(user), terminal, flags: {}, confirm: async () => false }
    const refused = await expectErrorReport(freezeList(input))
    assert.deepEqual([refused.exitCode, refused.what], [4, 'not allowed to list clusterwindows and windows'])
  })
}

test('the administrator sees all of it', async (t) => {
  const { connection, terminal, taken } = await started(t)
  await status({ connection, terminal, flags: {} })
  assert.doesNotMatch(taken().out, /Hidden|not shown/)
})
