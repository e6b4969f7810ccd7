/** compliance with results of policy engines, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { compliance } from './compliance.ts'
import type { ComplianceInput } from './compliance.ts'

async function fleet(t: TestContext) {
  const hub = createCliHub(t)
  const run = async (flags: ComplianceInput['flags'] = {}, connection = hub.connection) => {
    await compliance({ connection, terminal: hub.terminal, flags })
    return hub.taken()
  }
  assert.match((await run({ results: true })).err, /No cluster has a policy engine that reports results/)
  const { status: _status, ...cluster } = buildCluster('a')
  await hub.client.create(Cluster, cluster)
  const results = {
    policies: [
      {
        engine: 'kyverno',
        policy: 'disallow-latest-tag',
        severity: 'high' as const,
        pass: 3,
        fail: 2,
        warn: 0,
        error: 0,
        skip: 0,
        namespaces: [{ namespace: 'shop', fail: 2, warn: 0, error: 0 }],
        objects: [{ object: 'Pod shop/till', result: 'fail' as const, rule: 'tag', message: 'name a\n tag' }],
      },
      { engine: 'gatekeeper', policy: 'K8sRequiredLabels/owner', pass: 0, fail: 0, warn: 0, error: 0, skip: 0 },
    ],
    unread: 4,
  }
  const spec = { clusterId: cluster.spec.id, epoch: 1, revision: 1, bundles: [], results, receivedAt: '2026-11-19T00:00:00Z' } // prettier-ignore
  await hub.client.create(ClusterReport, build(ClusterReport, 'a', { spec }))
  return { ...hub, run }
}

test('sums results of engines; a policy of an engine is a row beside the Policies of the hub', async (t) => {
  const { run } = await fleet(t)
  const { out, err } = await run({ results: true })
  assert.match(out, /^POLICY +FAIL +WARN +ERROR +PASS +SKIP +CLUSTERS +OFFLINE\nkyverno:disallow-latest-tag +2 +0 +0 +3 +0 +1 +0\ngatekeeper:K8sRequiredLabels\/owner +0 /) // prettier-ignore
  assert.match(err, /the results are not complete: a: it has 4 more objects/)
  assert.match((await run({ results: true, by: 'namespace' })).out, /\nshop +2 +0 +0 +- +- +1 +0\n$/)
  assert.match((await run({ results: true, by: 'severity', output: 'csv' })).out, /high,2,0,0,3,0,1,0\r\n'-,0,/)
  assert.match((await run({ results: true, policy: 'disallow-latest-tag' })).out, /\na +fail +Pod shop\/till +name a tag\n$/) // prettier-ignore
  assert.equal(JSON.parse((await run({ results: true, output: 'json' })).out).groups[0].fail, 2)
  assert.match((await run()).out, /kyverno:disallow-latest-tag +0 +1 +0 +0 +0 +0/)
  // Objects were not read: nothing is called compliant.
  assert.match((await run({ policy: 'gatekeeper:K8sRequiredLabels/owner' })).out, /owner +a +Unknown +.*4 objects with results are not read/) // prettier-ignore
  assert.match((await run({ notSince: '1h' })).err, /not shown: policies of engines in clusters/)
})

test('refuses flags that say nothing about results, and does not show a refusal as none', async (t) => {
  const { run, connectionOf } = await fleet(t)
  assert.match(await expectErrorText(run({ results: true, asOf: '1d' })), /--as-of cannot be used with --results/)
  assert.match(await expectErrorText(run({ severity: 'high' })), /--severity can only be used with --results/)
  assert.match(await expectErrorText(run({ results: true, severity: 'bad' })), /must be one of critical, high/)
  assert.match(await expectErrorText(run({ results: true }, connectionOf('reader'))), /clusters|forbidden|not allowed/i)
})
