import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { Release } from '../../kinds/native/release.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { rolloutCreateReconciler } from './reconcile.ts'
import type { RolloutCreatePorts } from './reconcile.ts'

const release = (generation: number) =>
  build(Release, `ns/hello-g${generation}`, {
    spec: { bundles: [{ name: 'hello', generation, set: digestOf('x'), placement: 'p' }] },
  })

function fixture(overrides: Partial<RolloutCreatePorts> = {}) {
  const made: Rollout[] = []
  const reconciler = rolloutCreateReconciler({
    releasesOf: () => [release(1), release(2)],
    bundleOf: () => buildBundle('ns/hello', {}),
    planOf: () => undefined,
    hasRollout: () => made.length > 0,
    createRollout: async (rollout) => void made.push(rollout),
    ...overrides,
  })
  return { made, reconciler }
}

test('the newest release gets a rollout of its name, once', async () => {
  const { made, reconciler } = fixture()
  const pass = await reconcileOnce(reconciler, release(2))
  await reconcileOnce(reconciler, pass.draft.next)
  assert.deepEqual(
    made.map(({ metadata, spec }) => [metadata.name, spec]),
    [['hello-g2', { release: 'hello-g2', rings: [{ name: 'all', concurrency: 10 }], paused: false }]],
  )
  assert.equal(pass.condition('Ready'), 'True RolloutMade: Rollout hello-g2 carries it.')
})

test('an older one gets none', async () => {
  const { made, reconciler } = fixture()
  const pass = await reconcileOnce(reconciler, release(1))
  assert.deepEqual(made, [])
  assert.match(pass.condition('Ready'), /^False Superseded: A newer Release/)
})

test('one whose Bundles are all gone gets none, and nothing is said about it', async () => {
  const { made, reconciler } = fixture({ bundleOf: () => undefined })
  assert.equal((await reconcileOnce(reconciler, release(2))).commit, 'Nothing')
  assert.deepEqual(made, [])
})

test("the concurrency is the bundle's", async () => {
  const { made, reconciler } = fixture({ bundleOf: () => buildBundle('ns/hello', { rollout: { concurrency: '25%' } }) })
  await reconcileOnce(reconciler, release(2))
  assert.equal(made[0]?.spec.rings[0]?.concurrency, '25%')
})

test('a plan is copied into the rollout; without it nothing is made', async () => {
  const bundle = buildBundle('ns/hello', { rollout: { plan: 'careful' } })
  const rings = [
    { name: 'canary', count: 1, concurrency: 1 },
    { name: 'rest', concurrency: 5 },
  ]
  const plan = build(RolloutPlan, 'ns/careful', { spec: { rings, start: 'Manual', progressDeadline: '10m' } })
  const missing = fixture({ bundleOf: () => bundle })
  const waiting = await reconcileOnce(missing.reconciler, release(2))
  assert.match(String(waiting.error), /RolloutPlan careful does not exist; nothing moves without it/)
  assert.deepEqual(missing.made, [])
  const { made, reconciler } = fixture({ bundleOf: () => bundle, planOf: () => plan })
  await reconcileOnce(reconciler, release(2))
  assert.deepEqual(made[0]?.spec, {
    release: 'hello-g2',
    rings,
    paused: true,
    plan: 'careful',
    progressDeadline: '10m',
  })
})
