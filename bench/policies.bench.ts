/**
 * Policies over a fleet: what their results cost a hub, one change of one result, the steady state, and an agent that
 * evaluates as many policies. A real hub with light agents over mutual TLS, which report a result for each check.
 *
 *   node bench/policies.bench.ts [--clusters 100,1000] [--policies 200] [--idle 60] [--part hub|agent]
 *
 * The memory of a result is the growth of the hub's resident memory between the sizes, divided by the growth of the
 * results: it has the documents, releases and reports of the additional clusters in it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { silentLogger } from '../src/core/log.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { systemClock } from '../src/core/time/system-clock.ts'
import { ManagedClusterSetBinding, OcmPlacement } from '../src/dialects/ocm/kinds.ts'
import { PlacementBinding, Policy, PolicySet } from '../src/dialects/ocm/policy/served/kinds.ts'
import { createEmbeddedCluster } from '../src/sim/fleet/embedded-cluster.ts'
import { createOperatingAgent } from '../src/testing/agents/operating-agent.ts'
import { configMapPolicy } from '../src/testing/agents/policies-contract.ts'
import { startLightFleet } from './wire-bench-agents.ts'
import { startBenchHub } from './wire-bench-hub.ts'
import type { BenchHub } from './wire-bench-hub.ts'

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100,1000' },
    policies: { type: 'string', default: '200' },
    idle: { type: 'string', default: '60' },
    part: { type: 'string' },
  },
})
const policies = Number(values.policies)
const idleMs = Number(values.idle) * 1000
const GROUP = 'policy.open-cluster-management.io'
const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(40)}${text}\n`)

const policyName = (index: number): string => `rule-${index}`
const policyOf = (index: number): Policy => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Policy',
  metadata: { name: policyName(index), namespace: 'default' },
  spec: {
    disabled: false,
    'policy-templates': [{ objectDefinition: configMapPolicy(policyName(index), { a: 'b' }) }],
  },
})

async function waitFor(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 1_800_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not within half an hour`)
    await sleep(500)
  }
}

interface Sized {
  readonly results: number
  readonly residentBytes: number
}

async function measureHub(count: number): Promise<Sized> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const hub = await startBenchHub(join(folder, 'hub'))
  await hub.addClusters(count)
  const fleet = await startLightFleet({
    count,
    port: hub.port,
    ca: hub.trust.transportCa,
    byDocument: true,
    checks: true,
  })
  const following = fleet.allFollow()
  fleet.start()
  await following
  await sleep(5000)
  const client = hub.client()
  const metadata = (name: string) => ({ name, namespace: 'default' })
  await client.create(ManagedClusterSetBinding, { apiVersion: 'cluster.open-cluster-management.io/v1beta2', kind: 'ManagedClusterSetBinding', metadata: metadata('global'), spec: { clusterSet: 'global' } }) // prettier-ignore
  await client.create(OcmPlacement, { apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', metadata: metadata('all'), spec: { tolerations: [{ operator: 'Exists' }] } }) // prettier-ignore
  const before = hub.usage()
  const from = performance.now()
  for (let index = 0; index < policies; index++) await client.create(Policy, policyOf(index))
  const names = Array.from({ length: policies }, (_, index) => policyName(index))
  await client.create(PolicySet, { apiVersion: `${GROUP}/v1beta1`, kind: 'PolicySet', metadata: metadata('all'), spec: { policies: names } }) // prettier-ignore
  await client.create(PlacementBinding, {
    apiVersion: `${GROUP}/v1`,
    kind: 'PlacementBinding',
    metadata: metadata('all'),
    placementRef: { apiGroup: 'cluster.open-cluster-management.io', kind: 'Placement', name: 'all' },
    subjects: [{ apiGroup: GROUP, kind: 'PolicySet', name: 'all' }],
  })
  const isTold = ({ status }: Policy): boolean =>
    status?.compliant === 'Compliant' && (status.status?.length ?? 0) === count
  await waitFor('all results', async () => (await client.list(Policy)).items.every(isTold))
  const results = policies * count
  const told = hub.usage()
  const spentMs = told.cpuMs - before.cpuMs
  show(`${policies} policies to ${count}`, `${((performance.now() - from) / 1000).toFixed(0)} s; ${(spentMs / 1000).toFixed(1)} s CPU, ${(spentMs / results).toFixed(2)} ms for each of ${results} results`) // prettier-ignore
  await waitFor('rest', async () => {
    const revision = revisionOf(hub)
    await sleep(15_000)
    return revisionOf(hub) - revision < 20
  })
  await idle(hub, count)
  await oneChange(hub, fleet, count)
  const { residentBytes } = hub.usage()
  show(`memory at ${count}`, `${(residentBytes / 2 ** 20).toFixed(0)} MiB`)
  const { failed } = await fleet.counts()
  if (failed > 0) {
    show('wrong answers', String(failed))
    process.exitCode = 1
  }
  fleet.stop()
  await hub.stop()
  return { results, residentBytes }
}

async function idle(hub: BenchHub, count: number): Promise<void> {
  const revision = revisionOf(hub)
  const before = hub.usage()
  await sleep(idleMs)
  const ms = (hub.usage().cpuMs - before.cpuMs) / (idleMs / 1000)
  const kinds = Map.groupBy(writesSince(hub, revision), (key) => key)
  const told = [...kinds].map(([kind, own]) => `${kind} ${own.length}`).join(', ')
  show(`steady state at ${count}`, `${ms.toFixed(1)} ms CPU/s with ${count} agents; writes in ${idleMs / 1000} s: ${told || 'none'}`) // prettier-ignore
}

async function oneChange(
  hub: BenchHub,
  fleet: Awaited<ReturnType<typeof startLightFleet>>,
  count: number,
): Promise<void> {
  const client = hub.client()
  const address = { namespace: 'default', name: policyName(7) }
  const revision = revisionOf(hub)
  const before = hub.usage()
  const from = performance.now()
  await fleet.violate({ cluster: 0, bundle: `default/policy-${policyName(7)}` })
  await waitFor('the violation', async () => (await client.get(Policy, address)).status?.compliant === 'NonCompliant')
  const seconds = ((performance.now() - from) / 1000).toFixed(1)
  await sleep(10_000)
  const kinds = Map.groupBy(writesSince(hub, revision), (key) => key)
  const told = [...kinds].map(([kind, own]) => `${kind} ${own.length}`).join(', ')
  show(`one result at ${count}`, `${seconds} s until the Policy says it; ${hub.usage().cpuMs - before.cpuMs} ms CPU in the 10 s after; writes: ${told}`) // prettier-ignore
}

function revisionOf(hub: BenchHub): number {
  return Number(
    queryLog(hub, "SELECT max(revision) AS revision FROM log WHERE key NOT LIKE '%/leases/%'")[0]!['revision'],
  )
}

/** The kind of each write. */
function writesSince(hub: BenchHub, revision: number): string[] {
  const rows = queryLog(hub, `SELECT key FROM log WHERE revision > ${revision} AND key NOT LIKE '%/leases/%'`)
  return rows.map(({ key }) => String(key).split('/').find((part) => /^[a-z]+$/.test(part)) ?? '') // prettier-ignore
}

function queryLog(hub: BenchHub, query: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(hub.data, 'hub.db'), { readOnly: true })
  try {
    return db.prepare(query).all()
  } finally {
    db.close()
  }
}

/** An agent over an embedded API server in this process: both together are measured, with policies and without. */
async function measureAgent(): Promise<void> {
  const cluster = createEmbeddedCluster({ name: 'bench', clock: systemClock, ids: systemIds, log: silentLogger })
  const agent = createOperatingAgent({ transport: cluster.transport, clock: systemClock, ids: systemIds })
  agent.start()
  await agent.assign({})
  await sleep(5000)
  const without = await idleCpu()
  const objects = Array.from({ length: policies }, (_, index) => configMapPolicy(policyName(index), { a: 'b' }))
  const from = process.cpuUsage()
  await agent.assign({ 'default/rules': { generation: 1, objects, options: { checks: {} } } })
  await waitFor('all checks', async () => agent.checks().filter(({ state }) => state === 'NonCompliant').length === policies) // prettier-ignore
  const first = process.cpuUsage(from)
  show(`agent: first evaluation of ${policies}`, `${((first.user + first.system) / 1000).toFixed(0)} ms CPU`)
  await sleep(5000)
  const busy = await idleCpu()
  show(`agent: idle, ${policies} policies`, `${busy.toFixed(2)} ms CPU/s with its API server; ${without.toFixed(2)} without policies`) // prettier-ignore
  await agent.stop()
  await cluster.close()
}

async function idleCpu(): Promise<number> {
  const before = process.cpuUsage()
  await sleep(idleMs)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (idleMs / 1000)
}

if (values.part !== 'hub') await measureAgent()
if (values.part !== 'agent') {
  const sizes: Sized[] = []
  for (const count of values.clusters.split(',').map(Number)) sizes.push(await measureHub(count))
  const [small, large] = [sizes[0]!, sizes.at(-1)!]
  if (large.results > small.results) {
    const each = (large.residentBytes - small.residentBytes) / (large.results - small.results)
    show('memory of a result', `${each.toFixed(0)} bytes between ${small.results} and ${large.results} results`)
  }
}
process.exit(process.exitCode ?? 0)
