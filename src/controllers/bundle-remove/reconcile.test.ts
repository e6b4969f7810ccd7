import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { buildBundle } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import type { BundleRemovePorts } from './ports.ts'
import { bundleRemoveReconciler } from './reconcile.ts'

function fixture(overrides: Partial<BundleRemovePorts> = {}) {
  const made: Rollout[] = []
  const reconciler = bundleRemoveReconciler({
    decidedOf: () => ({ selected: new Set(['a']), evicting: new Map([['b', 'gone']]) }),
    holdersOf: () => [
      { cluster: 'a', placement: 'p', revision: 4 },
      { cluster: 'b', placement: 'p', revision: 7 },
    ],
    removalsOf: () => made,
    selects: () => false,
    stoppedBy: () => () => undefined,
    planOf: () => undefined,
    lastRolloutOf: () => undefined,
    createRollout: async (rollout) => void made.push(rollout),
    isNamespaceEnding: () => false,
    ...overrides,
  })
  return { made, reconciler }
}

function released(finalizers: readonly string[] = [REMOVAL_FINALIZER], deleted = false): Bundle {
  const bundle = buildBundle('ns/hello', { delete: { unplaced: 'Orphan' }, rollout: { concurrency: 3 } })
  bundle.metadata.finalizers = [...finalizers]
  bundle.status = { release: 'hello-g1' }
  if (deleted) bundle.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  return bundle
}

test('a Bundle gets the finalizer with its first Release, not before', async () => {
  const { reconciler, made } = fixture()
  const early = released([])
  delete early.status
  assert.equal((await reconcileOnce(reconciler, early)).commit, 'Nothing')
  const pass = await reconcileOnce(reconciler, released(['other/one']))
  assert.deepEqual(pass.draft.next.metadata.finalizers, ['other/one', REMOVAL_FINALIZER])
  assert.deepEqual(made, [])
})

test('evicted clusters are written down once, with the rings and the word of the Bundle', async () => {
  const { reconciler, made } = fixture()
  await reconcileOnce(reconciler, released())
  await reconcileOnce(reconciler, released())
  assert.equal(made.length, 1)
  assert.match(made[0]!.metadata.name, /^hello-removal-[0-9a-f]{10}$/)
  assert.deepEqual(made[0]!.spec, {
    rings: [{ name: 'all', concurrency: 3 }],
    paused: false,
    release: 'hello',
    removal: {
      bundle: 'hello',
      cause: 'unplaced',
      policy: 'Orphan',
      clusters: ['b'],
      reason: 'Placement everywhere no longer selects these clusters; b: gone.',
    },
  })
})

test('a deletion is written down before the finalizer goes; what cannot be written down keeps it', async () => {
  const { reconciler, made } = fixture()
  const pass = await reconcileOnce(reconciler, released([REMOVAL_FINALIZER], true))
  assert.deepEqual([made[0]?.spec.removal?.cause, made[0]?.spec.removal?.clusters], ['bundleDeleted', ['a', 'b']])
  assert.deepEqual(pass.draft.next.metadata.finalizers, [])

  const broken = fixture({ createRollout: async () => Promise.reject(new Error('disk full')) })
  const failed = await reconcileOnce(broken.reconciler, released([REMOVAL_FINALIZER], true))
  assert.match(String(failed.error), /disk full/)
  assert.deepEqual(failed.draft.next.metadata.finalizers, [REMOVAL_FINALIZER])
})

test('in a namespace that ends nothing is removed, and the Bundle may go', async () => {
  const { reconciler } = fixture({
    createRollout: async () => Promise.reject(new Error('because it is being terminated')),
    isNamespaceEnding: () => true,
  })
  const pass = await reconcileOnce(reconciler, released([REMOVAL_FINALIZER], true))
  assert.deepEqual(pass.draft.next.metadata.finalizers, [])
})
