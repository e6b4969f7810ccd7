import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderPageWrites } from './page-writes.ts'
import type { PageContent } from './page-writes.ts'

const pages = fc
  .uniqueArray(
    fc.integer({ min: 0, max: 40 }).map((n) => `c-${n}`),
    { maxLength: 20 },
  )
  .chain((clusters) =>
    fc.integer({ min: 1, max: 6 }).map((size): PageContent[] => {
      const count = Math.max(1, Math.ceil(clusters.length / size))
      return Array.from({ length: count }, (_, n) => ({
        name: `p-decision-${n + 1}`,
        clusters: clusters.slice(n * size, (n + 1) * size),
      }))
    }),
  )
const clustersOf = (all: Iterable<PageContent>) => new Set([...all].flatMap(({ clusters }) => clusters))

test('property: a cluster that stays is on a page after each write, and additions come before removals', () => {
  fc.assert(
    fc.property(pages, pages, (before, after) => {
      const present = new Map(before.map((page) => [page.name, page]))
      const staying = [...clustersOf(before)].filter((cluster) => clustersOf(after).has(cluster))
      for (const { name, clusters } of orderPageWrites(before, after)) {
        if (clusters) present.set(name, { name, clusters })
        else present.delete(name)
        const now = clustersOf(present.values())
        for (const cluster of staying) assert.ok(now.has(cluster), `${cluster} is on no page`)
        const isMissing = [...clustersOf(after)].some((cluster) => !now.has(cluster))
        const isLosing = [...clustersOf(before)].some((cluster) => !now.has(cluster))
        assert.ok(!isMissing || !isLosing, 'a cluster went before another one came')
      }
      assert.deepEqual(
        [...present.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        after.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      )
    }),
  )
})

test('pages that stay as they are are not written', () => {
  const before = [{ name: 'p-decision-1', clusters: ['a', 'b'] }]
  assert.deepEqual(orderPageWrites(before, before), [])
  assert.deepEqual(orderPageWrites(before, [{ name: 'p-decision-1', clusters: ['a'] }]), [
    { name: 'p-decision-1', clusters: ['a'] },
  ])
})
