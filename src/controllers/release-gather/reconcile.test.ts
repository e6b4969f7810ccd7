import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import { GATHER_MS } from '../../plan/release/commit-release.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import type { ReleaseGatherPorts } from './ports.ts'
import { releaseGatherReconciler } from './reconcile.ts'

const artifact = digestOf('tree')
const source = build(Source, 'ns/apps', {
  spec: { git: { url: 'https://x/y' } },
  status: {
    artifact: {
      revision: 'main@c2',
      commit: 'c2c2c2c2c2c2',
      digest: artifact,
      files: 1,
      bytes: 1,
      fetchedBytes: 1,
      fetchMs: 1,
      fetchedAt: '2026-01-01T00:00:00Z',
      from: 'x',
      identity: artifact,
      selection: artifact,
    },
  },
})
const candidate = { generation: 2, set: digestOf('s'), placement: 'p', recipe: digestOf('r') }
const bundle = (
  name: string,
  status: Bundle['status'] = { artifact, candidate },
  extra: Partial<Bundle['spec']> = {},
) => build(Bundle, `ns/${name}`, { spec: { placement: 'p', source: { name: 'apps' }, ...extra }, status })

function fixture(bundles: readonly Bundle[], overrides: Partial<ReleaseGatherPorts> = {}) {
  const made: Release[] = []
  const reconciler = releaseGatherReconciler({
    bundlesOf: () => bundles,
    isPlaced: () => true,
    released: () => 1,
    releaseOf: () => undefined,
    variantsOf: async () => [{ when: { 'labels.env': 'dev' }, set: digestOf('d') }],
    createRelease: async (release) => void made.push(release),
    ...overrides,
  })
  const told = () =>
    made.map(({ metadata, spec }) => `${metadata.name}: ${spec.bundles.map(({ name }) => name).join(' ')}`)
  return { made, told, reconciler }
}

test('what waits becomes one release, once, also while the cache does not show it yet', async () => {
  const { told, made, reconciler } = fixture([
    bundle('b', { artifact, candidate: { ...candidate, variants: digestOf('v') } }),
    bundle('a'),
  ])
  const pass = await reconcileOnce(reconciler, source)
  await reconcileOnce(reconciler, pass.draft.next)
  assert.deepEqual(told(), ['apps-c2c2c2c2c2: a b'])
  assert.equal(made[0]?.spec.bundles[1]?.variants?.length, 1)
  assert.equal(pass.condition('Released'), 'True Released: All bundles are rendered from main@c2.')
})

test('one that is released already is not released again; the names of others are left alone', async () => {
  const { told, reconciler } = fixture([bundle('a'), bundle('b'), bundle('c')], {
    released: ({ metadata }) => (metadata.name === 'a' ? 2 : 1),
    releaseOf: (_, name) =>
      name === 'apps-c2c2c2c2c2' ? ({ spec: { bundles: [] } } as unknown as Release) : undefined,
  })
  await reconcileOnce(reconciler, source)
  assert.deepEqual(told(), ['apps-c2c2c2c2c2-2: b c'])
})

test('it waits for those on their way, and not for ever; other settings and undecided placements go alone', async () => {
  const late = bundle('late', { artifact: digestOf('older') })
  const slow = bundle('slow', { artifact, candidate }, { rollout: { concurrency: 1 } })
  const lost = bundle('lost')
  const { told, made, reconciler } = fixture([bundle('a'), late, slow, lost], {
    isPlaced: ({ metadata }) => metadata.name !== 'lost',
  })
  const clock = createVirtualClock()
  const waits = await reconcileOnce(reconciler, source, clock)
  assert.deepEqual([waits.result, told()], [{ requeueAfterMs: GATHER_MS }, []])
  await clock.advance(GATHER_MS)
  const pass = await reconcileOnce(reconciler, source, clock)
  assert.deepEqual(told(), ['a-g2: a', 'lost-g2: lost', 'slow-g2: slow'])
  assert.deepEqual(made[0]?.spec.missing, [{ name: 'late', problem: 'The bundle was not rendered in time.' }])
  assert.equal(
    pass.condition('Released'),
    'False PartlyReleased: Bundle late is not part of main@c2: The bundle was not rendered in time.',
  )
})
