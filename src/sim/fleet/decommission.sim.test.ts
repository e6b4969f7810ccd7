/**
 * Decommission under faults: killed around any durable step, a cluster is emptied first, told, and only then cut off;
 * its neighbour notices nothing.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { recordedIn, listStored, watchFleet } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { startFleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const WITHIN = { withinMs: 7_200_000 }

async function leaveForGood(world: World): Promise<void> {
  const life = new AbortController()
  const fleet = await startFleet(world, { clusters: 2 })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const person = { fieldManager: 'person', force: true }
  await retryUntilAccepted(world, 'placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, person))
  await retryUntilAccepted(world, 'bundle', () => fleet.client.apply(Bundle, SHOP_BUNDLE, person))
  const ready = async () => {
    const reports = await listStored(fleet.hubStore, ClusterReport)
    return reports.filter(({ spec }) => spec.bundles.some(({ state }) => state === 'Ready')).length === 2
  }
  await world.runUntil(ready, { ...WITHIN, what: 'both clusters Ready' })
  const [leaves, stays] = fleet.members
  world.focus()
  const decommission = { policy: 'Remove', at: '2026-01-01T00:00:00Z', reason: 'store closed' }
  const body = { spec: { decommission } }
  await retryUntilAccepted(world, 'decision', () =>
    fleet.client.patch(Cluster, { name: leaves!.name }, { type: 'merge', body }),
  )
  const one = async () =>
    (await listStored(fleet.hubStore, Cluster)).find(({ metadata }) => metadata.name === leaves!.name)!
  const isOver = async () => {
    const { spec, status } = await one()
    if (!spec.refused) return false
    assert.notEqual(status?.decommission?.phase, 'Leaving', 'what was left is written down before access goes')
    return status?.decommission?.phase === 'Revoked'
  }
  await world.runUntil(isOver, { ...WITHIN, what: 'the cluster is revoked' })
  watch.check()
  assert.deepEqual(await listStored(leaves!.store, Deployment), [], 'what it ran is gone')
  assert.deepEqual((await one()).status?.decommission?.left, [
    'default/shop: Namespace shop: it may hold what the bundle did not bring',
  ])
  assert.equal((await listStored(stays!.store, Deployment)).length, 1, 'its neighbour keeps what it runs')
  const isForgotten = async () => (await recordedIn(leaves!.store)).length === 0
  await world.runUntil(isForgotten, { ...WITHIN, what: 'nothing is recorded any more' })
  life.abort()
}

describe('decommission in simulation', () => {
  test('gets through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(leaveForGood, { seed: 'decommission', every: deep ? 1 : 23 })
    assert.ok(tried > 3, `only ${tried} crashes tried`)
  })
})
