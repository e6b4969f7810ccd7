import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Release } from '../../../src/kinds/native/release.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { buildErrors, fieldVersions, releaseHistory } from './bundle-versions.ts'

const set = (letter: string): `sha256:${string}` => `sha256:${letter.repeat(64)}`
const release = (generation: number, letter: string, more: Partial<Release['spec']> = {}, status?: Release['status']) =>
  build(Release, `default/shop-g${generation}`, {
    spec: { bundles: [{ name: 'shop', generation, set: set(letter), placement: 'all' }], ...more },
    ...(status && { status }),
  })
const RELEASES = [
  release(1, 'a'),
  release(2, 'b', {}, { bad: [{ bundle: 'shop', by: 'li', at: '2026-11-19T10:00:00Z', reason: 'slow' }] }),
  release(3, 'a', { rollBack: { of: 'shop-g2', scope: 'All', by: 'li' } }),
]
const row = (cluster: string, generation?: number) => ({
  cluster,
  state: 'Ready',
  ...(generation !== undefined && { generation }),
})

test('clusters are counted by content: a rollback is the version it went back to', () => {
  const rows = [row('a', 1), row('b', 3), row('c', 2), row('d'), row('e', 9), { cluster: 'left' }]
  assert.deepEqual(
    fieldVersions(rows, RELEASES, 'shop').map(({ name, clusters }) => `${name}: ${clusters.join()}`),
    ['shop-g1: a,b', 'generation 9: e', 'shop-g2: c', 'not reported: d'],
  )
})

test('the history has the newest release first, and says what was rolled back', () => {
  assert.deepEqual(
    releaseHistory([...RELEASES, release(4, 'c', { bundles: [] })], 'shop').map(({ release: { metadata }, bad }) => [
      metadata.name,
      bad,
    ]),
    [
      ['shop-g3', undefined],
      ['shop-g2', 'rolled back by li: slow'],
      ['shop-g1', undefined],
    ],
  )
})

test('an error of the rendering names the inputs of its clusters', () => {
  const variants: Parameters<typeof buildErrors>[0]['variants'] = [
    { when: { 'label region': 'west', 'label tier': 'store' }, problem: 'no such file' },
    { when: {}, set: set('a') },
  ]
  assert.deepEqual(buildErrors({ variants }), [
    { inputs: 'label region=west, label tier=store', problem: 'no such file' },
  ])
})
