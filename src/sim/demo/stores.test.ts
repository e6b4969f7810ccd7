import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoStores, FLAKY_REGION, REGIONS, RINGS } from './stores.ts'

test('sixty stores: five rings that grow, four regions, fifteen flaky, three offline, one failing', () => {
  const stores = demoStores(60, true)
  const count = (fits: (store: (typeof stores)[number]) => boolean): number => stores.filter(fits).length
  assert.deepEqual(
    RINGS.map((name) => count(({ ring }) => ring === name)),
    [2, 4, 12, 18, 24],
  )
  assert.deepEqual(
    REGIONS.map((name) => count(({ region }) => region === name)),
    [15, 15, 15, 15],
  )
  assert.equal(
    count(({ fault: trouble, region }) => trouble === 'Flaky' && region === FLAKY_REGION),
    15,
  )
  assert.equal(
    count(({ fault: trouble, ring }) => trouble === 'Offline' && ring === 'rest'),
    3,
  )
  assert.equal(
    count(({ fault: trouble, ring }) => trouble === 'Failing' && ring === 'half'),
    1,
  )
})

test('few stores fill the first rings, one each, and are well', () => {
  assert.deepEqual(
    demoStores(3, true).map(({ name, ring, fault: trouble }) => [name, ring, trouble]),
    [
      ['store-01', 'lab', undefined],
      ['store-02', 'canary', undefined],
      ['store-03', 'early', undefined],
    ],
  )
  for (const count of [5, 7, 19, 20, 500]) {
    assert.equal(new Set(demoStores(count, true).map(({ ring }) => ring)).size, RINGS.length)
  }
  assert.ok(demoStores(60, false).every(({ fault: trouble }) => trouble === undefined))
})
