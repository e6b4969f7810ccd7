import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { PlacementCluster } from '../../plan/placement/types.ts'
import { PAGE_SIZE } from '../../plan/placement/decisions/paginate.ts'
import { decisionsOnPages, evictingOf, questionOf } from '../../plan/placement/read-objects.ts'
import { selectClusters } from '../../plan/placement/select-clusters.ts'
import { selectedOn } from '../../plan/placement/decisions/complete-pages.ts'
import { buildPlacement } from '../../testing/fixtures/builders.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { createPlacementCache } from './placement-cache.ts'
import { placementDecideReconciler } from './reconcile.ts'
import { allowEverywhere } from '../../testing/fixtures/projects.ts'

function fixture(count: number, bundles = 0) {
  const clusters: PlacementCluster[] = Array.from({ length: count }, (_, i) => ({
    name: `c${String(i).padStart(4, '0')}`,
    labels: { tier: 'store' },
    accepted: true,
  }))
  const pages = new Map<string, PlacementDecision>()
  const log: string[] = []
  let whileWriting = (): void => {}
  const holding = new Set<string>()
  /** Those of them whose tombstone is out. */
  const buried = new Set<string>()
  /** Those of them without a Bundle of another Placement. */
  const lone = new Set<string>()
  /** Clusters whose first document is new. */
  const joining = new Set<string>()
  let looks = 0
  const put = (verb: string) => async (page: PlacementDecision) => {
    log.push(`${verb} ${page.metadata.name}`)
    pages.set(page.metadata.name, page)
    whileWriting()
    whileWriting = () => {}
  }
  const books = createPlacementCache()
  const pageWith = (_: string, name: string) =>
    [...pages.values()].find(({ spec }) => spec.decisions.some(({ cluster }) => cluster === name))
  const reconciler = placementDecideReconciler({
    projectOf: allowEverywhere,
    books,
    clusters: () => {
      looks++
      return clusters
    },
    clusterOf: (name) => clusters.find((cluster) => cluster.name === name),
    sets: () => [],
    boundTo: () => [],
    loadBeside: () => ({ countOf: () => 0, max: 0 }),
    holds: (_, cluster) => holding.has(cluster),
    runs: (_, cluster) => holding.has(cluster) && !buried.has(cluster),
    empties: (_, cluster) => lone.has(cluster),
    isJoining: (cluster) => joining.has(cluster),
    bundlesOf: () => bundles,
    noteEvicted: () => {},
    pagesOf: () => [...pages.values()],
    pageWith,
    createPage: put('create'),
    updatePage: put('update'),
    deletePage: async (page) => {
      log.push(`delete ${page.metadata.name}`)
      pages.delete(page.metadata.name)
    },
  })
  /** Changes one cluster, as a watch would tell it. */
  const change = (at: number, next: PlacementCluster | undefined) => {
    const was = clusters[at]
    if (next) clusters[at] = next
    else clusters.splice(at, 1)
    return books.note(was, next, { now: 0, pageWith })
  }
  /** Something that happens once, in the middle of a pass. */
  const meanwhile = (happens: () => void) => void (whileWriting = happens)
  const selected = () => selectedOn([...pages.values()].map(({ spec }) => spec))
  return {
    clusters,
    pages,
    log,
    reconciler,
    change,
    holding,
    joining,
    lone,
    buried,
    meanwhile,
    selected,
    looks: () => looks,
  }
}

const placement = (generation: number, labels = { tier: 'store' }): Placement => {
  const made = buildPlacement('ns/p', labels)
  return { ...made, metadata: { ...made.metadata, generation, uid: 'u' } }
}

const ready = (object: Placement) => object.status?.conditions?.find(({ type }) => type === 'Ready')

const words = (error: unknown) => (error instanceof Error ? error.message : '')

test('a cluster that joins in the middle of a pass is not forgotten by it', async () => {
  const { reconciler, change, meanwhile, selected } = fixture(2)
  const newcomer = (name: string) => ({ name, labels: { tier: 'store' }, accepted: true })
  // First while the whole fleet is looked at, then while only a changed cluster is.
  meanwhile(() => void change(2, newcomer('d1')))
  const first = await reconcileOnce(reconciler, placement(1))
  const second = await reconcileOnce(reconciler, first.draft.next)
  assert.deepEqual(selected(), ['c0000', 'c0001', 'd1'])
  change(3, newcomer('d2'))
  meanwhile(() => void change(4, newcomer('d3')))
  const third = await reconcileOnce(reconciler, second.draft.next)
  await reconcileOnce(reconciler, third.draft.next)
  assert.deepEqual(selected(), ['c0000', 'c0001', 'd1', 'd2', 'd3'])
})

test('pages are written once; a newcomer writes one page without a look at the others; a new question writes all', async () => {
  const { clusters, pages, log, reconciler, change, looks } = fixture(PAGE_SIZE + 1)
  const first = await reconcileOnce(reconciler, placement(1))
  assert.deepEqual(log.splice(0), ['create p-0', 'create p-1'])
  assert.deepEqual(
    [first.draft.next.status?.selected, first.draft.next.status?.pages, first.draft.next.status?.decisionsGeneration],
    [PAGE_SIZE + 1, 2, 1],
  )
  assert.equal((await reconcileOnce(reconciler, first.draft.next)).commit, 'Nothing')
  assert.deepEqual(log, [])
  const whole = looks()

  assert.deepEqual(change(clusters.length, { name: 'a', labels: { tier: 'store' }, accepted: true }), ['ns/p'])
  const grown = await reconcileOnce(reconciler, first.draft.next)
  assert.deepEqual(log.splice(0), ['update p-1'])
  assert.equal(grown.draft.next.status?.selected, PAGE_SIZE + 2)
  assert.equal(ready(grown.draft.next)?.message, `${PAGE_SIZE + 2} clusters selected.`)
  assert.deepEqual(change(0, { ...clusters[0]!, labels: { tier: 'dc' } }), ['ns/p'])
  const shrunk = await reconcileOnce(reconciler, grown.draft.next)
  assert.deepEqual(log.splice(0), ['update p-0'])
  assert.equal(shrunk.draft.next.status?.selected, PAGE_SIZE + 1)
  assert.deepEqual(change(0, { ...clusters[0]!, labels: { tier: 'hq' } }), [], 'stopped before and after')
  assert.equal(looks(), whole)

  await reconcileOnce(reconciler, placement(2))
  assert.deepEqual(log.splice(0), ['update p-0', 'update p-1'])
  assert.deepEqual(
    [...pages.values()].map((page) => page.spec.placementGeneration),
    [2, 2],
  )
})

test('an empty answer keeps its sentence up to date, one cluster at a time', async () => {
  const { clusters, reconciler, change, looks } = fixture(2)
  const first = await reconcileOnce(reconciler, placement(1, { tier: 'dc' }))
  assert.equal(
    ready(first.draft.next)?.message,
    'No cluster is selected: 2 with labels that do not match the selector.',
  )
  assert.deepEqual(change(0, { ...clusters[0]!, accepted: false }), ['ns/p'])
  const second = await reconcileOnce(reconciler, first.draft.next)
  assert.equal(
    ready(second.draft.next)?.message,
    'No cluster is selected: 1 with labels that do not match the selector, 1 not accepted yet.',
  )
  assert.equal(looks(), 1)
})

test('pages that a shorter answer leaves over are removed last', async () => {
  const { clusters, log, reconciler } = fixture(PAGE_SIZE + 1)
  await reconcileOnce(reconciler, placement(1))
  log.length = 0
  clusters.length = 1
  await reconcileOnce(reconciler, placement(2))
  assert.deepEqual(log, ['update p-0', 'delete p-1'])
})

test('a cluster that loses its label and runs something is Evicting until it runs nothing', async () => {
  const { clusters, pages, reconciler, change, holding } = fixture(2)
  holding.add('c0000').add('c0001')
  const first = await reconcileOnce(reconciler, placement(1))
  change(0, { ...clusters[0]!, labels: {} })
  const second = await reconcileOnce(reconciler, first.draft.next)
  const decisions = () => pages.get('p-0')!.spec.decisions.map(({ cluster, state }) => `${cluster} ${state}`)
  assert.deepEqual(decisions(), ['c0000 Evicting', 'c0001 Selected'])
  assert.equal(second.draft.next.status?.selected, 1)
  holding.delete('c0000')
  change(0, { ...clusters[0]!, labels: { other: 'x' } })
  await reconcileOnce(reconciler, placement(2))
  assert.deepEqual(decisions(), ['c0001 Selected'])
})

test('a drop beyond the guard is held with the words that release it; the release is recorded', async () => {
  const { clusters, pages, reconciler, change } = fixture(20)
  const guarded = placement(1)
  guarded.spec.guard = { maxDropped: 3 }
  const first = await reconcileOnce(reconciler, guarded)
  for (let i = 0; i < 4; i++) change(i, { ...clusters[i]!, labels: {} })
  const held = await reconcileOnce(reconciler, first.draft.next)
  const { status } = held.draft.next
  assert.equal(
    words(held.error).startsWith(
      'The change would drop 4 of 20 clusters; at most 3 can be dropped at once. c0000: the selector wants tier=store, but the cluster has no label tier; and 3 more. The decisions before it stay in force. Let it through with: flotilla guard release placement p -n ns (token g1-drop4-',
    ),
    true,
  )
  assert.deepEqual([status?.selected, status?.held?.dropping, status?.held?.allowed], [20, 4, 3])
  assert.equal(pages.get('p-0')!.spec.decisions.length, 20)
  held.draft.next.metadata.annotations = { [ALLOW_DROP_ANNOTATION]: status!.held!.token }
  const released = await reconcileOnce(reconciler, held.draft.next)
  assert.deepEqual([released.draft.next.status?.selected, released.draft.next.status?.held], [16, undefined])
  assert.equal(released.draft.next.status?.released?.dropped, 4)
})

test('the last Bundle of a cluster: the Placement asks, its condition names cluster and label, and a release counts once', async () => {
  const { clusters, reconciler, change, holding, lone, selected } = fixture(30)
  for (const { name } of clusters) holding.add(name)
  lone.add('c0003')
  let now = (await reconcileOnce(reconciler, placement(1))).draft.next
  const become = async (at: number, labels: Record<string, string>) => {
    change(at, { ...clusters[at]!, labels })
    const pass = await reconcileOnce(reconciler, now)
    now = pass.draft.next
    return pass
  }
  assert.equal((await become(2, {})).error, undefined, 'something else runs on it')
  const held = await become(3, { tier: 'stroe' })
  assert.match(
    words(held.error),
    /^The change would drop 1 of 29 clusters\. No Bundle would be left on c0003\. c0003: the selector wants tier=store, but tier is "stroe"\. The decisions before it stay in force\./,
  )
  const { token, message = '-' } = now.status!.held!
  assert.ok(words(held.error).startsWith(message))
  now = { ...now, metadata: { ...now.metadata, annotations: { [ALLOW_DROP_ANNOTATION]: token } } }
  now = (await reconcileOnce(reconciler, now)).draft.next
  assert.deepEqual([now.status?.held, now.status?.released?.token, selected().length], [undefined, token, 28])
  await become(3, { tier: 'store' })
  assert.equal(selected().length, 29)
  const again = await become(3, {})
  assert.match(words(again.error), /^The change would drop 1 of 29 clusters/, 'the token was for the change before')
  assert.notEqual(now.status?.held?.token, token)
  await become(3, { tier: 'store' })
  assert.deepEqual([now.status?.held, ready(now)?.reason], [undefined, 'Decided'], 'the label is back')
})

test('a misconfigured edit keeps the last good decisions in force and says so', async () => {
  const { pages, reconciler } = fixture(2)
  const first = await reconcileOnce(reconciler, placement(1))
  const edited = { ...placement(2), status: first.draft.next.status! }
  edited.spec.tolerations = [{ value: 'x' }]
  const second = await reconcileOnce(reconciler, edited)
  assert.match(words(second.error), /operator must be Exists\. The last good decisions stay in force\./)
  assert.deepEqual(
    [pages.get('p-0')!.spec.placementGeneration, pages.get('p-0')!.spec.decisions.length],
    [2, 2],
    'readers of the new generation find them',
  )
  const { reconciler: fresh, log } = fixture(2)
  assert.match(words((await reconcileOnce(fresh, edited)).error), /must be Exists\.$/)
  assert.deepEqual(log, [], 'without decisions before there is nothing to keep')
})

test('a cluster that was let go, and is wanted again while it is silent, is no newcomer unless its tombstone is out', async () => {
  const { clusters, pages, reconciler, change, holding, buried, selected } = fixture(2)
  holding.add('c0000').add('c0001')
  let now = (await reconcileOnce(reconciler, placement(1))).draft.next
  const become = async (labels: Record<string, string>, silent: boolean) => {
    const { taints: _, ...bare } = clusters[0]!
    const taints = [{ key: 'flotilla.dev/unreachable', effect: 'NoSelectIfNew' as const }]
    const asked = change(0, { ...bare, labels, ...(silent ? { taints } : {}) })
    now = (await reconcileOnce(reconciler, now)).draft.next
    return asked
  }
  assert.deepEqual(
    [await become({ tier: 'store' }, true), selected()],
    [[], ['c0000', 'c0001']],
    'silence drops no cluster',
  )
  await become({ tier: 'lab' }, true)
  assert.deepEqual(selected(), ['c0001'])
  await become({ tier: 'store' }, true)
  assert.deepEqual(selected(), ['c0000', 'c0001'], 'it runs it still')
  await become({ tier: 'lab' }, true)
  buried.add('c0000')
  await become({ tier: 'store' }, true)
  assert.deepEqual(selected(), ['c0001'], 'the cluster is not selected anew')
  assert.match(pages.get('p-0')!.spec.decisions[0]!.reason, /^no longer selected \(.*flotilla\.dev\/unreachable/)
  assert.deepEqual([await become({ tier: 'store' }, false), selected()], [['ns/p'], ['c0000', 'c0001']])
})

test('a toleration that ends is looked at again in time', async () => {
  const { clusters, reconciler } = fixture(1)
  clusters[0] = { ...clusters[0]!, taints: [{ key: 'k', effect: 'NoSelect', timeAdded: '1970-01-01T00:00:00Z' }] }
  const timed = placement(1)
  timed.spec.tolerations = [{ key: 'k', operator: 'Exists', tolerationSeconds: 4_000_000_000 }]
  const { result } = await reconcileOnce(reconciler, timed)
  assert.equal((result?.requeueAfterMs ?? 0) > 0, true)
})

test('a placement that is being deleted is left alone', async () => {
  const { log, reconciler } = fixture(1)
  const leaving = placement(1)
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.equal((await reconcileOnce(reconciler, leaving)).commit, 'Nothing')
  assert.deepEqual(log, [])
})

const ranked = (numberOfClusters: number | undefined): Placement => {
  const made = placement(1)
  return { ...made, spec: { ...made.spec, ...(numberOfClusters === undefined ? {} : { numberOfClusters }) } }
}

test('a number of clusters: who is not among them changes without a look at the fleet, who is among them does not', async () => {
  const { clusters, reconciler, change, selected, looks } = fixture(40)
  let now = (await reconcileOnce(reconciler, ranked(3))).draft.next
  now = (await reconcileOnce(reconciler, now)).draft.next
  // Chosen once, they are steady from the next look on.
  change(39, { ...clusters[39]!, labels: { tier: 'lab' } })
  now = (await reconcileOnce(reconciler, now)).draft.next
  const before = looks()
  for (const [at, tier] of [
    [20, 'lab'],
    [20, 'store'],
    [21, 'lab'],
  ] as const) {
    change(at, { ...clusters[at]!, labels: { tier } })
    now = (await reconcileOnce(reconciler, now)).draft.next
  }
  assert.deepEqual([looks(), selected()], [before, ['c0000', 'c0001', 'c0002']])
  change(1, { ...clusters[1]!, labels: { tier: 'lab' } })
  now = (await reconcileOnce(reconciler, now)).draft.next
  assert.deepEqual([looks(), selected()], [before + 1, ['c0000', 'c0002', 'c0003']])
})

test('looking at changed clusters alone gives what a look at the whole fleet gives, whatever changes', async () => {
  let saved = 0
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 1 }),
      fc.boolean(),
      fc.array(
        fc.record({
          // One of them often: what happened to a cluster before matters.
          at: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 11 })),
          tier: fc.constantFrom('store', 'store', 'lab'),
          taint: fc.constantFrom(undefined, 'PreferNoSelect' as const, 'NoSelect' as const, 'NoSelectIfNew' as const),
        }),
        { maxLength: 25 },
      ),
      async (number, holds, changes) => {
        const { clusters, pages, reconciler, selected, change, holding, looks } = fixture(12)
        if (holds) for (const { name } of clusters) holding.add(name)
        const everything = ranked(number)
        everything.spec.guard = { maxDropped: '100%' }
        let now = (await reconcileOnce(reconciler, everything)).draft.next
        for (const { at, tier, taint } of changes) {
          const { taints: _, ...bare } = clusters[at]!
          change(at, { ...bare, labels: { tier }, ...(taint ? { taints: [{ key: 'x', effect: taint }] } : {}) })
          const incumbents = new Map(selected().map((name) => [name, undefined] as const))
          const load = { countOf: () => 0, max: 0 }
          const evicting = new Set(holds ? evictingOf(decisionsOnPages([...pages.values()])) : [])
          const world = { sets: [], bound: [], incumbents, evicting, load, now: 0 }
          const expected = selectClusters(questionOf(now), clusters, world)
          const before = looks()
          now = (await reconcileOnce(reconciler, now)).draft.next
          assert.deepEqual([...selected()].sort(), [...expected.selected.keys()].sort())
          if (looks() === before) saved++
        }
      },
    ),
    { numRuns: 300 },
  )
  assert.ok(saved > 100, `only ${saved} changes were decided without a look at the fleet`)
})

test('labels that change one by one are stopped once they more than double the Placement within an hour', async () => {
  const { clusters, reconciler, change, selected, joining } = fixture(20, 100)
  for (let at = 5; at < 20; at++) change(at, { ...clusters[at]!, labels: {} })
  const clock = createVirtualClock()
  let now = (await reconcileOnce(reconciler, placement(1), clock)).draft.next
  assert.equal(selected().length, 5)
  const label = async (at: number) => {
    change(at, { ...clusters[at]!, labels: { tier: 'store' } })
    const pass = await reconcileOnce(reconciler, now, clock)
    now = pass.draft.next
    return pass
  }
  joining.add(clusters[19]!.name)
  await label(19)
  assert.equal('growing' in now.status!, false, 'a cluster that joins is not counted')
  for (let at = 5; at < 15; at++) assert.equal((await label(at)).error, undefined, String(at))
  assert.deepEqual([now.status?.growing?.of, now.status?.growing?.added], [6, 10])
  assert.match(
    words((await label(15)).error),
    /would add 100 bundles on clusters, .* added 1,000 to 600 within the last/,
  )
  assert.equal(selected().length, 16)
  await clock.advance(7_200_000)
  assert.match(words((await label(16)).error), /would add 200 /, 'time does not release a change')
  now.metadata.annotations = { [ALLOW_DROP_ANNOTATION]: now.status!.held!.token }
  const released = await reconcileOnce(reconciler, now, clock)
  now = released.draft.next
  assert.deepEqual([selected().length, 'growing' in now.status!, 'held' in now.status!], [18, false, false])
  await clock.advance(7_200_000)
  assert.equal((await label(17)).error, undefined)
  assert.deepEqual([now.status?.growing?.of, now.status?.growing?.added], [18, 1], 'a new hour')
})
