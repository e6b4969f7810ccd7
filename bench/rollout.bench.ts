/**
 * What a rollout costs the hub: node bench/rollout.bench.ts [CLUSTERS]. One bundle moves through three rings of
 * simulated clusters; reports come in bursts, as many as a gateway brings at once, and each burst is one look at the
 * Rollout. The same with a quarter of the fleet, to see the growth: of the whole, of a look at one report, and of each
 * of a thousand reports that come one by one within a second. Once with as many slots as a share of the fleet, and once
 * with fifty however large it is: a Rollout has its slots written in it, so a look follows those, and not the fleet.
 */
import { digestOf } from '../src/core/crypto/digest.ts'
import { silentLogger } from '../src/core/log.ts'
import { createKeyedThrottle } from '../src/engine/keyed-throttle.ts'
import { createRosterCache } from '../src/controllers/rollout-advance/roster-cache.ts'
import { createPassPace } from '../src/controllers/rollout-advance/pass-pace.ts'
import { restOf, rolloutAdvanceReconciler } from '../src/controllers/rollout-advance/reconcile.ts'
import { decideWrite, openDraft } from '../src/engine/draft.ts'
import { Release } from '../src/kinds/native/release.ts'
import { Rollout } from '../src/kinds/native/rollout.ts'
import type { RolloutCluster } from '../src/plan/rollout/bundle-on-cluster.ts'
import { createSeededIds } from '../src/sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../src/sim/kernel/virtual-clock.ts'
import { build } from '../src/testing/fixtures/builders.ts'

const [clusters = 10_000] = process.argv.slice(2).map(Number)
const SINGLE = 200
const STREAM = 1000
const set = digestOf('content')
const release = build(Release, 'ns/hello-g2', {
  spec: { bundles: [{ name: 'hello', generation: 2, set, placement: 'p' }] },
})
const ringsWith = (concurrency: number | string) => [
  { name: 'canary', share: '1%', concurrency },
  { name: 'early', share: '10%', concurrency },
  { name: 'rest', concurrency, maxFailed: '2%' },
]

async function measure(count: number, concurrency: number | string) {
  const names = Array.from({ length: count }, (_, i) => `store-${String(i).padStart(5, '0')}`)
  const fleet = new Map<string, RolloutCluster>()
  const seen = { state: 'Available', reason: 'Seen', message: '' } as const
  for (const name of names) fleet.set(name, { availability: seen, assigned: new Map(), reported: new Map() })
  const well: RolloutCluster = {
    availability: seen,
    assigned: new Map([['ns/hello', { generation: 2, set }]]),
    reported: new Map([['ns/hello', { generation: 2, set, state: 'Ready' as const }]]),
  }
  const drifted: RolloutCluster = {
    ...well,
    reported: new Map([['ns/hello', { generation: 2, set, state: 'Drifted' as const }]]),
  }
  const clock = createVirtualClock()
  const books = createRosterCache()
  const report = (name: string, state: RolloutCluster) => {
    fleet.set(name, state)
    books.note(name)
  }
  const pace = createPassPace(clock)
  const reconciler = rolloutAdvanceReconciler({
    gather: () => ({
      release,
      selectedBy: () => names,
      selectionStamp: () => 'complete',
      selects: (_placement, name) => fleet.has(name),
      clusterOf: (name) => fleet.get(name),
      inputsOf: () => undefined,
      groupsOf: () => [],
      holds: { of: () => undefined, until: () => undefined },
      windows: undefined,
      rolloutsOf: () => [],
      hasBundle: () => true,
      removal: undefined,
      holdersOf: () => [],
      isHolder: () => false,
      approvals: [],
      gateAnswerOf: () => undefined,
      readinessOf: () => undefined,
    }),
    askGates: () => {},
    statusThrottle: createKeyedThrottle(clock, 1000),
    pace,
    rosterCache: books,
  })
  const context = { clock, ids: createSeededIds('bench'), log: silentLogger, signal: new AbortController().signal }
  let rollout = build(Rollout, 'ns/hello-g2', {
    spec: { release: 'hello-g2', rings: ringsWith(concurrency), paused: false },
  })
  let writes = 0
  let looks = 0
  let ms = 0
  const perRing = new Map<string, { looks: number; ms: number }>()
  const look = async () => {
    const draft = openDraft(rollout, clock.now())
    const began = process.cpuUsage()
    // A Rollout that rests is not reconciled.
    if (restOf(rollout, pace) === 0) await reconciler.reconcile(draft, context)
    const { user, system } = process.cpuUsage(began)
    const took = (user + system) / 1000
    looks++
    ms += took
    if (decideWrite(draft) !== 'Nothing') {
      writes++
      rollout = draft.next
    }
    const ring = perRing.get(rollout.status?.ring ?? '') ?? { looks: 0, ms: 0 }
    perRing.set(rollout.status?.ring ?? '', { looks: ring.looks + 1, ms: ring.ms + took })
    return took
  }
  const singles: number[] = []
  await look()
  while (rollout.status?.phase !== 'Completed') {
    const moving = (rollout.status?.admissions ?? []).map(({ cluster }) => cluster)
    for (const name of moving) {
      report(name, well)
      if (singles.length >= SINGLE || rollout.status?.ring !== 'rest') continue
      await clock.advance(1000)
      singles.push(await look())
    }
    await clock.advance(2000)
    await look()
  }
  // The middle one: a collection of garbage belongs to all of them.
  const single = singles.sort((a, b) => a - b)[singles.length >> 1]!
  const whole = { count, writes, looks, ms, single, perRing: new Map(perRing) }
  let streamed = 0
  for (let i = 0; i < STREAM; i++) {
    await clock.advance(1)
    const name = names[(i * 7) % count]!
    report(name, i % 2 === 0 ? drifted : well)
    streamed += await look()
  }
  return { ...whole, stream: streamed / STREAM }
}

await measure(1000, '10%')
for (const concurrency of ['10%', 50]) {
  const few = await measure(Math.ceil(clusters / 4), concurrency)
  const many = await measure(clusters, concurrency)
  for (const { count, writes, looks, ms, single, stream, perRing } of [few, many]) {
    const told = [...perRing].map(([ring, cost]) => `${ring} ${cost.looks} looks ${cost.ms.toFixed(0)} ms`).join(', ')
    console.log(
      `${count} clusters, ${concurrency} at a time: ${looks} looks, ${writes} writes, ${ms.toFixed(0)} ms of CPU (${told})`,
    )
    console.log(
      `  ${((1000 * ms) / count).toFixed(0)} µs per cluster; a look at one report takes ${single.toFixed(2)} ms; a report of ${STREAM} in a second ${(1000 * stream).toFixed(0)} µs`,
    )
  }
  console.log(
    `  growth for 4× the fleet: per cluster ${(many.ms / many.count / (few.ms / few.count)).toFixed(2)}×, a look ${(many.single / few.single).toFixed(2)}×, a report in a stream ${(many.stream / few.stream).toFixed(2)}×`,
  )
}
