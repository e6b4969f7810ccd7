import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewRollout } from './preview.ts'
import type { PreviewCluster } from './preview.ts'

const MINUTE = 60_000
const COST = { perClusterMs: MINUTE }
const cluster = (name: string, more: Partial<PreviewCluster> = {}): PreviewCluster => ({
  name,
  labels: {},
  groups: [],
  isOnline: true,
  traits: {},
  ...more,
})
const canary = { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1 }
const isCanary = { labels: { ring: 'canary' } }

test('before it starts: members per ring, steps of those who can move, soaking, what each ring asks for, how long at least, how much at most', () => {
  const rings = [
    { ...canary, soakMs: 30 * MINUTE, gates: [{ name: 'errors', when: 'Pass' as const }] },
    { name: 'rest', concurrency: '50%', approvals: { count: 2 } },
  ]
  const stores = ['c', 'd', 'e', 'f'].map((name) => cluster(name))
  const {
    rings: shown,
    expectedMs,
    expectedBytes,
    unringed,
  } = previewRollout(rings, [cluster('b', isCanary), cluster('a', isCanary), ...stores], {
    ...COST,
    perClusterBytes: 1000,
  })
  assert.deepEqual(
    shown.map(({ name, members, steps, bytes, soakMs, asks }) => [name, members, steps, bytes, soakMs, asks]),
    [
      ['canary', ['a', 'b'], 2, 2000, 30 * MINUTE, ['gate errors']],
      ['rest', ['c', 'd', 'e', 'f'], 2, 4000, 0, ['approval of 2']],
    ],
  )
  assert.equal(expectedMs, (2 + 30 + 2) * MINUTE)
  assert.equal(expectedBytes, 6000)
  assert.deepEqual(unringed, [])
})

test('before it starts: who is in no ring, who is offline, who is held and until when; they take no step', () => {
  const hold = { for: 'window', badge: 'Frozen', message: 'Closed.', until: 0 } as const
  const { rings, unringed, expectedMs } = previewRollout(
    [canary],
    [
      cluster('a', { ...isCanary, isOnline: false }),
      cluster('b', { ...isCanary, hold }),
      cluster('c', isCanary),
      cluster('lost'),
    ],
    COST,
  )
  const [ring] = rings
  assert.deepEqual([ring?.offline, ring?.frozen, ring?.steps], [['a'], ['b'], 1])
  assert.deepEqual(ring?.holds, [{ cluster: 'b', message: 'Closed.', until: '1970-01-01T00:00:00Z' }])
  assert.deepEqual(unringed, ['lost'])
  assert.equal(expectedMs, MINUTE)
})

test('before it starts: a warning where ring 1 does not have the hardware, network or region of later rings', () => {
  const traits = (region: string, network: string, architecture: string) => ({
    traits: { region, network, 'flotilla.dev/architecture': architecture },
  })
  const rings = [canary, { name: 'rest', concurrency: 5 }]
  const first = cluster('a', { ...isCanary, ...traits('eu', 'fibre', 'amd64') })
  const warn = (...later: PreviewCluster[]) => previewRollout(rings, [first, ...later], COST).warnings
  assert.deepEqual(warn(cluster('b', traits('eu', 'fibre', 'amd64'))), [])
  assert.deepEqual(warn(cluster('b', traits('us', 'lte', 'arm64')), cluster('c', traits('us', 'fibre', 'amd64'))), [
    'ring 1 has no cluster with flotilla.dev/architecture arm64; 1 cluster of later rings has',
    'ring 1 has no cluster with network lte; 1 cluster of later rings has',
    'ring 1 has no cluster with region us; 2 clusters of later rings have',
  ])
  assert.deepEqual(previewRollout(rings, [cluster('b')], COST).warnings, ['ring canary has no members'])
  assert.deepEqual(previewRollout([canary], [cluster('a', { ...isCanary, isOnline: false })], COST).warnings, [
    'no cluster of ring canary is connected',
  ])
})
