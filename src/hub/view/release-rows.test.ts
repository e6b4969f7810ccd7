import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { Release } from '../../kinds/native/release.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { objectSetBytes } from '../../wire/document/signed-document.ts'
import { releaseObjectRows } from './release-rows.ts'
import type { RowRange } from './row-source.ts'

const setOf = (...names: readonly string[]) =>
  objectSetBytes({
    format: 'flotilla.dev/set/v1',
    objects: names.map((name) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'x',
      name,
      digest: digestOf(name),
    })),
  })
const NORTH = setOf('b', 'a')
const SOUTH = setOf('a', 'c')
const GONE = digestOf('collected')

const release = (key: string, spec: Release['spec']) => build(Release, key, { spec })
const RELEASES = [
  release('shop/web-g2', {
    bundles: [
      { name: 'web', generation: 2, set: digestOf(NORTH), placement: 'stores' },
      { name: 'db', generation: 5, set: GONE, placement: 'stores' },
    ],
  }),
  release('shop/web-g1', {
    bundles: [
      {
        name: 'web',
        generation: 1,
        set: digestOf(NORTH),
        placement: 'stores',
        variants: [
          { when: { region: 'north' }, set: digestOf(NORTH) },
          { when: { region: 'east' }, set: digestOf(NORTH) },
          { when: { region: 'south' }, set: digestOf(SOUTH) },
          { when: { region: 'west' }, problem: 'no' },
        ],
      },
    ],
  }),
  release('till/web-g1', { bundles: [{ name: 'web', generation: 1, set: digestOf(SOUTH), placement: 'stores' }] }),
]

async function source() {
  const blobs = createMemoryBlobs()
  await blobs.put(NORTH)
  await blobs.put(SOUTH)
  const releases = async (namespace: string) =>
    RELEASES.filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
  return releaseObjectRows({ releases }, blobs)
}

async function rowsIn(range: Partial<RowRange>) {
  return await Array.fromAsync((await source()).rows({ where: new Map(), ...range }))
}

const shown = (rows: Awaited<ReturnType<typeof rowsIn>>) =>
  rows.map(({ object }) => {
    const {
      metadata,
      release: name,
      bundle,
      object: one,
    } = object as unknown as {
      metadata: { namespace: string }
      release: string
      bundle: string
      object: { name: string }
    }
    return `${metadata.namespace} ${name} ${bundle} ${one.name}`
  })

test('objects of all distinct sets of releases, and none of content that is gone or was not built', async () => {
  const names = shown(await rowsIn({})).toSorted()
  assert.deepEqual(names, [
    'shop web-g1 web a',
    'shop web-g1 web a',
    'shop web-g1 web b',
    'shop web-g1 web c',
    'shop web-g2 web a',
    'shop web-g2 web b',
    'till web-g1 web a',
    'till web-g1 web c',
  ])
})

test('a list goes on after any row, and its positions have no slash', async () => {
  const all = await rowsIn({})
  for (const [index, row] of all.entries()) {
    assert.ok(row.at.every((part) => !part.includes('/')))
    assert.deepEqual(await rowsIn({ after: row.at }), all.slice(index + 1))
  }
})

test('rows are selected by namespace, release, bundle and set, and by what changed', async () => {
  const where = (fields: Record<string, string>) => ({ where: new Map(Object.entries(fields)) })
  assert.deepEqual(shown(await rowsIn({ namespace: 'till' })), ['till web-g1 web a', 'till web-g1 web c'])
  assert.deepEqual(shown(await rowsIn({ ...where({ release: 'web-g2', bundle: 'web' }) })), [
    'shop web-g2 web a',
    'shop web-g2 web b',
  ])
  assert.deepEqual(shown(await rowsIn({ namespace: 'shop', ...where({ set: digestOf(SOUTH) }) })), [
    'shop web-g1 web a',
    'shop web-g1 web c',
  ])
  const among = { bundle: (key: string) => key === 'till/web', clusters: new Set<string>() }
  assert.equal((await rowsIn({ among })).length, 2)
})

test('one row by its name, which no other row has', async () => {
  const all = await rowsIn({})
  const names = all.map(({ object }) => `${object.metadata.namespace}/${object.metadata.name}`)
  assert.equal(new Set(names).size, all.length)
  const one = all[2]!.object
  assert.deepEqual(await (await source()).get(one.metadata.namespace!, one.metadata.name), one)
  for (const name of ['web-g1', 'web-g1.web', `${one.metadata.name}0`, '']) {
    assert.equal(await (await source()).get('shop', name), undefined, name)
  }
})
