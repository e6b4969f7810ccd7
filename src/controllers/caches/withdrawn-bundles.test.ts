import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import type { Caches } from './caches.ts'
import { isWithdrawn } from './withdrawn-bundles.ts'

const page = (placement: string, state: 'Selected' | 'Evicting') =>
  build(PlacementDecision, `ns/${placement}-0`, {
    spec: { placement, placementGeneration: 1, page: 0, pages: 1, decisions: [{ cluster: 'c', reason: '', state }] },
  })

const removal = (settled: readonly string[]) =>
  build(Rollout, 'ns/b-removal-1', {
    spec: {
      release: 'b',
      paused: true,
      removal: { bundle: 'b', cause: 'unplaced', policy: 'Delete', clusters: ['c'], reason: 'x' },
    } as unknown as Rollout['spec'],
    status: { settled: [...settled] },
  })

test('a Bundle leaves a cluster when it is deleted, evicted by its own Placement, or being removed', () => {
  const present = buildBundle('ns/b', { placement: 'p' })
  const leaving: Bundle = { ...present, metadata: { ...present.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const table: readonly (readonly [string, Bundle | undefined, Rollout[], PlacementDecision[], boolean])[] = [
    ['selected', present, [], [page('p', 'Selected')], false],
    ['in no decision: circumstances took it out', present, [], [], false],
    ['evicted', present, [], [page('p', 'Evicting')], true],
    ['evicted by the Placement of another Bundle', present, [], [page('q', 'Evicting')], false],
    ['deleted', leaving, [], [page('p', 'Selected')], true],
    ['gone', undefined, [], [], true],
    ['a removal that is not over', present, [removal([])], [], true],
    ['a removal that is over', present, [removal(['c'])], [], false],
  ]
  for (const [name, bundle, rollouts, pages, expected] of table) {
    const caches = {
      bundles: { lister: { get: () => bundle } },
      rollouts: { lister: { by: () => rollouts } },
      decisions: { lister: { by: () => pages } },
    } as unknown as Caches
    assert.equal(isWithdrawn(caches, 'ns/b', 'c'), expected, name)
  }
})
