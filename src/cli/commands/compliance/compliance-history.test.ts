/** The history of compliance: what gateways record, also after a restart, and what `--as-of` reads of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../core/log.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { parseTime } from '../../../core/time/time.ts'
import { Policy } from '../../../dialects/ocm/policy/served/kinds.ts'
import { createComplianceHistory } from '../../../gateway/compliance/compliance-history.ts'
import { CrdResource } from '../../../hub/home/kube-home.ts'
import { createJournalWriter } from '../../../journal/journal-writer.ts'
import { toCrd } from '../../../kinds/crd/to-crd.ts'
import { rowsAtTime } from '../../../plan/fleet/compliance-rows.ts'
import { createVirtualClock } from '../../../sim/kernel/virtual-clock.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { checksAt, COMPLIANCE_PURPOSE, COMPLIANCE_RETENTION_MS } from '../../../kinds/fields/compliance-record.ts'
import type { ComplianceRecord } from '../../../kinds/fields/compliance-record.ts'
import { compliance } from './compliance.ts'

const check = (name: string, state: 'Compliant' | 'NonCompliant', since: string) => ({
  bundle: 'default/policy-quotas',
  generation: 1,
  kind: 'ConfigurationPolicy',
  name,
  state,
  since,
})

test('--as-of answers for each day, also over restarts of the gateway; only an auditor may ask', async (t) => {
  const hub = createCliHub(t)
  await hub.client.create(CrdResource, toCrd(Policy))
  const template = { objectDefinition: { apiVersion: 'v1', kind: 'x', metadata: { name: 'quota' } } }
  await hub.client.create(Policy, build(Policy, 'default/quotas', { spec: { disabled: false, 'policy-templates': [template] } })) // prettier-ignore
  const clock = createVirtualClock(parseTime('2026-11-10T12:00:00Z'))
  const [a, b] = [buildCluster('a'), buildCluster('b')]
  /** A gateway that writes for a while and ends. */
  const gateway = async (during: (note: ReturnType<typeof createComplianceHistory>['note']) => Promise<void>) => {
    const journal = createJournalWriter({
      client: hub.client,
      blobs: hub.blobs,
      clock,
      ids: systemIds,
      log: silentLogger,
      stream: { purpose: COMPLIANCE_PURPOSE, writer: 'g' },
      retentionMs: COMPLIANCE_RETENTION_MS,
    })
    const stop = new AbortController()
    const running = journal.run(stop.signal)
    await during(createComplianceHistory({ journal, clock }).note)
    await clock.advance(120_000)
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await running
  }
  await gateway(async (note) => {
    note(a, [check('quota', 'Compliant', '2026-11-10T12:00:00Z')])
    note(b, [check('quota', 'NonCompliant', '2026-11-10T11:00:00Z')])
    note(a, [check('quota', 'Compliant', '2026-11-10T12:00:00Z')])
    await clock.advance(86_400_000)
    note(a, [check('quota', 'NonCompliant', '2026-11-11T12:00:00Z')])
  })
  await gateway(async (note) => {
    note(a, [check('quota', 'NonCompliant', '2026-11-11T12:00:00Z')])
    await clock.advance(86_400_000)
    note(a, [])
    note(b, [check('quota', 'Compliant', '2026-11-12T12:02:00Z')])
  })
  const at = async (asOf: string) => {
    await compliance({
      connection: hub.connection,
      terminal: hub.terminal,
      flags: { asOf, output: 'json', by: 'cluster' },
    })
    const { groups } = JSON.parse(hub.taken().out) as { groups: { group: string; counts: Record<string, number> }[] }
    return Object.fromEntries(groups.map(({ group, counts }) => [group, Object.keys(counts).filter((state) => counts[state]! > 0)])) // prettier-ignore
  }
  assert.deepEqual(await at('2026-11-09'), {})
  assert.deepEqual(await at('2026-11-10'), { a: ['Compliant'], b: ['NonCompliant'] })
  assert.deepEqual(await at('2026-11-11'), { a: ['NonCompliant'], b: ['NonCompliant'] })
  assert.deepEqual(await at('2026-11-13'), { b: ['Compliant'] })
  const reader = hub.connectionOf('reader')
  const flags = { asOf: '2026-11-10', namespace: 'default' }
  assert.match(
    await expectErrorText(compliance({ connection: reader, terminal: hub.terminal, flags })),
    /not allowed to list policies/,
  )
})

test('a cluster that joins again, and a gateway that starts anew, begin with all checks', () => {
  const record = (at: string, more: Partial<ComplianceRecord>): ComplianceRecord => ({
    type: 'compliance',
    cluster: 'a',
    clusterId: 'c-a',
    at,
    whole: false,
    checks: [],
    ...more,
  })
  const one = { bundle: 'x/policy-p', kind: 'K', name: 'one', state: 'Compliant', since: 't' }
  const two = { ...one, name: 'two' }
  const states = (records: ComplianceRecord[], time = '9') =>
    [...(checksAt(records, time).get('a')?.checks.values() ?? [])].map(({ name, state }) => `${name} ${state}`)
  const first = record('1', { whole: true, checks: [one, two] })
  assert.deepEqual(states([record('2', { checks: [{ ...two, state: 'NonCompliant' }] }), first]), ['one Compliant', 'two NonCompliant']) // prettier-ignore
  assert.deepEqual(states([first, record('2', { gone: ['x/policy-p K one'] })]), ['two Compliant'])
  assert.deepEqual(states([first, record('2', { whole: true, checks: [one] })]), ['one Compliant'])
  assert.deepEqual(states([first, record('2', { clusterId: 'c-b', checks: [two] })]), ['two Compliant'])
  assert.deepEqual(states([first], '0'), [])
})

test('policies of engines have a history too, and a restart of the gateway keeps since when a state holds', async () => {
  const records: ComplianceRecord[] = []
  const clock = createVirtualClock(parseTime('2026-11-10T12:00:00Z'))
  const gateway = () =>
    createComplianceHistory({ clock, journal: { append: (record) => records.push(record as ComplianceRecord) } })
  const results = (fail: number, more: object = {}) => ({
    policies: [{ engine: 'kyverno', policy: 'no-latest', pass: 1, fail, warn: 0, error: 0, skip: 0 }],
    ...more,
  })
  const a = buildCluster('a')
  const first = gateway()
  first.note(a, [], results(0))
  await clock.advance(3_600_000)
  first.note(a, [], results(2))
  first.note(a, [], results(5))
  assert.equal(records.length, 2)
  await clock.advance(3_600_000)
  const second = gateway()
  second.note(a, [], results(5))
  const rows = (timeMs: number) => rowsAtTime(records, { timeMs, policies: [] }).map(({ engine, policy, cluster, state, since }) => [engine, policy, cluster, state, since]) // prettier-ignore
  assert.deepEqual(rows(clock.now()), [['kyverno', 'no-latest', 'a', 'NonCompliant', '2026-11-10T13:00:00Z']])
  assert.deepEqual(rows(clock.now() - 7_200_000), [['kyverno', 'no-latest', 'a', 'Compliant', undefined]])
  second.note(a, [], results(0, { unread: 1 }))
  assert.equal(rows(clock.now())[0]?.[3], 'Unknown')
  second.note(a, [], { policies: [] })
  assert.deepEqual(rows(clock.now()), [])
})
