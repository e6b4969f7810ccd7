import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Release } from '../../../src/kinds/native/release.ts'
import { compareContents, contentChanges, objectChanges, releaseBefore } from './release-difference.ts'

type Released = Release['spec']['bundles'][number]
const entry = (generation: number, set: string, variants?: readonly [Record<string, string>, string | undefined][]) =>
  ({
    name: 'shop',
    generation,
    set,
    ...(variants && { variants: variants.map(([when, own]) => ({ when, ...(own && { set: own }) })) }),
  }) as unknown as Released
const row = (kind: string, name: string, digest: string, apiVersion = 'v1') => ({
  object: { apiVersion, kind, namespace: 'shop', name, digest },
})
const words = (changes: ReturnType<typeof objectChanges>['changes']) =>
  changes.map(({ verb, kind, name }) => `${verb} ${kind}/${name}`)

test('objects are added, changed and removed by digest; a newer API version is no other object', () => {
  const { changes, same } = objectChanges(
    [row('ConfigMap', 'a', '1'), row('ConfigMap', 'b', '1'), row('Job', 'old', '1'), row('X', 'x', '1', 'x.dev/v1')],
    [
      row('ConfigMap', 'a', '1'),
      row('ConfigMap', 'b', '2'),
      row('Deployment', 'new', '1'),
      row('X', 'x', '2', 'x.dev/v2'),
    ],
  )
  assert.deepEqual(words(changes), ['changed ConfigMap/b', 'added Deployment/new', 'removed Job/old', 'changed X/x'])
  assert.equal(same, 1)
  assert.deepEqual(objectChanges([], []), { changes: [], same: 0 })
})

test('content for all clusters goes from one set to another', () => {
  assert.deepEqual(contentChanges(entry(1, 'a'), entry(2, 'b')).changes, [{ inputs: [], before: 'a', after: 'b' }])
  assert.deepEqual(contentChanges(entry(1, 'a'), entry(2, 'a')), { changes: [], same: 1 })
  assert.deepEqual(contentChanges(undefined, entry(1, 'a')).changes, [{ inputs: [], before: undefined, after: 'a' }])
})

test('groups of clusters with the same change are one, and unchanged groups are counted', () => {
  const before = entry(1, 'n', [
    [{ region: 'north' }, 'n'],
    [{ region: 'east' }, 'n'],
    [{ region: 'south' }, 's'],
  ])
  const after = entry(2, 'm', [
    [{ region: 'north' }, 'm'],
    [{ region: 'east' }, 'm'],
    [{ region: 'south' }, 's'],
    [{ region: 'west' }, undefined],
  ])
  assert.deepEqual(contentChanges(before, after), {
    changes: [{ inputs: ['region=north', 'region=east'], before: 'n', after: 'm' }],
    same: 2,
  })
})

test('a bundle that begins to differ by cluster differs from the content all clusters had', () => {
  const { changes } = contentChanges(entry(1, 'a'), entry(2, 'b', [[{ region: 'north' }, 'b']]))
  assert.deepEqual(changes, [{ inputs: ['region=north'], before: 'a', after: 'b' }])
})

test('the release before is the one with the next lower generation', () => {
  const release = (name: string, generation: number) =>
    ({ metadata: { name }, spec: { bundles: [entry(generation, name)] } }) as unknown as Release
  const all = [release('shop-g1', 1), release('shop-g3', 3), release('shop-g2', 2)]
  assert.equal(releaseBefore(all, 'shop', 3)?.release.metadata.name, 'shop-g2')
  assert.equal(releaseBefore(all, 'shop', 1), undefined)
  assert.equal(releaseBefore(all, 'other', 3), undefined)
})

test('content that the hub does not have is unknown, never empty', () => {
  const rows = [row('ConfigMap', 'a', '1')]
  assert.equal(compareContents({ before: 'x', after: undefined }, rows, []), 'nothing')
  assert.equal(compareContents({ before: 'x', after: 'y' }, [], rows), 'unknown')
  assert.equal(compareContents({ before: 'x', after: 'y' }, rows, []), 'unknown')
  const first = compareContents({ before: undefined, after: 'y' }, [], rows)
  assert.deepEqual(typeof first === 'object' && words(first.changes), ['added ConfigMap/a'])
})
