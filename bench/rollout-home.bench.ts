/**
 * A rollout through the embedded API and all controllers: node bench/rollout-home.bench.ts [CLUSTERS]… A bundle goes to
 * this number of clusters in three rings, over SQLite, with the API, the caches and every controller as the hub runs
 * them. Only the agents are simulated: a cluster whose document has changed reports Ready one second later. Measured
 * are the CPU time of the hub's part, its writes, and the duration of each ring by the hub's own clock, which stands
 * still while the hub works. A larger fleet takes longer, 50 clusters at a time. The work of the hub for a fleet at
 * rest is measured apart, after the rollout.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Assignment } from '../src/kinds/native/assignment.ts'
import { Bundle } from '../src/kinds/native/bundle.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { Placement } from '../src/kinds/native/placement.ts'
import { RolloutPlan } from '../src/kinds/native/rollout-plan.ts'
import { Rollout } from '../src/kinds/native/rollout.ts'
import { createSqliteStore } from '../src/store/sqlite-store.ts'
import {
  build,
  buildBundle,
  buildCluster,
  buildPlacement,
  configMapManifest,
} from '../src/testing/fixtures/builders.ts'
import { startControllersHome } from '../src/testing/hub/controllers-home.ts'

const sizes = process.argv.slice(2).map(Number)
const STEP_MS = 1000
const REST_STEPS = 60
const rings = [
  { name: 'canary', share: '1%', concurrency: 50 },
  { name: 'early', share: '10%', concurrency: 50 },
  { name: 'rest', concurrency: 50 },
]

async function measure(count: number) {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const hub = await startControllersHome([], createSqliteStore({ path: join(directory, 'hub.sqlite') }))
  let cpuMs = 0
  /** Lets the hub work for a step, and counts what that cost. */
  const work = async () => {
    const began = process.cpuUsage()
    await hub.clock.advance(STEP_MS)
    const { user, system } = process.cpuUsage(began)
    cpuMs += (user + system) / 1000
  }
  try {
    const names = Array.from({ length: count }, (_, i) => `store-${String(i).padStart(5, '0')}`)
    for (const name of names) {
      await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
      await hub.report(name, 'Ready')
    }
    await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
    await hub.create(build(RolloutPlan, 'default/careful', { spec: { rings, start: 'Automatic' } }), RolloutPlan)
    await work()
    cpuMs = 0
    hub.writes.length = 0
    const manifests = configMapManifest('hello', { greeting: 'one' })
    await hub.create(buildBundle('default/hello', { manifests, rollout: { plan: 'careful' } }), Bundle)
    const reported = new Map<string, number>()
    let seconds = 0
    const perRing = new Map<string, { seconds: number; ms: number }>()
    for (let step = 0; step < 20 * count; step++) {
      const before = cpuMs
      await work()
      const rollout = await hub.find(Rollout, 'default/hello-g1')
      const { phase, ring = '', admissions = [] } = rollout?.status ?? {}
      const told = perRing.get(ring) ?? { seconds: 0, ms: 0 }
      perRing.set(ring, { seconds: told.seconds + STEP_MS / 1000, ms: told.ms + cpuMs - before })
      seconds += STEP_MS / 1000
      if (phase === 'Completed') break
      for (const { cluster } of admissions) {
        const revision = (await hub.find(Assignment, cluster))?.spec.revision ?? 0
        if (revision <= (reported.get(cluster) ?? 0)) continue
        reported.set(cluster, revision)
        await hub.report(cluster, 'Ready')
      }
    }
    const kinds = Map.groupBy(hub.writes, (write) =>
      write.replace(/^(\w+) .*\/v1(?:alpha1)?\/(?:namespaces\/[^/]+\/)?([a-z]+).*/, '$1 $2'),
    )
    const writes = [...kinds].map(([kind, those]) => `${kind} ${those.length}`).sort()
    const [rolledOutMs, written] = [cpuMs, hub.writes.length]
    for (let step = 0; step < REST_STEPS; step++) await work()
    const restMs = ((cpuMs - rolledOutMs) / REST_STEPS) * (1000 / STEP_MS)
    const movedMs = rolledOutMs - restMs * seconds
    return { count, cpuMs: movedMs, restMs, seconds, writes: written, kinds: writes, perRing }
  } finally {
    await hub.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

await measure(20) // warm up the compiler
const results = []
for (const count of sizes.length > 0 ? sizes : [500, 1000, 2000]) {
  const result = await measure(count)
  results.push(result)
  const told = [...result.perRing].map(([ring, { seconds, ms }]) => `${ring} ${seconds} s, ${ms.toFixed(0)} ms of CPU`)
  console.log(
    `${count} clusters, 50 at a time: ${result.seconds} s; ${result.cpuMs.toFixed(0)} ms of CPU, ${(result.cpuMs / count).toFixed(2)} ms per cluster, and ${result.restMs.toFixed(1)} ms a second at rest; ${result.writes} writes, ${(result.writes / count).toFixed(2)} per cluster`,
  )
  console.log(`  ${told.join('; ')}\n  ${result.kinds.join(', ')}`)
}
const [first, last] = [results[0]!, results.at(-1)!]
console.log(
  `growth from ${first.count} to ${last.count} clusters: CPU per cluster ${(last.cpuMs / last.count / (first.cpuMs / first.count)).toFixed(2)}×, writes per cluster ${(last.writes / last.count / (first.writes / first.count)).toFixed(2)}×`,
)
