import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bundleQuotaLines, createRenderQuota, sourceQuotaLines } from './quotas.ts'
import type { ProjectFacts } from './limits.ts'

const project = (quotas: NonNullable<ProjectFacts['spec']['quotas']>): ProjectFacts => ({
  metadata: { name: 'team-a' },
  spec: { quotas },
})
const item = (key: string, day: number, bytes?: number) => ({
  key,
  createdAt: `2026-01-0${day}T00:00:00Z`,
  ...(bytes === undefined ? {} : { bytes }),
})

test('the oldest Bundles use the quota', () => {
  const all = [item('b', 2), item('a', 3), item('c', 1)]
  const refused = (bundles: number) =>
    all.map(({ key }) => key).filter((key) => bundleQuotaLines(project({ bundles }), all, key).length > 0)
  assert.deepEqual(refused(3), [])
  assert.deepEqual(refused(2), ['a'])
  assert.deepEqual(refused(0), ['b', 'a', 'c'])
  assert.deepEqual(bundleQuotaLines(project({ bundles: 2 }), all, 'a'), [
    'Project team-a: spec.quotas.bundles is 2, and older Bundles use it up',
  ])
  assert.deepEqual(bundleQuotaLines(project({}), all, 'a'), [])
})

test('the artifacts of the oldest Sources use the bytes', () => {
  const all = [item('a', 1, 60), item('b', 2, 30), item('c', 3, 20)]
  const refused = (bytes: number) =>
    all.map(({ key }) => key).filter((key) => sourceQuotaLines(project({ bytes }), all, key).length > 0)
  assert.deepEqual(refused(110), [])
  assert.deepEqual(refused(100), ['c'])
  assert.deepEqual(refused(50), ['a', 'b', 'c'])
  assert.deepEqual(sourceQuotaLines(project({ bytes: 100 }), all, 'c'), [
    'Project team-a: spec.quotas.bytes is 100, and the artifacts up to this Source have 110 bytes',
  ])
  assert.deepEqual(sourceQuotaLines(project({ sources: 1 }), all, 'b'), [
    'Project team-a: spec.quotas.sources is 1, and older Sources use it up',
  ])
})

test('property: at most the quota is allowed, and all of it is used', () => {
  fc.assert(
    fc.property(fc.nat(6), fc.uniqueArray(fc.stringMatching(/^[a-f]$/)), (bundles, keys) => {
      const all = keys.map((key) => item(key, 1 + (key.charCodeAt(0) % 3)))
      const allowed = keys.filter((key) => bundleQuotaLines(project({ bundles }), all, key).length === 0)
      assert.equal(allowed.length, Math.min(bundles, keys.length))
    }),
  )
})

test('property: no minute has more renderings than the quota, and a wait is long enough', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(40_000), { maxLength: 30 }), (limit, gaps) => {
      const quota = createRenderQuota()
      const limited = project({ rendersPerMinute: limit })
      const taken: number[] = []
      let now = 0
      for (const gap of gaps) {
        now += gap
        const waitMs = quota.take(limited, now)
        if (waitMs > 0) {
          now += waitMs
          assert.equal(quota.take(limited, now), 0)
        }
        taken.push(now)
        assert.ok(taken.filter((at) => at > now - 60_000).length <= limit)
      }
    }),
  )
})
