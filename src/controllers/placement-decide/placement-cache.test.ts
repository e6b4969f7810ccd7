import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { compileFilter, firstRejection } from '../../plan/placement/filter.ts'
import type { FilterReason } from '../../plan/placement/filter.ts'
import type { PlacementCluster } from '../../plan/placement/types.ts'
import { buildPlacement } from '../../testing/fixtures/builders.ts'
import {
  PLACEMENT_NOW,
  placementCluster,
  placementQuestion,
  placementWorld,
} from '../../testing/fixtures/placement-builders.ts'
import { createPlacementCache } from './placement-cache.ts'
import type { CachedPlacement } from './placement-cache.ts'

const PLACEMENT = { ...buildPlacement('shop/stores'), metadata: { namespace: 'shop', name: 'stores', generation: 3 } }
const KEY = 'shop/stores'
const question = placementQuestion({ clusterSelector: { matchLabels: { tier: 'store' } } })
const filter = compileFilter(question, placementWorld())
const AT = { now: PLACEMENT_NOW, incumbent: false }

/** The counts of a whole pass over the fleet. */
function recount(fleet: Iterable<PlacementCluster>): Record<FilterReason, number> {
  const stopped = { Leaving: 0, NotAccepted: 0, SetDiffers: 0, SelectorDiffers: 0, PredicatesDiffer: 0, Tainted: 0 }
  for (const cluster of fleet) {
    const reason = firstRejection(filter, cluster, AT)
    if (reason !== undefined) stopped[reason]++
  }
  return stopped
}

function entryFor(fleet: ReadonlyMap<string, PlacementCluster>): CachedPlacement {
  const selected = [...fleet.values()].filter((one) => firstRejection(filter, one, AT) === undefined).length
  return {
    generation: 3,
    question,
    filter,
    stopped: recount(fleet.values()),
    total: fleet.size,
    changedClusters: new Set(),
    pages: 1,
    selected,
  }
}

interface ClusterCase {
  readonly name: string
  readonly tier: string
  readonly accepted: boolean
  readonly leaving: boolean
  readonly isTainted: boolean
}
const clusters: fc.Arbitrary<ClusterCase> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  tier: fc.constantFrom('store', 'office'),
  accepted: fc.boolean(),
  leaving: fc.boolean(),
  isTainted: fc.boolean(),
})
const taints = [{ key: 'down', effect: 'NoSelect' as const }]
const clusterOf = ({ name, tier, accepted, leaving, isTainted }: ClusterCase): PlacementCluster =>
  placementCluster(name, { tier }, { accepted, ...(leaving ? { leaving } : {}), ...(isTainted ? { taints } : {}) })
const steps = fc.array(fc.tuple(clusters, fc.boolean()), { maxLength: 40 })

test('after any changes the counts are those of a whole pass, and each changed decision is named', () => {
  fc.assert(
    fc.property(fc.uniqueArray(clusters, { selector: ({ name }) => name }), steps, (first, changes) => {
      const fleet = new Map(first.map((one) => [one.name, clusterOf(one)]))
      const passes = new Set(
        [...fleet.values()].filter((one) => !firstRejection(filter, one, AT)).map(({ name }) => name),
      )
      const cache = createPlacementCache()
      cache.keep(PLACEMENT, entryFor(fleet), cache.mark())
      const entry = cache.open(PLACEMENT)!
      for (const [change, isGone] of changes) {
        const was = fleet.get(change.name)
        const is = isGone ? undefined : clusterOf(change)
        if (is) fleet.set(change.name, is)
        else fleet.delete(change.name)
        cache.note(was, is, { now: PLACEMENT_NOW, pageWith: () => undefined })
      }
      assert.deepEqual(entry.stopped, recount(fleet.values()))
      assert.equal(entry.total, fleet.size)
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        const cluster = fleet.get(name)
        const isIn = cluster !== undefined && firstRejection(filter, cluster, AT) === undefined
        if (isIn !== passes.has(name)) assert.ok(entry.changedClusters.has(name), name)
      }
    }),
  )
})

test('a pass that a change overtook is not kept, nor is an entry of another generation used', () => {
  const cache = createPlacementCache()
  const since = cache.mark()
  cache.note(undefined, placementCluster('a'), { now: PLACEMENT_NOW, pageWith: () => undefined })
  cache.keep(PLACEMENT, entryFor(new Map()), since)
  assert.equal(cache.has(KEY), false)
  cache.keep(PLACEMENT, entryFor(new Map()), cache.mark())
  assert.ok(cache.open(PLACEMENT))
  assert.equal(cache.open({ ...PLACEMENT, metadata: { ...PLACEMENT.metadata, generation: 4 } }), undefined)
  cache.drop(KEY)
  assert.equal(cache.open(PLACEMENT), undefined)
})

test('a change that alters no decision wakes nothing, unless the Placement selects no cluster and tells why', () => {
  const fleet = new Map([['a', placementCluster('a', { tier: 'store' })]])
  const context = { now: PLACEMENT_NOW, pageWith: () => undefined }
  const office = placementCluster('b', { tier: 'office' })
  const full = createPlacementCache()
  full.keep(PLACEMENT, entryFor(fleet), full.mark())
  assert.deepEqual(full.note(undefined, office, context), [])
  assert.deepEqual(full.note(undefined, placementCluster('c', { tier: 'store' }), context), [KEY])
  const empty = createPlacementCache()
  empty.keep(PLACEMENT, entryFor(new Map()), empty.mark())
  assert.deepEqual(empty.note(undefined, office, context), [KEY])
})

test('a cluster that has a decision wakes its Placement, also when the filters reject it before and after', () => {
  const cache = createPlacementCache()
  const office = placementCluster('a', { tier: 'office' })
  cache.keep(PLACEMENT, { ...entryFor(new Map([['a', office]])), selected: 1 }, cache.mark())
  const page = { spec: { decisions: [{ cluster: 'a' }] } } as unknown as PlacementDecision
  const pageWith = (placement: string, cluster: string) => (placement === KEY && cluster === 'a' ? page : undefined)
  const leaving = { ...office, leaving: true }
  assert.deepEqual(cache.note(office, leaving, { now: PLACEMENT_NOW, pageWith }), [KEY])
  assert.deepEqual([...cache.open(PLACEMENT)!.changedClusters], ['a'])
})

test('a page counts as written by the controller only while it writes it', () => {
  const cache = createPlacementCache()
  const writing = cache.writing('shop/stores-0')
  assert.ok(cache.isWriting('shop/stores-0'))
  assert.ok(!cache.isWriting('shop/stores-1'))
  writing.done()
  assert.ok(!cache.isWriting('shop/stores-0'))
})
