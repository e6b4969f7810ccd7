/**
 * Hooks, going back and going out under faults: wherever a process is killed, each hook runs once per operation and a
 * failure is answered once.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../core/errors.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { recordedIn, listStored } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { startFleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'
import { Job } from '../workloads/cron-job.ts'

const WITHIN = { withinMs: 7_200_000 }
const PERSON = { fieldManager: 'person', force: true }

const map = (name: string, v: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default }\ndata: { v: "${v}" }\n`
const hook = (name: string, on: string, image = 'job:1') => `apiVersion: batch/v1
kind: Job
metadata: { name: ${name}, namespace: default, annotations: { flotilla.dev/hook: "${on}" } }
spec:
  backoffLimit: 0
  template: { spec: { restartPolicy: Never, containers: [{ name: main, image: "${image}" }] } }
`
const bundle = (...manifests: string[]) =>
  build(Bundle, 'default/app', {
    spec: {
      placement: 'stores',
      manifests: manifests.join('---\n'),
      remediation: { install: 'Uninstall', upgrade: 'RollBack' },
    },
  })
const BYE = hook('bye', 'pre-delete')
const GOOD = bundle(
  map('app', '1'),
  map('old', '1'),
  hook('pre', 'pre-install,pre-upgrade'),
  hook('undo', 'post-rollback'),
  BYE,
)
const BAD = bundle(
  map('app', '2'),
  map('new', '1'),
  hook('pre', 'pre-install,pre-upgrade'),
  hook('seed', 'post-upgrade', 'broken:1'),
)

/** A bundle comes, its next release fails and is taken back, and it goes. */
async function comeFailReturnGo(world: World): Promise<void> {
  const fleet = await startFleet(world, { clusters: 1 })
  const { store } = fleet.members[0]!
  const runs = new Map<string, Set<string>>()
  /** The hooks that ran, by name, and how often. */
  const look = async () => {
    for (const { metadata } of await listStored(store, Job)) {
      runs.set(metadata.name, (runs.get(metadata.name) ?? new Set()).add(metadata.uid ?? ''))
    }
    return Object.fromEntries([...runs].map(([name, uids]) => [name, uids.size]))
  }
  const values = async () => {
    const ours = (await listStored(store, ConfigMap)).filter(({ data }) => data?.['v'] !== undefined)
    return Object.fromEntries(ours.map(({ metadata, data }) => [metadata.name, data?.['v']]))
  }
  const row = async () => (await listStored(fleet.hubStore, ClusterReport))[0]?.spec.bundles[0]
  const until = (what: string, holds: () => Promise<boolean>) =>
    world.runUntil(
      async () => {
        await look()
        return holds()
      },
      { ...WITHIN, what },
    )
  const apply = (wanted: Bundle) =>
    retryUntilAccepted(world, 'bundle', () => fleet.client.apply(Bundle, wanted, PERSON))
  await retryUntilAccepted(world, 'placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, PERSON))
  world.focus()
  await apply(GOOD)
  await until('the first release', async () => (await row())?.state === 'Ready')
  assert.deepEqual([await look(), await values()], [{ pre: 1 }, { app: '1', old: '1' }])
  await apply(BAD)
  await until(
    'going back',
    async () => (await row())?.message?.startsWith('rolled back to the previous set: ') ?? false,
  )
  assert.deepEqual(
    [await look(), await values()],
    [
      { pre: 2, seed: 1, undo: 1 },
      { app: '1', old: '1' },
    ],
  )
  await retryUntilAccepted(world, 'deletion', () =>
    fleet.client.delete(Bundle, { namespace: 'default', name: 'app' }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
  await until(
    'its end',
    async () => (await listStored(fleet.hubStore, ClusterReport))[0]?.spec.removals?.[0]?.state === 'Removed',
  )
  assert.deepEqual([await look(), await values()], [{ bye: 1, pre: 2, seed: 1, undo: 1 }, {}])
  await until('nothing is recorded any more', async () => (await recordedIn(store)).length === 0)
}

describe('hooks and remedies in simulation', () => {
  test('get through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(comeFailReturnGo, { seed: 'hooks', every: deep ? 1 : 71 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })
})
