/** logs, against the real API server in memory, with an agent that answers by writing its report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { logs } from './logs.ts'

test('the log comes with the report that answers; who cannot be asked, or does not answer, is told', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
  const { signal } = new AbortController()
  let elapsed = 0
  let answers = async (): Promise<void> => {}
  const clock = {
    ...systemClock,
    monotonicMs: () => elapsed,
    sleep: async (ms: number) => {
      elapsed += ms
      await answers()
    },
  }
  const run = (name: string, flags = {}) => logs(name, { connection, terminal, clock, signal, flags })
  const missing = await expectErrorReport(run('store-1'))
  assert.deepEqual([missing.exitCode, missing.what], [3, 'cluster "store-1" not found'])

  const made = await client.create(Cluster, buildCluster('store-1'))
  const heard = async (status: 'True' | 'False') => {
    const condition = {
      type: 'Available',
      status,
      reason: 'Seen',
      message: 'words',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const body = { status: { conditions: [condition] } }
    await client.patch(Cluster, made.metadata, { type: 'merge', body }, { subresource: 'status' })
  }
  await heard('False')
  const deaf = await expectErrorReport(run('store-1'))
  assert.deepEqual([deaf.exitCode, deaf.why], [5, 'words'])
  assert.equal((await client.get(Cluster, { name: 'store-1' })).spec.logsAskedAt, undefined)

  await heard('True')
  const spec = { clusterId: 'c', epoch: 1, revision: 1, receivedAt: '2026-01-01T00:00:00Z', bundles: [] }
  await client.create(ClusterReport, build(ClusterReport, 'store-1', { spec }))
  answers = async () => {
    const asked = (await client.get(Cluster, { name: 'store-1' })).spec.logsAskedAt
    const body = { spec: { log: { asked, lines: ['one', 'two', 'three'] } } }
    await client.patch(ClusterReport, { name: 'store-1' }, { type: 'merge', body })
  }
  await run('store-1', { tail: '2' })
  assert.equal(taken().out, 'two\nthree\n')

  answers = async () => {}
  await client.patch(ClusterReport, { name: 'store-1' }, { type: 'merge', body: { spec: { log: null } } })
  const silent = await expectErrorReport(run('store-1', { timeout: '5s' }))
  assert.deepEqual([silent.exitCode, silent.what], [8, 'cluster "store-1": the agent sent no log within 5 s'])
  assert.equal((await expectErrorReport(run('store-1', { tail: 'many' }))).exitCode, 2)
})
