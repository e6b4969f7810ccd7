import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { clusterDecommissionReconciler } from './reconcile.ts'

const entry = { bundle: 'shop/web', generation: 1, set: digestOf('x'), rollout: 'shop/web-g1' }
const tombstone = { bundle: 'shop/web', generation: 1, policy: 'Orphan' as const, since: 1 }

interface World {
  readonly cluster: Cluster
  /** Revision of the document, with its entries; absent when the cluster never had one. */
  readonly document?: { readonly revision: number; readonly entries?: boolean; readonly terminal?: boolean }
  readonly read?: number
}

async function pass({ cluster, document, read }: World, clock = createVirtualClock()) {
  const forgotten: string[] = []
  const assignment =
    document &&
    build(Assignment, 'a', {
      spec: {
        clusterId: 'c-a',
        epoch: 1,
        revision: document.revision,
        document: digestOf('d'),
        entries: document.entries ? [entry] : [],
        ...(document.terminal ? { terminal: true } : {}),
        ...(document.entries === false ? { tombstones: [tombstone] } : {}),
      },
    })
  const report =
    read === undefined
      ? undefined
      : build(ClusterReport, 'a', {
          spec: { clusterId: 'c-a', epoch: 1, revision: read, receivedAt: formatTime(clock.now()), bundles: [] },
        })
  const reconciler = clusterDecommissionReconciler({
    assignmentOf: () => assignment,
    reportOf: () => report,
    forget: async ({ metadata }) => void forgotten.push(metadata.name),
  })
  return { ...(await reconcileOnce(reconciler, cluster, clock)), forgotten }
}

const START = createVirtualClock().now()
const asked = { policy: 'Orphan' as const, at: formatTime(START) }

describe('a cluster that is not asked to leave', () => {
  test('is left alone', async () => {
    const { draft, commit, forgotten } = await pass({
      cluster: buildCluster('a'),
      document: { revision: 1, entries: true },
    })
    assert.equal(draft.next.spec.accepted, true)
    assert.equal(commit, 'Nothing')
    assert.deepEqual(forgotten, [])
  })

  test('loses the record of a decommission that was cancelled', async () => {
    const status = { decommission: { at: asked.at, phase: 'Leaving' as const, left: [] } }
    const { draft, condition } = await pass({ cluster: buildCluster('a', { status }), document: { revision: 1 } })
    assert.equal(draft.next.status?.decommission, undefined)
    assert.equal(condition('Decommissioned'), '-')
  })

  test('is left alone while it is being deleted', async () => {
    const cluster = buildCluster('a', { spec: { decommission: asked } })
    cluster.metadata.deletionTimestamp = asked.at
    assert.equal((await pass({ cluster })).commit, 'Nothing')
  })
})

describe('a cluster that is asked to leave', () => {
  test('is shown as leaving while its document has entries, and keeps its access', async () => {
    const cluster = buildCluster('a', { spec: { decommission: asked } })
    const { draft, condition } = await pass({ cluster, document: { revision: 1, entries: true }, read: 1 })
    assert.equal(draft.next.status?.decommission?.phase, 'Leaving')
    assert.match(condition('Decommissioned'), /^False Leaving: /)
    assert.equal(draft.next.spec.accepted, true)
    assert.equal(draft.next.spec.refused, undefined)
  })

  test('does not inherit the progress of an earlier request', async () => {
    const status = { decommission: { at: '2020-01-01T00:00:00Z', phase: 'Cleared' as const, left: [] } }
    const cluster = buildCluster('a', { spec: { decommission: asked }, status })
    const { draft } = await pass({ cluster, document: { revision: 1, entries: true }, read: 1 })
    assert.deepEqual(draft.next.status?.decommission, { at: asked.at, phase: 'Leaving', left: [] })
  })

  test('loses its access only after the last document was read, with the reason of the request', async () => {
    const status = { decommission: { at: asked.at, phase: 'Cleared' as const, left: [] } }
    const decommission = { ...asked, reason: 'the shop is closed' }
    const cluster = buildCluster('a', { spec: { decommission }, status })
    const unread = await pass({ cluster, document: { revision: 5, terminal: true }, read: 4 })
    assert.equal(unread.draft.next.spec.accepted, true)
    const { draft } = await pass({ cluster, document: { revision: 5, terminal: true }, read: 5 })
    assert.equal(draft.next.spec.accepted, false)
    assert.deepEqual(
      [draft.next.spec.refused?.verdict, draft.next.spec.refused?.reason],
      ['Revoked', 'decommissioned: the shop is closed'],
    )
  })

  test('is deleted after the time that the request names, and not before', async () => {
    const clock = createVirtualClock()
    const refused = { verdict: 'Revoked' as const, at: formatTime(clock.now()), reason: 'decommissioned' }
    const spec = { accepted: false, refused, decommission: { ...asked, forgetAfter: '48h' } }
    const status = { decommission: { at: asked.at, phase: 'Revoked' as const, left: [] } }
    const cluster = buildCluster('a', { spec, status })
    const early = await pass({ cluster, document: { revision: 5, terminal: true }, read: 5 }, clock)
    assert.deepEqual(early.forgotten, [])
    const { requeueAfterMs = 0 } = early.result ?? {}
    assert.equal(requeueAfterMs, 24 * 3_600_000, 'a work queue delays by a day at most')
    await clock.advance(48 * 3_600_000)
    assert.deepEqual((await pass({ cluster, document: { revision: 5, terminal: true }, read: 5 }, clock)).forgotten, [
      'a',
    ])
    const without = { ...cluster, spec: { ...cluster.spec, decommission: asked } }
    assert.deepEqual((await pass({ cluster: without, read: 5 }, clock)).forgotten, [])
  })
})
