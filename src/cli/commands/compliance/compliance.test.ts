/** compliance, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { PolicySet, Policy } from '../../../dialects/ocm/policy/served/kinds.ts'
import { CrdResource } from '../../../hub/home/kube-home.ts'
import { toCrd } from '../../../kinds/crd/to-crd.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { compliance } from './compliance.ts'
import type { ComplianceInput } from './compliance.ts'

const GROUP = 'policy.open-cluster-management.io'
const HOUR = 3_600_000

/** Four clusters: one complies, one has not for 30 hours, one is offline after it complied, and one is not selected. */
async function fleet(t: TestContext) {
  const hub = createCliHub(t)
  const { client } = hub
  for (const kind of [Policy, PolicySet]) await client.create(CrdResource, toCrd(kind))
  const ago = (ms: number) => formatTime(systemClock.now() - ms)
  const condition = (status: 'True' | 'False') => [
    { type: 'Available', status, reason: 'Seen', message: '', lastTransitionTime: ago(0) },
  ]
  for (const [name, state, since] of [
    ['a', 'Compliant', 50],
    ['b', 'NonCompliant', 30],
    ['c', 'Compliant', 90],
    ['d', undefined, 0],
  ] as const) {
    const { status: _status, ...cluster } = buildCluster(name)
    await client.create(Cluster, cluster)
    const status = { conditions: condition(name === 'c' ? 'False' : 'True'), lastSeen: ago(20 * HOUR) }
    await client.patch(Cluster, { name }, { type: 'merge', body: { status } }, { subresource: 'status' })
    if (state === undefined) continue
    const check = {
      bundle: 'default/policy-quotas',
      generation: 1,
      kind: 'ConfigurationPolicy',
      name: 'quota',
      state,
      since: ago(since * HOUR),
      message: `${state}; =because, "it"|is`,
    }
    const spec = { clusterId: cluster.spec.id, epoch: 1, revision: 1, bundles: [], checks: [check], receivedAt: ago(0) }
    await client.create(ClusterReport, build(ClusterReport, name, { spec }))
  }
  const annotations = { [`${GROUP}/standards`]: 'NIST SP 800-53, PCI', [`${GROUP}/controls`]: 'CM-2 Baseline' }
  const template = {
    objectDefinition: { apiVersion: `${GROUP}/v1`, kind: 'ConfigurationPolicy', metadata: { name: 'quota' } },
  }
  const policy = build(
    Policy,
    'default/quotas',
    { spec: { disabled: false, 'policy-templates': [template] } },
    { annotations },
  )
  await client.create(Policy, policy)
  const status = {
    status: [
      { clustername: 'a', clusternamespace: 'a', compliant: 'Compliant' },
      { clustername: 'b', clusternamespace: 'b', compliant: 'NonCompliant' },
      { clustername: 'c', clusternamespace: 'c' },
    ],
    placement: [{ placementBinding: 'x', policySet: 'baseline' }],
    duties: [
      { clustername: 'a', binding: 'x', since: ago(60 * HOUR), deadline: ago(36 * HOUR), compliedAt: ago(50 * HOUR) },
      { clustername: 'b', binding: 'x', since: ago(30 * HOUR), deadline: ago(6 * HOUR) },
      { clustername: 'c', binding: 'x', since: ago(30 * HOUR), deadline: ago(-6 * HOUR) },
    ],
  }
  await client.patch(Policy, { namespace: 'default', name: 'quotas' }, { type: 'merge', body: { status } }, { subresource: 'status' }) // prettier-ignore
  const run = async (
    flags: ComplianceInput['flags'] = {},
    connection: ComplianceInput['connection'] = hub.connection,
  ) => {
    await compliance({ connection, terminal: hub.terminal, flags })
    return hub.taken()
  }
  return { ...hub, run }
}

test('counts by group: an offline and a cluster that is not selected are never compliant', async (t) => {
  const { run } = await fleet(t)
  const { out } = await run()
  assert.match(out, /^POLICY +COMPLIANT +NONCOMPLIANT +PENDING +UNKNOWN +OFFLINE +NOT SELECTED +LAST HEARD\n/)
  assert.match(out, /default\/quotas +1 +1 +0 +0 +1 +1 +20h ago\n$/)
  assert.match((await run({ by: 'control' })).out, /CM-2 Baseline +1 +1 +0 +0 +1 +1/)
  assert.match((await run({ by: 'set' })).out, /baseline +1 +1/)
  assert.match((await run({ by: 'standard', standard: 'pci' })).out, /NIST SP 800-53[^]*PCI/)
  assert.match((await run({ by: 'cluster' })).out, /\na +1 +0[^]*\nc +0 +0 +0 +0 +1 +0/)
  const data = JSON.parse((await run({ output: 'json' })).out)
  assert.deepEqual(data.groups[0].counts, { Compliant: 1, NonCompliant: 1, Pending: 0, Unknown: 0, Offline: 1, NotSelected: 1 }) // prettier-ignore
})

test('rows: since when, the last state of an offline cluster, and cells that no spreadsheet runs', async (t) => {
  const { run } = await fleet(t)
  const offline = JSON.parse((await run({ state: 'offline', output: 'json' })).out).rows
  assert.equal(offline.length, 1)
  assert.equal(offline[0].cluster, 'c')
  assert.equal(offline[0].last, 'Compliant')
  assert.match((await run({ notSince: '24h' })).out, /default\/quotas +b +NonCompliant +30h ago/)
  assert.match((await run({ notSince: '40h' })).err, /No policy on any cluster matches/)
  assert.match(
    (await run({ cluster: 'a', output: 'markdown' })).out,
    /^\| Policy \| Cluster \|[^]*\| default\/quotas \| a \| Compliant \|.*"it"\\\|is \|\n$/,
  )
  assert.match((await run({ cluster: 'a', output: 'csv' })).out, /"Compliant; =because, ""it""\|is"\r\n$/)
  assert.match((await run({ control: 'cm-2', policy: 'quotas' })).out, /\ba\b[^]*\bd +NotSelected/)
  assert.match((await run({ control: 'cm-3' })).err, /No policy on any cluster matches/)
  assert.match(await expectErrorText(run({ state: 'fine' })), /invalid --state "fine": must be one of Compliant/)
  assert.match(await expectErrorText(run({ by: 'team' })), /invalid --by "team": must be one of policy, set/)
})

test('duties: by when a cluster has to comply, and when it did', async (t) => {
  const { run } = await fleet(t)
  assert.match((await run({ duty: 'overdue' })).out, /DUTY +BINDING +DEADLINE +COMPLIED +MESSAGE\ndefault\/quotas +b +NonCompliant +30h ago .*Overdue +x +20\S+Z/) // prettier-ignore
  assert.match(
    (await run({ duty: 'met', output: 'csv' })).out,
    /\r\ndefault\/quotas,a,Compliant,[^\n]*,Met,x,[^,]+Z,[^,]+Z,/,
  )
  const rows = JSON.parse((await run({ duty: 'any', output: 'json' })).out).rows
  assert.deepEqual(rows.map((row: { cluster: string; duty: { state: string } }) => `${row.cluster} ${row.duty.state}`), ['a Met', 'b Overdue', 'c Open']) // prettier-ignore
  assert.match((await run({ duty: 'late' })).err, /No policy on any cluster matches/)
  assert.match(await expectErrorText(run({ duty: 'soon' })), /invalid --duty "soon": must be one of Overdue, Open/)
  assert.match(await expectErrorText(run({ duty: 'any', asOf: '1d' })), /--duty cannot be used with --as-of/)
})
