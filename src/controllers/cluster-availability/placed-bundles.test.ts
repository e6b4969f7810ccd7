import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { build, buildBundle, buildCluster } from '../../testing/fixtures/builders.ts'
import { clustersOfBundle, placedBundles, reselectedClusters } from './placed-bundles.ts'

type PlacedCaches = Parameters<typeof placedBundles>[0]

const page = (decisions: Readonly<Record<string, 'Selected' | 'Evicting'>>, placementGeneration = 1) =>
  build(PlacementDecision, 'ns/stores-0', {
    spec: {
      placement: 'stores',
      placementGeneration,
      page: 0,
      pages: 1,
      decisions: Object.entries(decisions).map(([cluster, state]) => ({ cluster, state, reason: 'x' })),
    },
  })
const bundle = (name: string, release?: string): Bundle => {
  const made = buildBundle(`ns/${name}`)
  return {
    ...made,
    spec: { ...made.spec, placement: 'stores' },
    ...(release === undefined ? {} : { status: { release } }),
  }
}

/** Caches of a world that has one Placement with one page. */
function caches(decisions: PlacementDecision, bundles: readonly Bundle[], given: readonly string[] = []): PlacedCaches {
  const placement = build(Placement, 'ns/stores', { spec: { clusterSelector: {} } })
  const release = build(Release, 'ns/web-g1', {
    spec: {
      bundles: [
        {
          name: 'web',
          generation: 1,
          placement: 'stores',
          set: digestOf('s'),
          variants: [
            { when: { 'labels.till': 'no' }, problem: 'no till' },
            { when: { 'labels.till': 'skip' }, skip: 'no-pos' },
            { when: {}, set: digestOf('s') },
          ],
        },
      ],
    },
  })
  const lister = (get: (key: string) => unknown, by: (index: string, key: string) => unknown) => ({
    lister: { get, by },
  })
  return {
    placements: lister(
      () => ({ ...placement, metadata: { ...placement.metadata, generation: 1 } }),
      () => [],
    ),
    decisions: lister(
      () => undefined,
      (index, key) =>
        index === 'placement' || decisions.spec.decisions.some(({ cluster }) => cluster === key) ? [decisions] : [],
    ),
    bundles: lister(
      () => undefined,
      () => bundles,
    ),
    releases: lister(
      (key) => (key === 'ns/web-g1' ? release : undefined),
      () => [],
    ),
    assignments: lister(
      (key) => (given.includes(key) ? { spec: { entries: [{}] } } : undefined),
      () => [],
    ),
  } as unknown as PlacedCaches
}

const at = (till?: string) => buildCluster('a', { labels: till === undefined ? {} : { till } })

test('the bundles whose Placement selects the cluster are to reach it', () => {
  const two = [bundle('web', 'web-g1'), bundle('base')]
  const here = caches(page({ a: 'Selected' }), two)
  assert.deepEqual(placedBundles(here, at()), [{ bundle: 'ns/base' }, { bundle: 'ns/web' }])
  assert.deepEqual(placedBundles(here, at('no')), [{ bundle: 'ns/base' }, { bundle: 'ns/web', problem: 'no till' }])
  assert.deepEqual(placedBundles(here, at('skip')), [{ bundle: 'ns/base' }], 'a variant excludes it')
  assert.deepEqual(placedBundles(caches(page({ a: 'Evicting' }), two), at()), [])
  assert.deepEqual(placedBundles(caches(page({ a: 'Selected' }, 2), two), at()), [], 'decisions of another generation')
  assert.deepEqual(placedBundles(caches(page({ b: 'Selected' }), two), at()), [])
  assert.deepEqual(placedBundles(caches(page({ a: 'Selected' }), []), at()), [], 'a Placement without a Bundle')
})

test('a change of decisions counts for the clusters that come or go', () => {
  const change = (before: PlacementDecision | undefined, after: PlacementDecision | undefined) =>
    reselectedClusters({ key: 'ns/stores-0', before, after }).sort()
  assert.deepEqual(change(page({ a: 'Selected', b: 'Selected' }), page({ b: 'Selected', c: 'Selected' })), ['a', 'c'])
  assert.deepEqual(change(page({ a: 'Selected' }), page({ a: 'Evicting' })), ['a'])
  assert.deepEqual(change(undefined, page({ a: 'Selected' })), ['a'])
  assert.deepEqual(change(page({ a: 'Selected' }), page({ a: 'Selected' }, 2)), ['a'], 'it may be in force now')
})

test('a change of a Bundle counts for clusters without bundles, and for all where content is missing', () => {
  const both = page({ a: 'Selected', b: 'Selected' })
  const of = (before: Bundle | undefined, after: Bundle | undefined) =>
    clustersOfBundle(caches(both, [], ['b']), { key: 'ns/web', before, after })
  assert.deepEqual(of(undefined, bundle('web')), ['a'])
  assert.deepEqual(of(bundle('web'), bundle('web')), [])
  assert.deepEqual(of(bundle('web'), bundle('web', 'web-g1')), ['a', 'b'])
  assert.deepEqual(of(bundle('web', 'web-g1'), bundle('web', 'web-g2')), ['a', 'b'], 'the problem may be over')
})
