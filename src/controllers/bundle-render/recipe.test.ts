import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { Override } from '../../kinds/native/override.ts'
import { Source } from '../../kinds/native/source.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { allowEverywhere } from '../../testing/fixtures/projects.ts'
import type { BundleRenderPorts } from './ports.ts'
import { recipeOf } from './recipe.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const ARTIFACT = digestOf('artifact')

const source = (status: Source['status']) =>
  build(Source, 'shop/apps', {
    spec: { git: { url: 'https://git.example.com/apps' }, interval: '1m' },
    ...(status ? { status } : {}),
  })
const ready = source({
  artifact: {
    digest: ARTIFACT,
    revision: 'main@sha1:c1',
    commit: 'c1',
    files: 1,
    bytes: 1,
    fetchedBytes: 1,
    fetchMs: 1,
    fetchedAt: '2026-01-01T00:00:00Z',
    identity: digestOf('identity'),
    selection: digestOf('selection'),
    author: 'ann',
    from: 'https://git.example.com/apps',
  },
})
const failing = source({
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'AuthFailed',
      message: 'The server refused.',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
})

const fail = () => assert.fail('not asked')
function ports(more: Partial<BundleRenderPorts> = {}): BundleRenderPorts {
  return {
    projectOf: allowEverywhere,
    sourceOf: () => undefined,
    overridesOf: () => [],
    ruleBook: () => ({ rules: [], digest: ARTIFACT }),
    treeOf: async () => undefined,
    configMapData: async () => undefined,
    secret: async () => undefined,
    render: fail,
    putBlob: fail,
    ...more,
  } as BundleRenderPorts
}

const bundle = (spec: Partial<Bundle['spec']>) => buildBundle('shop/web', { manifests: undefined, ...spec })
const fromSource = { source: { name: 'apps', path: 'web' } }

describe('a recipe that lacks a part', () => {
  const table: [
    name: string,
    spec: Partial<Bundle['spec']>,
    ports: Partial<BundleRenderPorts>,
    says: RegExp,
    type: typeof Stalled | typeof Waiting,
  ][] = [
    ['no content', {}, {}, /exactly one of manifests, manifestsFrom and source/, Stalled],
    ['two contents', { manifests: 'a: 1', ...fromSource }, {}, /exactly one of/, Stalled],
    ['a missing Source', fromSource, {}, /names Source apps, which does not exist/, Waiting],
    [
      'a Source without an artifact',
      fromSource,
      { sourceOf: () => source(undefined) },
      /Source apps has no artifact yet\.$/,
      Waiting,
    ],
    [
      'a Source that fails',
      fromSource,
      { sourceOf: () => failing },
      /has no artifact yet: The server refused\./,
      Waiting,
    ],
    ['an artifact that is not stored', fromSource, { sourceOf: () => ready }, /is not stored yet/, Waiting],
    [
      'a missing ConfigMap',
      { manifestsFrom: [{ configMap: 'parts' }] },
      {},
      /names ConfigMap parts, and that is not there/,
      Waiting,
    ],
    [
      'a missing key',
      { manifestsFrom: [{ configMap: 'parts', key: 'b' }] },
      { configMapData: async () => ({ a: '' }) },
      /names key b of ConfigMap parts/,
      Waiting,
    ],
    [
      'a key that every object has',
      { manifestsFrom: [{ configMap: 'parts', key: 'constructor' }] },
      { configMapData: async () => ({ a: '' }) },
      /names key constructor of ConfigMap parts/,
      Waiting,
    ],
    [
      'an input without its ConfigMap',
      { manifests: 'a: 1', inputs: [{ name: 'site', configMap: { name: 'sites', key: 'v' } }] },
      {},
      /Input site is key v of ConfigMap sites/,
      Waiting,
    ],
  ]
  for (const [name, spec, more, says, type] of table) {
    test(`waits or stalls for ${name}, and says what is missing`, async () => {
      await assert.rejects(recipeOf(bundle(spec), ports(more), NOW), (caught: Error) => {
        assert.ok(caught instanceof type, String(caught))
        assert.match(caught.message, says)
        return true
      })
    })
  }
})

describe('the digest of a recipe', () => {
  const inline = { manifests: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' }
  const override = (name: string, expiresAt?: string) =>
    build(Override, `shop/${name}`, {
      spec: compact({
        bundle: 'web',
        clusterSelector: {},
        labels: { by: name },
        owner: 'ann',
        reason: 'a test',
        expiresAt,
      }),
    })
  const digest = async (spec: Partial<Bundle['spec']>, more: Partial<BundleRenderPorts> = {}, now = NOW) =>
    (await recipeOf(bundle(spec), ports(more), now)).digest

  test('is equal for equal inputs, and differs for each input', async () => {
    const base = await digest(inline)
    assert.equal(await digest(inline), base)
    const changed = await Promise.all([
      digest({ manifests: `${inline.manifests}data: {}\n` }),
      digest({ ...inline, placement: 'other' }),
      digest({ ...inline, executor: { namespace: 'a', name: 'b' } }),
      digest({ ...inline, labels: { a: 'b' } }),
      digest({ ...inline, templating: 'Enabled' }),
      digest(inline, { overridesOf: () => [override('a')] }),
    ])
    assert.equal(new Set([base, ...changed]).size, changed.length + 1)
  })

  test('does not depend on the order in which Overrides are listed', async () => {
    const [a, b] = [override('a'), override('b')]
    assert.equal(
      await digest(inline, { overridesOf: () => [a, b] }),
      await digest(inline, { overridesOf: () => [b, a] }),
    )
  })

  test('forgets an Override at the time at which it expires, and the recipe says when', async () => {
    const expiring = {
      overridesOf: () => [override('a', '2026-01-01T01:00:00Z'), override('b', '2026-01-01T02:00:00Z')],
    }
    const before = await recipeOf(bundle(inline), ports(expiring), NOW)
    assert.equal(before.endsInMs, 3_600_000)
    assert.equal(before.recipe.overrides?.length, 2)
    const between = await recipeOf(bundle(inline), ports(expiring), NOW + 3_600_000)
    assert.deepEqual(
      between.recipe.overrides?.map(({ name }) => name),
      ['b'],
    )
    const after = await recipeOf(bundle(inline), ports(expiring), NOW + 7_200_000)
    assert.equal(after.digest, await digest(inline))
    assert.equal(after.endsInMs, undefined)
  })

  test('of a commit that changes nothing of the Bundle is equal, and the revision is the new one', async () => {
    const tree = { files: [] } as unknown as Awaited<ReturnType<BundleRenderPorts['treeOf']>>
    const at = async (revision: string) => {
      const found = source({ artifact: { ...ready.status!.artifact!, revision } })
      return await recipeOf(bundle(fromSource), ports({ sourceOf: () => found, treeOf: async () => tree }), NOW)
    }
    const [first, second] = [await at('main@sha1:c1'), await at('main@sha1:c2')]
    assert.equal(first.digest, second.digest)
    assert.deepEqual([first.revision, second.revision], ['main@sha1:c1', 'main@sha1:c2'])
    assert.deepEqual([first.origin?.author, first.isPolled], ['ann', false])
  })

  test('of content in ConfigMaps takes the keys in order, and is polled', async () => {
    const data = { b: 'b: 1', a: 'a: 1' }
    const { recipe, isPolled } = await recipeOf(
      bundle({ manifestsFrom: [{ configMap: 'parts' }, { configMap: 'parts', key: 'b' }] }),
      ports({ configMapData: async () => data }),
      NOW,
    )
    assert.deepEqual(
      recipe.manifestParts?.map(({ file }) => file),
      ['ConfigMap parts, a', 'ConfigMap parts, b', 'ConfigMap parts, b'],
    )
    assert.equal(isPolled, true)
  })
})
