import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlacementDecision } from '../../kinds/placement-decision.ts'
import type { Placement } from '../../kinds/placement.ts'
import type { PlacementCluster } from '../../plan/placement.ts'
import { PAGE_SIZE } from '../../plan/placement.ts'
import { buildPlacement } from '../../testing/builders.ts'
import { passOf } from '../../testing/drafts.ts'
import { placementDecideReconciler } from './reconcile.ts'

function fixture(count: number) {
  const clusters: PlacementCluster[] = Array.from({ length: count }, (_, i) => ({
    name: `c${String(i).padStart(4, '0')}`,
    labels: { tier: 'store' },
    accepted: true,
  }))
  const pages = new Map<string, PlacementDecision>()
  const log: string[] = []
  const put = (verb: string) => async (page: PlacementDecision) => {
    log.push(`${verb} ${page.metadata.name}`)
    pages.set(page.metadata.name, page)
  }
  const reconciler = placementDecideReconciler({
    clusters: () => clusters,
    pagesOf: () => [...pages.values()],
    createPage: put('create'),
    updatePage: put('update'),
    deletePage: async (page) => {
      log.push(`delete ${page.metadata.name}`)
      pages.delete(page.metadata.name)
    },
  })
  return { clusters, pages, log, reconciler }
}

const placement = (generation: number, labels = { tier: 'store' }): Placement => {
  const made = buildPlacement('ns/p', labels)
  return { ...made, metadata: { ...made.metadata, generation, uid: 'u' } }
}

test('pages are written once; one newcomer writes one page; a new question writes all', async () => {
  const { clusters, pages, log, reconciler } = fixture(PAGE_SIZE + 1)
  const first = await passOf(reconciler, placement(1))
  assert.deepEqual(log.splice(0), ['create p-0', 'create p-1'])
  assert.deepEqual(
    [first.draft.next.status?.selected, first.draft.next.status?.pages, first.draft.next.status?.decisionsGeneration],
    [PAGE_SIZE + 1, 2, 1],
  )
  assert.equal((await passOf(reconciler, first.draft.next)).commit, 'Nothing')
  assert.deepEqual(log, [])

  clusters.unshift({ name: 'a', labels: { tier: 'store' }, accepted: true })
  await passOf(reconciler, first.draft.next)
  assert.deepEqual(log.splice(0), ['update p-1'])

  await passOf(reconciler, placement(2))
  assert.deepEqual(log.splice(0), ['update p-0', 'update p-1'])
  assert.deepEqual(
    [...pages.values()].map((page) => page.spec.placementGeneration),
    [2, 2],
  )
})

test('pages that a shorter answer leaves over are removed last', async () => {
  const { clusters, log, reconciler } = fixture(PAGE_SIZE + 1)
  await passOf(reconciler, placement(1))
  log.length = 0
  clusters.length = 1
  await passOf(reconciler, placement(2))
  assert.deepEqual(log, ['update p-0', 'delete p-1'])
})

test('a placement that is being deleted is left alone', async () => {
  const { log, reconciler } = fixture(1)
  const leaving = placement(1)
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.equal((await passOf(reconciler, leaving)).commit, 'Nothing')
  assert.deepEqual(log, [])
})
