/**
 * Rendering in the cluster under faults: wherever a process is killed, what was drawn stays, and the newest values win.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../core/errors.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Source } from '../../kinds/native/source.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { chartFilesFor, configMapTemplate } from '../../testing/fixtures/chart-content.ts'
import { recordedIn, listStored } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const WITHIN = { withinMs: 7_200_000 }
const PERSON = { fieldManager: 'person', force: true }
const BUNDLE = build(Bundle, 'default/app', {
  spec: {
    placement: 'stores',
    source: { name: 'apps' },
    render: { at: 'Agent' },
    helm: { valuesFrom: [{ kind: 'ConfigMap', name: 'site' }] },
  },
})
const site = (color: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'site', namespace: 'default' },
  data: { 'values.yaml': `color: ${color}\n` },
})

/** What the chart made, as it is in the cluster now. */
async function madeIn(fleet: Fleet): Promise<string | undefined> {
  const maps = await listStored(fleet.members[0]!.store, ConfigMap)
  return maps.find(({ metadata }) => metadata.name === 'app')?.data?.['v']
}

/** A bundle that reads and draws comes, its values change, it goes. */
async function comeChangeGo(world: World): Promise<void> {
  const files = chartFilesFor({ 'cm.yaml': configMapTemplate('{{ randAlphaNum 12 }} {{ .Values.color }}') })
  const fleet = await startFleet(world, { clusters: 1, files })
  const { client } = fleet.members[0]!
  await retryUntilAccepted(world, 'placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, PERSON))
  const source = build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10m' } })
  await retryUntilAccepted(world, 'source', () => fleet.client.apply(Source, source, PERSON))
  await retryUntilAccepted(world, 'values', () => client.apply(ConfigMap, site('blue'), PERSON))
  world.focus()
  await retryUntilAccepted(world, 'bundle', () => fleet.client.apply(Bundle, BUNDLE, PERSON))
  const drawn = new Set<string>()
  const becomes = (color: string) =>
    world.runUntil(
      async () => {
        const [random, now] = ((await madeIn(fleet)) ?? '').split(' ')
        if (random) drawn.add(random)
        return now === color
      },
      { ...WITHIN, what: `${color} arrives` },
    )
  await becomes('blue')
  await retryUntilAccepted(world, 'values', () => client.apply(ConfigMap, site('grey'), PERSON))
  await becomes('grey')
  assert.equal(drawn.size, 1, 'what was drawn once stays')
  await retryUntilAccepted(world, 'deletion', () =>
    fleet.client.delete(Bundle, { namespace: 'default', name: 'app' }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
  const isGone = async () =>
    (await madeIn(fleet)) === undefined && (await recordedIn(fleet.members[0]!.store)).length === 0
  await world.runUntil(isGone, { ...WITHIN, what: 'nothing of it is left' })
}

describe('rendering in the cluster, in simulation', () => {
  test('gets through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(comeChangeGo, { seed: 'render', every: deep ? 1 : 31 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })
})
