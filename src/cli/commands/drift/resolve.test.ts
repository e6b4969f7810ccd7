/** drift accept and revert, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { parseTime } from '../../../core/time/time.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Override } from '../../../kinds/native/override.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { driftAccept, driftRevert } from './resolve.ts'

const since = '2026-11-16T00:00:00Z'

async function started(t: { after(fn: () => Promise<void>): void }, fields: string[]) {
  const hub = createCliHub(t)
  await ensureNamespace(hub.client, 'shop')
  const drift = [{ object: 'Deployment pos/web', fields, since }]
  const row = { bundle: 'shop/web', generation: 1, set: digestOf('s'), state: 'Drifted' as const, drift }
  const spec = { clusterId: 'c-1', epoch: 1, revision: 1, receivedAt: since, bundles: [row] }
  await hub.client.create(ClusterReport, build(ClusterReport, 'store-1', { spec }), { fieldManager: 'test' })
  const { connection, terminal } = hub
  const run = (flags = {}) => ({ connection, terminal, flags: { reason: 'sale', ...flags } })
  const overrides = async () => (await hub.client.list(Override)).items
  return { ...hub, run, overrides }
}

test('accepting leaves the fields to others on that cluster alone, with an owner, a reason and an end', async (t) => {
  const fields = ['.spec.replicas (changed by hpa)', '.spec.template.spec.containers[name=web].image']
  const { run, overrides, taken } = await started(t, fields)
  await driftAccept(['store-1'], run({ dryRun: true }))
  assert.deepEqual(await overrides(), [])
  await driftAccept(['store-1'], run({ for: '24h' }))
  const [override, ...more] = await overrides()
  assert.deepEqual(more, [])
  const { expiresAt, ...spec } = override!.spec
  assert.deepEqual(spec, {
    bundle: 'web',
    clusters: ['store-1'],
    owner: 'admin',
    reason: 'sale',
    drift: [
      {
        kind: 'Deployment',
        namespace: 'pos',
        name: 'web',
        action: 'Accept',
        fields: ['.spec.replicas', '.spec.template.spec.containers[?(@.name=="web")].image'],
      },
    ],
  })
  const leftMs = parseTime(expiresAt!)! - systemClock.now()
  assert.ok(leftMs > 23 * 3_600_000 && leftMs <= 24 * 3_600_000)
  assert.match(
    taken().err,
    /✔ override\/accept-web-store-1-[0-9a-f]{8} accepts the changed fields .* for 24h\n► flotilla drift show/,
  )
  // Once more changes nothing but the end.
  await driftAccept(['store-1'], run())
  assert.equal((await overrides()).length, 1)
})

test('reverting corrects the object for an hour', async (t) => {
  const { run, overrides } = await started(t, ['.data.text'])
  await driftRevert(['store-1'], run())
  const [override] = await overrides()
  assert.equal(override!.spec.drift![0]!.action, 'Revert')
  assert.equal(override!.spec.patches, undefined)
  assert.ok(parseTime(override!.spec.expiresAt!)! > systemClock.now())
})

test('what cannot be decided is said', async (t) => {
  const { run, overrides } = await started(t, ['.'])
  assert.match(await expectErrorText(driftAccept(['store-1'], run())), /cannot accept field/)
  assert.match(
    await expectErrorText(driftAccept(['store-1'], run({ bundle: 'shop/other' }))),
    /no drift found on cluster "store-1" for bundle "shop\/other"/,
  )
  assert.match(await expectErrorText(driftRevert(['store-9'], run())), /report of cluster "store-9" not found/)
  assert.deepEqual(await overrides(), [])
})
