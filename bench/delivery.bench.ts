/**
 * Bundles to a fleet whose agents report meanwhile: 20 Bundles of 5 ConfigMaps of 1 KB to N clusters, all at once, and
 * then one line of one Bundle. A real hub and light agents over mutual TLS, each a process on this machine.
 *
 *   node bench/delivery.bench.ts [--clusters 200,1000] [--bundles 20] [--threads] [--profile FOLDER]
 *
 * Compare CPU, writes and bytes, not seconds: agents share the machine with the hub. `--threads` prints the CPU of each
 * thread of the hub; `--profile` writes a CPU profile of each thread, which Chrome and VS Code open. Fails when an agent got an answer that it should not get.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { Bundle } from '../src/kinds/native/bundle.ts'
import { Placement } from '../src/kinds/native/placement.ts'
import { buildBundle, buildPlacement, configMapManifest } from '../src/testing/fixtures/builders.ts'
import { startLightFleet } from './wire-bench-agents.ts'
import { startBenchHub } from './wire-bench-hub.ts'
import type { BenchHub, Usage } from './wire-bench-hub.ts'

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '200,1000' },
    bundles: { type: 'string', default: '20' },
    threads: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const CONFIG_MAPS = 5
const DATABASE_FILES = ['hub.db', 'hub.db-wal'] as const
const bundles = Number(values.bundles)
const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(34)}${text}\n`)

for (const count of values.clusters.split(',').map(Number)) await measure(count)
process.exit(process.exitCode ?? 0)

async function measure(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const hub = await startBenchHub(join(folder, 'hub'), values.profile)
  await hub.addClusters(count)
  const fleet = await startLightFleet({ count, port: hub.port, ca: hub.trust.transportCa, byDocument: true })
  const following = fleet.allFollow()
  fleet.start()
  await following
  await hub.client().create(Placement, buildPlacement('default/everywhere', { tier: 'bench' }))
  await new Promise((resolve) => setTimeout(resolve, 3000))

  await change(`${bundles} bundles to ${count}`, { hub, count, fleet, generations: bundles }, async () => {
    for (let n = 0; n < bundles; n++) await hub.client().create(Bundle, bundleOf(n, 0))
  })
  await change(`one line on ${count}`, { hub, count, fleet, generations: bundles + 1 }, async () => {
    const current = await hub.client().get(Bundle, { namespace: 'default', name: 'app-7' })
    await hub.client().update(Bundle, { ...current, spec: { ...current.spec, ...bundleOf(7, 1).spec } })
  })
  const { failed, postponed } = await fleet.counts()
  show(`memory at ${count}`, `${(hub.usage().residentBytes / 2 ** 20).toFixed(0)} MiB; ${postponed} requests postponed`)
  if (failed > 0) {
    show('wrong answers', String(failed))
    process.exitCode = 1
  }
  fleet.stop()
  await hub.stop()
}

interface Measured {
  readonly hub: BenchHub
  readonly count: number
  readonly fleet: Awaited<ReturnType<typeof startLightFleet>>
  /** The sum of the generations of a document's entries when the change has arrived. */
  readonly generations: number
}

async function change(what: string, { hub, fleet, generations }: Measured, begin: () => Promise<void>): Promise<void> {
  const awaited = { entries: bundles, generations }
  const [documents, reports] = [fleet.allHave(awaited), fleet.allReported(awaited)]
  const before = hub.usage()
  const revision = revisionOf(hub)
  const from = performance.now()
  await begin()
  await documents
  show(`${what}: documents`, spent(before, hub.usage(), from))
  await reports
  show(`${what}: reported`, spent(before, hub.usage(), from))
  // Until the last Rollout has recorded what was reported.
  for (let last = -1, now = revisionOf(hub); now !== last; now = revisionOf(hub)) {
    last = now
    await new Promise((resolve) => setTimeout(resolve, 6000))
  }
  show(`${what}: at rest`, spent(before, hub.usage(), from))
  if (values.threads) for (const [name, ms] of threadsOf(before, hub.usage())) show(`  ${name}`, seconds(ms))
  for (const line of writesSince(hub, revision)) show('  writes', line)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s CPU`
}

function spent(before: Usage, after: Usage, from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s; ${seconds(after.cpuMs - before.cpuMs)} of the hub`
}

function threadsOf(before: Usage, after: Usage): [string, number][] {
  const spentBy = [...after.threads].map(([name, ms]): [string, number] => [name, ms - (before.threads.get(name) ?? 0)])
  return spentBy.filter(([, ms]) => ms >= 100).sort((a, b) => b[1] - a[1])
}

function revisionOf(hub: BenchHub): number {
  return queryLog(hub, 'SELECT max(revision) AS revision FROM log')[0]!['revision'] as number
}

/** Writes by kind, with their bytes, and the size of the database. The log keeps each revision for some minutes. */
function writesSince(hub: BenchHub, revision: number): string[] {
  const rows = queryLog(
    hub,
    `SELECT key, length(value) AS bytes FROM log WHERE revision > ${revision} AND key NOT LIKE '%/leases/%'`,
  )
  const kinds = Map.groupBy(
    rows,
    ({ key }) =>
      String(key)
        .split('/')
        .find((part) => /^[a-z]+$/.test(part)) ?? '',
  )
  const sums = [...kinds].map(([kind, own]) => ({
    kind,
    writes: own.length,
    bytes: own.reduce((sum, { bytes }) => sum + Number(bytes ?? 0), 0),
  }))
  const size = (file: string): number => statSync(join(hub.data, file), { throwIfNoEntry: false })?.size ?? 0
  const file = DATABASE_FILES.reduce((sum, name) => sum + size(name), 0)
  const lines = sums
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ kind, writes, bytes }) => `${kind}: ${writes}, ${(bytes / 1e6).toFixed(2)} MB`)
  return [...lines, `database: ${(file / 1e6).toFixed(0)} MB`]
}

function queryLog(hub: BenchHub, query: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(hub.data, DATABASE_FILES[0]), { readOnly: true })
  try {
    return db.prepare(query).all()
  } finally {
    db.close()
  }
}

function bundleOf(n: number, line: number): Bundle {
  const manifests = Array.from({ length: CONFIG_MAPS }, (_, index) =>
    configMapManifest(`app-${n}-${index}`, {
      text: textOf(n * CONFIG_MAPS + index),
      line: String(index === 0 ? line : 0),
    }),
  )
  return buildBundle(`default/app-${n}`, {
    manifests: manifests.join('---\n'),
    placement: 'everywhere',
    rollout: { concurrency: '100%' },
  })
}

/** A text of 1 KB that differs for each number. */
function textOf(number: number): string {
  return Array.from({ length: 128 }, (_, word) =>
    String((number * 7919 + word * 104_729) % 10_000_000).padStart(7, '0'),
  ).join(' ')
}
