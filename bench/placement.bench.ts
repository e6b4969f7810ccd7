/**
 * Cost of placements: node bench/placement.bench.ts [CLUSTERS] [PLACEMENTS]. All placements are decided from cold, then
 * one cluster is relabelled, for placements that select all matching clusters and for placements that rank a number of
 * clusters. The same with a quarter of the fleet shows the growth. A PlacementDecision has at most 500 decisions, and
 * one changed cluster writes one of them. Measured is the CPU time of the decisions, without the API, the caches and
 * other processes.
 */
import { silentLogger } from '../src/core/log.ts'
import { createPlacementCache } from '../src/controllers/placement-decide/placement-cache.ts'
import { placementDecideReconciler } from '../src/controllers/placement-decide/reconcile.ts'
import { openDraft } from '../src/engine/draft.ts'
import { keyOf } from '../src/kinds/meta.ts'
import type { PlacementDecision } from '../src/kinds/native/placement-decision.ts'
import type { Placement } from '../src/kinds/native/placement.ts'
import { createPlacementLoads } from '../src/plan/placement/decisions/decision-load.ts'
import type { PlacementCluster } from '../src/plan/placement/types.ts'
import { createSeededIds } from '../src/sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../src/sim/kernel/virtual-clock.ts'
import { buildPlacement } from '../src/testing/fixtures/builders.ts'
import { allowEverywhere } from '../src/testing/fixtures/projects.ts'

const [clusters = 10_000, placements = 200] = process.argv.slice(2).map(Number)
const WARM_UP = 100
const RELABELS = 200
const REGIONS = 5

/** CPU time of this thread: what others do on the machine meanwhile does not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function fleetOf(count: number): PlacementCluster[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `store-${String(i).padStart(5, '0')}`,
    labels: { tier: i % 3 === 0 ? 'dc' : 'store', region: `r${i % REGIONS}`, ring: `n${i % 50}` },
    accepted: true,
    claims: { platform: i % 2 === 0 ? 'k3s' : 'eks' },
  }))
}

function placementsOf(count: number): Placement[] {
  return Array.from({ length: count }, (_, i) => {
    const made = buildPlacement(`ns/p${i}`, i % 4 === 0 ? { tier: 'store' } : { region: `r${i % REGIONS}` })
    if (i % 5 === 0) {
      const matchExpressions = [{ key: 'platform', operator: 'In' as const, values: ['k3s'] }]
      made.spec.predicates = [{ claimSelector: { matchExpressions } }]
    }
    if (i % 10 === 9) made.spec.numberOfClusters = 20
    return { ...made, metadata: { ...made.metadata, generation: 1 } }
  })
}

async function measure(clusterCount: number, placementCount: number) {
  const fleet = new Map(fleetOf(clusterCount).map((cluster) => [cluster.name, cluster]))
  const objects = new Map(placementsOf(placementCount).map((placement) => [keyOf(placement), placement]))
  const pages = new Map<string, Map<number, PlacementDecision>>()
  /** Placement → cluster → the page it is on. */
  const pageNumbers = new Map<string, Map<string, number>>()
  const written: PlacementDecision[] = []
  let writes = 0
  const books = createPlacementCache()
  const loads = createPlacementLoads()
  const put = async (page: PlacementDecision) => void written.push(page)
  const pageWith = (key: string, name: string) => pages.get(key)?.get(pageNumbers.get(key)?.get(name) ?? -1)
  /** What the API and the caches do with what was written is not measured; what the count of loads does is. */
  const settle = (): number => {
    let ms = 0
    for (const page of written.splice(0)) {
      writes++
      const key = `ns/${page.spec.placement}`
      const mine = pages.get(key) ?? new Map<number, PlacementDecision>()
      const numbers = pageNumbers.get(key) ?? new Map<string, number>()
      pages.set(key, mine)
      pageNumbers.set(key, numbers)
      const before = mine.get(page.spec.page)
      for (const { cluster } of before?.spec.decisions ?? []) numbers.delete(cluster)
      mine.set(page.spec.page, page)
      for (const { cluster } of page.spec.decisions) numbers.set(cluster, page.spec.page)
      const counting = cpuMs()
      loads.change(before, page)
      ms += cpuMs() - counting
    }
    return ms
  }
  const reconciler = placementDecideReconciler({
    projectOf: allowEverywhere,
    books,
    clusters: () => [...fleet.values()],
    clusterOf: (name) => fleet.get(name),
    sets: () => [],
    boundTo: () => [],
    loadBeside: (key) => loads.beside([...(pages.get(key)?.values() ?? [])]),
    holds: () => false,
    runs: () => false,
    empties: () => false,
    isJoining: () => true,
    bundlesOf: () => 0,
    noteEvicted: () => {},
    pagesOf: (key) => [...(pages.get(key)?.values() ?? [])],
    pageWith,
    createPage: put,
    updatePage: put,
    deletePage: async () => {},
  })
  const clock = createVirtualClock()
  const context = { clock, ids: createSeededIds(1), log: silentLogger, signal: new AbortController().signal }
  const pass = async (key: string) => {
    const draft = openDraft(objects.get(key)!, clock.now())
    await reconciler.reconcile(draft, context)
    objects.set(key, draft.next)
  }
  /** Milliseconds that one look takes. */
  const timed = async (key: string): Promise<number> => {
    const began = cpuMs()
    await pass(key)
    const ms = cpuMs() - began
    return ms + settle()
  }
  let coldMs = 0
  for (const key of objects.keys()) coldMs += await timed(key)
  const coldWrites = writes
  let warmWrites = writes

  const names = [...fleet.keys()]
  const spent = { simple: 0, ranked: 0 }
  const looks = { simple: 0, ranked: 0 }
  // At first pages are full to the last place, and those with a number have just chosen: both are looked at as a whole
  // once.
  for (let i = -WARM_UP; i < RELABELS; i++) {
    if (i === 0) {
      Object.assign(spent, { simple: 0, ranked: 0 })
      Object.assign(looks, { simple: 0, ranked: 0 })
      warmWrites = writes
    }
    const was = fleet.get(names[((i + WARM_UP) * 37) % names.length]!)!
    const is = { ...was, labels: { ...was.labels, region: `r${(i + WARM_UP + 1) % REGIONS}` } }
    fleet.set(was.name, is)
    for (const key of books.note(was, is, { now: clock.now(), pageWith })) {
      const kind = objects.get(key)!.spec.numberOfClusters === undefined ? 'simple' : 'ranked'
      looks[kind]++
      spent[kind] += await timed(key)
    }
  }
  return {
    coldMs,
    coldWrites,
    simpleMs: spent.simple / Math.max(1, looks.simple),
    rankedMs: spent.ranked / Math.max(1, looks.ranked),
    relabelMs: (spent.simple + spent.ranked) / RELABELS,
    looks: (looks.simple + looks.ranked) / RELABELS,
    writes: (writes - warmWrites) / RELABELS,
  }
}

await measure(200, 20) // warm up the compiler
const small = await measure(Math.ceil(clusters / 4), placements)
const large = await measure(clusters, placements)
for (const [size, result] of [
  [Math.ceil(clusters / 4), small],
  [clusters, large],
] as const) {
  console.log(
    `${size} clusters × ${placements} placements: cold ${result.coldMs.toFixed(0)} ms, ${result.coldWrites} pages; ` +
      `one relabelled cluster ${result.relabelMs.toFixed(2)} ms, ${result.looks.toFixed(1)} placements, ${result.writes.toFixed(1)} pages ` +
      `(each placement of all clusters ${result.simpleMs.toFixed(3)} ms, of a number ${result.rankedMs.toFixed(3)} ms)`,
  )
}
console.log(
  `four times the fleet: cold ×${(large.coldMs / small.coldMs).toFixed(1)}, one cluster ×${(large.relabelMs / small.relabelMs).toFixed(2)} (a placement of all clusters ×${(large.simpleMs / small.simpleMs).toFixed(2)}, of a number ×${(large.rankedMs / small.rankedMs).toFixed(2)})`,
)
