/** drift list and show, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub } from '../../../testing/hub/cli-hub.ts'
import { driftList, driftShow } from './drift.ts'

test('drift is listed per bundle and cluster, and shown field by field', async (t) => {
  const { client, connection, terminal, said } = createCliHub(t)
  const run = (flags = {}) => ({ connection, terminal, flags })
  await driftList(run())
  assert.equal(said.err, 'No drift found.\n')

  const since = formatTime(systemClock.now() - 3 * 60_000)
  const drift = [{ object: 'ConfigMap shop/x', fields: ['.data.a (changed by kubectl-edit)', '.data.b'], since }]
  const row = (bundle: string) => ({ bundle, generation: 4, set: digestOf('s') })
  const corrections = [{ object: 'ConfigMap shop/y', fields: ['.data.a (changed by cron)'], times: 3, at: since }]
  const bundles = [
    { ...row('ns/app'), state: 'Drifted' as const, message: 'm', drift },
    { ...row('ns/ok'), state: 'Ready' as const, corrections },
  ]
  const spec = { clusterId: 'c-1', epoch: 1, revision: 1, receivedAt: since, bundles }
  await client.create(ClusterReport, build(ClusterReport, 'store-1', { spec }), { fieldManager: 'test' })
  await driftList(run())
  assert.match(
    said.out,
    /^CLUSTER +BUNDLE +OBJECTS +SINCE +FIRST\nstore-1 +ns\/app +1 +3m\d*s? +ConfigMap shop\/x: \.data\.a \(changed by kubectl-edit\)\n$/,
  )
  said.out = ''
  await driftList(run({ bundle: 'ns/ok', output: 'json' }))
  assert.deepEqual(JSON.parse(said.out), [])
  const rows = async (flags: object) => {
    said.out = ''
    await driftList(run({ ...flags, output: 'json' }))
    return (JSON.parse(said.out) as unknown[]).length
  }
  assert.deepEqual([await rows({ bundle: 'app' }), await rows({ bundle: 'other/app' })], [1, 0])
  await client.create(Cluster, buildCluster('store-1', { labels: { region: 'south' } }), { fieldManager: 'test' })
  assert.deepEqual([await rows({ selector: 'region=south' }), await rows({ selector: 'region=north' })], [1, 0])
  said.out = ''
  await driftShow(['store-1'], run())
  assert.match(
    said.out,
    /^bundle ns\/app \(generation 4\)\n  ConfigMap shop\/x, for 3m\d*s?\n    \.data\.a \(changed by kubectl-edit\)\n    \.data\.b\n$/,
  )
  // D35
  said.out = ''
  await driftList(run({ corrected: true }))
  assert.equal(
    said.out.replaceAll(/ +/g, ' '),
    'CLUSTER BUNDLE OBJECT TIMES LAST FIELDS\nstore-1 ns/ok ConfigMap shop/y 3 3m .data.a (changed by cron)\n',
  )
  said.out = ''
  await driftList(run({ corrected: true, bundle: 'app' }))
  assert.match(said.err, /No agent corrected drift since it started\./)
  await assert.rejects(driftShow(['missing'], run()), /report of cluster "missing" not found/)
})
