import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { silentLogger } from '../../core/log.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import { GATHER_MS } from '../../plan/release/commit-release.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import type { ReleaseGatherPorts, RenderedContent } from './ports.ts'
import { releaseGatherReconciler } from './reconcile.ts'
import { createReleaseMaker } from './release-maker.ts'

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
const bundle = (name: string, status: Bundle['status'] = {}, extra: Partial<Bundle['spec']> = {}) =>
  build(Bundle, `ns/${name}`, { spec: { placement: 'p', source: { name: 'apps' }, ...extra }, status })
const content = (of: Bundle, variants?: readonly ReleaseVariant[]): RenderedContent => ({
  bundle: of,
  recipe: digestOf('r'),
  artifact,
  release: {
    name: `${of.metadata.name}-g2`,
    generation: 2,
    set: digestOf('s'),
    placement: 'p',
    ...(variants ? { variants } : {}),
  },
})
const context = { log: silentLogger, signal: new AbortController().signal }

function fixture(bundles: readonly Bundle[], overrides: Partial<ReleaseGatherPorts> = {}) {
  const made: Release[] = []
  const passes: string[] = []
  const ports: ReleaseGatherPorts = {
    bundlesOf: () => bundles,
    isPlaced: () => true,
    released: () => 1,
    releaseNamed: () => undefined,
    createRelease: async (release) => void made.push(release),
    enqueue: (key) => void passes.push(key),
    ...overrides,
  }
  const maker = createReleaseMaker(ports)
  const names = () =>
    made.map(({ metadata, spec }) => `${metadata.name}: ${spec.bundles.map(({ name }) => name).join(' ')}`)
  return { made, names, passes, maker, reconciler: releaseGatherReconciler(ports, maker) }
}

test('waiting contents become one release, once, also while the cache does not show it yet', async () => {
  const [a, b] = [bundle('a'), bundle('b')]
  const { names, made, maker, reconciler } = fixture([b, a])
  maker.wait(content(b, [{ when: { 'labels.env': 'dev' }, set: digestOf('d') }]))
  maker.wait(content(a))
  const pass = await reconcileOnce(reconciler, source)
  await reconcileOnce(reconciler, pass.draft.next)
  assert.deepEqual(names(), ['apps-c2c2c2c2c2: a b'])
  assert.equal(made[0]?.spec.bundles[1]?.variants?.length, 1)
  assert.equal(pass.condition('Released'), 'True Released: All bundles are rendered from main@c2.')
})

test('a commit that changes more bundles than a Release can have becomes several', async () => {
  const bundles = Array.from({ length: 300 }, (_, at) => bundle(`b${String(at).padStart(3, '0')}`))
  const { made, maker, reconciler } = fixture(bundles)
  for (const one of bundles) maker.wait(content(one))
  const pass = await reconcileOnce(reconciler, source)
  await reconcileOnce(reconciler, pass.draft.next)
  assert.deepEqual(
    made.map(({ metadata, spec }) => `${metadata.name}: ${spec.bundles.length}`),
    ['apps-c2c2c2c2c2: 256', 'apps-c2c2c2c2c2-2: 44'],
  )
  const names = made.flatMap(({ spec }) => spec.bundles.map(({ name }) => name))
  assert.equal(new Set(names).size, 300)
})

test('a generation that is released is not released again; the names of other Releases are left alone', async () => {
  const bundles = [bundle('a'), bundle('b'), bundle('c')]
  const { names, maker, reconciler } = fixture(bundles, {
    released: ({ metadata }) => (metadata.name === 'a' ? 2 : 1),
    releaseNamed: (_, name) =>
      name === 'apps-c2c2c2c2c2' ? ({ spec: { bundles: [] } } as unknown as Release) : undefined,
  })
  for (const one of bundles) maker.wait(content(one))
  await reconcileOnce(reconciler, source)
  assert.deepEqual(names(), ['apps-c2c2c2c2c2-2: b c'])
})

test('contents wait at most two minutes; other rollout settings and undecided placements get Releases of their own', async () => {
  const late = bundle('late', { artifact: digestOf('older') })
  const slow = bundle('slow', {}, { rollout: { concurrency: 1 } })
  const [a, lost] = [bundle('a'), bundle('lost')]
  const { names, made, maker, reconciler } = fixture([a, late, slow, lost], {
    isPlaced: ({ metadata }) => metadata.name !== 'lost',
  })
  for (const one of [a, slow, lost]) maker.wait(content(one))
  const clock = createVirtualClock()
  const waits = await reconcileOnce(reconciler, source, clock)
  assert.deepEqual([waits.result, names()], [{ requeueAfterMs: GATHER_MS }, []])
  await clock.advance(GATHER_MS)
  const pass = await reconcileOnce(reconciler, source, clock)
  assert.deepEqual(names(), ['a-g2: a', 'lost-g2: lost', 'slow-g2: slow'])
  assert.deepEqual(made[0]?.spec.missing, [{ name: 'late', problem: 'The bundle was not rendered in time.' }])
  assert.equal(
    pass.condition('Released'),
    'False PartlyReleased: Bundle late is not part of main@c2: The bundle was not rendered in time.',
  )
})

test('content that no other Bundle waits with becomes a Release at once; otherwise the Source gets a pass', async () => {
  const [a, b] = [bundle('a', { artifact }), bundle('b', { artifact })]
  const { names, passes, maker } = fixture([a, b])
  assert.equal(await maker.offer(content(a), context), true)
  assert.deepEqual([names(), passes], [['a-g2: a'], []])
  maker.wait(content(b))
  assert.equal(await maker.offer(content(a), context), false)
  assert.deepEqual([names().length, passes], [1, ['ns/apps', 'ns/apps']])
  const inline = build(Bundle, 'ns/inline', { spec: { placement: 'p', manifests: 'x' } })
  assert.equal(await maker.offer({ ...content(inline), artifact: undefined }, context), true)
})

test('after a restart, Bundles of a commit that waited count as not rendered until they are offered again', async () => {
  // Their status has the older artifact; a Bundle with a candidate of version 0.1 has the new one.
  const [a, b] = [bundle('a', { artifact: digestOf('older') }), bundle('b', { artifact: digestOf('older') })]
  const candidate = { generation: 2, set: digestOf('s'), placement: 'p', recipe: digestOf('r') }
  const old = bundle('old', { artifact, candidate })
  const { names, maker, reconciler } = fixture([a, b, old])
  assert.equal(await maker.offer(content(a), context), false)
  assert.equal(await maker.offer(content(b), context), false)
  assert.deepEqual(maker.lateBundles(a, artifact, 3), ['old'])
  assert.deepEqual(maker.lateBundles(a, digestOf('newer'), 1), ['b'])
  assert.deepEqual((await reconcileOnce(reconciler, source)).result, { requeueAfterMs: GATHER_MS })
  maker.wait(content(old))
  await reconcileOnce(reconciler, source)
  assert.deepEqual(names(), ['apps-c2c2c2c2c2: a b old'])
})
