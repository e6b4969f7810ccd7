/**
 * A cluster that moves over from another system, back, and over again: wherever a process is killed, the pods stay, the
 * way back leaves what was there, and the end leaves no mark.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { PEER_FIXTURES, peerObjects } from '../../testing/fixtures/peer-systems.ts'
import { configMap, deployment } from '../../testing/hub/test-hub.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import type { World } from '../kernel/world.ts'
import { startFleet, untilAnswered } from './fleet.ts'

const WITHIN = { withinMs: 7_200_000 }
const PERSON = { fieldManager: 'person', force: true }
const OCM = PEER_FIXTURES.find(({ name }) => name === 'ocm')!
const OBJECTS = [configMap('x', { a: '1' }), deployment('web')]
const HELLO = build(Bundle, 'default/hello', {
  spec: { placement: 'stores', manifests: OBJECTS.map((object) => JSON.stringify(object)).join('\n---\n') },
})

type Step = NonNullable<Cluster['spec']['handover']>['step']

/** Over, back, over again, and the end. */
async function moveBackAndForth(world: World): Promise<void> {
  const fleet = await startFleet(world, { clusters: 1 })
  const { store, client, name } = fleet.members[0]!
  await untilAnswered(world, () => peerObjects(client, OCM, OBJECTS))
  const deployments = async () => {
    const all = await listStored(store, Deployment)
    return new Map(all.map((one) => [one.metadata.name, one]))
  }
  const web = async () => {
    const { metadata, spec } = (await deployments()).get('web')!
    return [metadata.uid, spec]
  }
  const managers = async () => {
    const entries = (await deployments()).get('web')!.metadata.managedFields ?? []
    return new Set(entries.map(({ manager }) => manager))
  }
  const replicas = async () => {
    const all = await deployments()
    return OCM.controllers.map((controller) => all.get(controller.name)?.spec.replicas)
  }
  let number = 0
  const move = async (step: Step) => {
    number += 1
    const since = `2026-11-16T08:00:0${number}Z`
    const handover = step === 'Done' ? null : { from: 'ocm', step, since }
    const body = { spec: { handover: handover ?? { step } } }
    await retryUntilAccepted(world, step, () =>
      fleet.client.patch(Cluster, { name }, { type: 'merge', body }, { fieldManager: 'person' }),
    )
    if (step === 'Done') return
    const isDone = async () => {
      const [report] = await listStored(fleet.hubStore, ClusterReport)
      return report?.spec.handover?.since === since && report.spec.handover.state === 'Complete'
    }
    await world.runUntil(isDone, { ...WITHIN, what: `step ${step}` }).catch(async (caught: unknown) => {
      const [report] = await listStored(fleet.hubStore, ClusterReport)
      throw new Error(`${step}: ${JSON.stringify([report?.spec.handover, report?.spec.bundles])}`, { cause: caught })
    })
  }
  const rowIs = (state: string) => async () =>
    (await listStored(fleet.hubStore, ClusterReport))[0]?.spec.bundles[0]?.state === state

  const pods = await web()
  const before = await managers()
  await retryUntilAccepted(world, 'placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, PERSON))
  world.focus()
  // The step comes first: nothing of the bundle is applied on arrival.
  const begin = { spec: { handover: { from: 'ocm', step: 'Compare', since: '2026-11-16T08:00:00Z' } } }
  await retryUntilAccepted(world, 'begin', () =>
    fleet.client.patch(Cluster, { name }, { type: 'merge', body: begin }, { fieldManager: 'person' }),
  )
  await retryUntilAccepted(world, 'bundle', () => fleet.client.apply(Bundle, HELLO, PERSON))
  await world.runUntil(rowIs('Pending'), { ...WITHIN, what: 'the bundle' })
  await move('Compare')
  assert.deepEqual(await replicas(), [1, 1])
  // A person looks at the differences, and nothing is written meanwhile.
  const until = world.clock.monotonicMs() + 300_000
  await world.runUntil(async () => world.clock.monotonicMs() > until, { ...WITHIN, what: 'five minutes' })
  assert.deepEqual([await web(), await managers()], [pods, before])

  await move('Take')
  await world.runUntil(rowIs('Ready'), { ...WITHIN, what: 'ready' })
  assert.deepEqual([await replicas(), await web()], [[0, 0], pods])
  await move('Undo')
  assert.deepEqual([await replicas(), await web()], [[1, 1], pods])
  assert.deepEqual(await managers(), before)

  await move('Compare')
  await move('Take')
  await move('Finish')
  await move('Done')
  await world.runUntil(rowIs('Ready'), { ...WITHIN, what: 'ready again' })
  assert.deepEqual([await replicas(), await web()], [[0, 0], pods])
  assert.ok(!(await managers()).has(OCM.manager))
}

describe('a handover in simulation', () => {
  test('gets through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(moveBackAndForth, { seed: 'handover', every: deep ? 7 : 131 })
    assert.ok(tried > 2, `only ${tried} crashes tried`)
  })
})
