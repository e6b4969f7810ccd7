/** drift show --values, against the real API server in memory, with an agent that answers by writing its report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair } from '../../../core/bytes.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { sealDriftValues } from '../../../plan/drift/drift-values.ts'
import type { DriftValues } from '../../../plan/drift/drift-values.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { driftShowValues } from './values.ts'

const SET = `sha256:${'0'.repeat(64)}` as const
const OTHER = 'MCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE='
const VALUES: DriftValues = {
  objects: [
    {
      object: 'ConfigMap shop/greeting',
      fields: [
        { field: '.data.text', delivered: 'good morning', live: 'buy two,\npay one\u001b[2J' },
        { field: '.data.more', live: 'x' },
        { field: '.data.password', hidden: true },
      ],
    },
  ],
  more: 1,
}

test('values come sealed with the report that answers, and are printed side by side', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
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
  const ports = { connection, terminal, clock, signal: new AbortController().signal }
  const run = (flags = {}) => driftShowValues(['store-1'], { ...ports, newKey: () => generateKeyPair('x25519'), flags })
  const made = await client.create(Cluster, buildCluster('store-1'))
  const condition = { type: 'Available', status: 'True' as const, reason: 'Seen', message: 'words' }
  const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await client.patch(
    Cluster,
    made.metadata,
    { type: 'merge', body: { status: { conditions } } },
    { subresource: 'status' },
  )
  const drifted = (bundle: string) => ({
    bundle,
    generation: 1,
    set: SET,
    state: 'Drifted' as const,
    drift: [{ object: 'ConfigMap shop/greeting', fields: ['.data.text'], since: '2026-01-01T00:00:00Z' }],
  })
  const bundles = [drifted('shop/web'), drifted('shop/till')]
  const spec = { clusterId: made.spec.id, epoch: 1, revision: 1, receivedAt: '2026-01-01T00:00:00Z', bundles }
  await client.create(ClusterReport, build(ClusterReport, 'store-1', { spec }))
  const asked: string[] = []
  answers = async () => {
    const { at = '', bundle = '', key = '' } = (await client.get(Cluster, { name: 'store-1' })).spec.valuesAsked ?? {}
    asked.push(bundle)
    const context = { clusterId: made.spec.id, bundle, asked: at }
    const values = { asked: at, bundle, key, sealed: sealDriftValues(context, key, VALUES, generateKeyPair('x25519')) }
    await client.patch(ClusterReport, { name: 'store-1' }, { type: 'merge', body: { spec: { values } } })
  }
  await run({ bundle: 'web' })
  assert.deepEqual(asked, ['shop/web'])
  assert.equal(
    taken().out,
    `bundle shop/web
  ConfigMap shop/greeting
    .data.text
      delivered  good morning
      live       buy two,
                 pay one�[2J
    .data.more
      delivered  (absent)
      live       x
    .data.password
      values are hidden, because they can be secret
  1 field did not fit
`,
  )
  asked.length = 0
  await run({ output: 'json' })
  assert.deepEqual(asked, ['shop/web', 'shop/till'])
  const [first] = JSON.parse(taken().out) as object[]
  assert.deepEqual(first, { cluster: 'store-1', bundle: 'shop/web', ...VALUES })

  // Another user asked in the same second, and the agent answered that question.
  const values = { asked: '2026-01-01T00:00:00Z', bundle: 'shop/web', key: OTHER, sealed: 'QUJD' }
  answers = async () => {
    await client.patch(ClusterReport, { name: 'store-1' }, { type: 'merge', body: { spec: { values } } })
  }
  const silent = await expectErrorReport(run({ bundle: 'web', timeout: '5s' }))
  assert.deepEqual(
    [silent.exitCode, silent.what],
    [8, 'cluster "store-1": the agent sent no values of bundle "shop/web" within 5 s'],
  )
})
