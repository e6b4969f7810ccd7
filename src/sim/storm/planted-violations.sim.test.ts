/**
 * What the bad days would notice: each promise is broken once on purpose, by a hand in the stores that no honest part
 * of the fleet has, and the check that is named must say so. A check that cannot fail proves nothing.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { storm } from '../../testing/storm/storm.ts'
import type { StormRun } from '../../testing/storm/faults.ts'
import { runScenario } from '../../testing/simulation/run-seeds.ts'
import { tamper } from '../../testing/simulation/tamper.ts'

const isShop = (object: { metadata: { name: string } }) => object.metadata.name === 'shop'

/** The shop's Deployment of a cluster as some version would have it, and never well. */
async function breakSite({ fleet }: StormRun, names: readonly string[], version: string): Promise<void> {
  for (const { name, store } of fleet.members) {
    if (!names.includes(name)) continue
    await tamper(store, Deployment, (object) =>
      isShop(object)
        ? (JSON.parse(
            JSON.stringify({ ...object, status: {} }).replace(/shop:[\w.-]+/g, `shop:${version}`),
          ) as typeof object)
        : object,
    )
  }
}

const onReports = (day: StormRun, change: (spec: ClusterReport['spec']) => Partial<ClusterReport['spec']>) =>
  tamper(day.fleet.hubStore, ClusterReport, (report) => ({
    ...report,
    spec: { ...report.spec, ...change(report.spec) },
  }))

const PLANTS: readonly {
  readonly breaks: string
  readonly by: string
  readonly plant: (day: StormRun) => Promise<void>
}[] = [
  {
    breaks: 'I-04: 4 clusters in flight in ring rest',
    by: 'more admissions on a Rollout than its ring allows',
    plant: ({ fleet }) =>
      tamper(fleet.hubStore, Rollout, (rollout) => {
        const admissions = [1, 2, 3, 4].map((i) => ({
          bundle: 'shop',
          cluster: `store-${i}`,
          ring: 'rest',
          admittedAt: formatTime(0),
        }))
        return { ...rollout, status: { ...rollout.status, admissions } }
      }),
  },
  {
    breaks: 'I-04: 3 of ring rest are unwell with a budget of 2',
    by: 'a version that all clusters get at once and that is healthy on no cluster',
    plant: (day) => breakSite(day, ['store-1', 'store-2', 'store-3', 'store-4'], '1.5'),
  },
  {
    breaks: 'I-04: store-3 has 1.5 before ring canary is through',
    by: 'a version that reaches ring 2 by another way',
    plant: (day) => breakSite(day, ['store-3'], '1.5'),
  },
  {
    breaks: 'I-06: the placement selects no cluster',
    by: 'decisions that become empty',
    plant: ({ fleet }) =>
      tamper(fleet.hubStore, PlacementDecision, (page) => ({ ...page, spec: { ...page.spec, decisions: [] } })),
  },
  {
    breaks: 'I-08: default/shop vanished from store-1',
    by: 'an entry that leaves a document without a tombstone',
    plant: ({ fleet }) => tamper(fleet.hubStore, Assignment, (one) => ({ ...one, spec: { ...one.spec, entries: [] } })),
  },
  {
    breaks: 'I-08: the Deployment of store-1 was deleted',
    by: 'an object that goes although its document wants it',
    plant: ({ fleet }) =>
      tamper(fleet.members[0]!.store, Deployment, (object) => (isShop(object) ? undefined : object)),
  },
  {
    breaks: 'I-11: the report of store-1 went back',
    by: 'a report about an older document',
    plant: (day) => onReports(day, ({ revision }) => ({ revision: revision - 1 })),
  },
  {
    breaks: 'I-11: store-1 went back to revision 0',
    by: 'a document that is numbered like an older one',
    plant: ({ fleet }) => tamper(fleet.hubStore, Assignment, (one) => ({ ...one, spec: { ...one.spec, revision: 0 } })),
  },
  {
    breaks: 'I-12: at rest nothing is written',
    by: 'a client that writes without end',
    plant: async ({ world, fleet }) => {
      const scribble = async (): Promise<void> => {
        for (let n = 0; ; n++) {
          await world.clock.sleep(60_000)
          await tamper(fleet.hubStore, Bundle, ({ metadata, ...bundle }) => ({
            ...bundle,
            metadata: { ...metadata, annotations: { scribble: String(n) } },
          }))
        }
      }
      void scribble()
    },
  },
  {
    breaks: 'I-12: version 9.0 everywhere: not within',
    by: 'an agent that never comes back',
    plant: async ({ fleet }) => {
      const { agent } = fleet.members[3]!
      agent.kill()
      agent.start = () => {}
    },
  },
  {
    breaks: 'I-14: store-1 is Ready at generation 1, and never was well at',
    by: 'a report of Ready for content that was never there',
    plant: (day) =>
      onReports(day, ({ bundles }) => ({
        bundles: bundles.map((row) => ({ ...row, set: digestOf('never there') })),
      })),
  },
  {
    breaks: 'I-15: store-2 is offline after',
    by: 'a cluster that is called offline while its agent speaks',
    plant: ({ fleet }) =>
      tamper(fleet.hubStore, Cluster, (cluster) => {
        const conditions = (cluster.status?.conditions ?? []).map((one) =>
          one.type === 'Available' ? { ...one, status: 'False' as const } : one,
        )
        return { ...cluster, status: { ...cluster.status, conditions } }
      }),
  },
  {
    breaks: 'I-23: store-1 began generation 1 \\d+',
    by: 'content that begins minutes after its start-by',
    plant: async ({ world, fleet }) => {
      await world.run(5 * 60_000)
      await tamper(fleet.members[0]!.store, ConfigMap, (map) => {
        const state = map.data?.['state']
        if (!state?.includes('default/shop')) return map
        return { ...map, data: { ...map.data, state: state.replace(/"set":"sha256:..../, '"set":"sha256:beef') } }
      })
    },
  },
]

describe('a broken promise is noticed', () => {
  for (const { breaks, by, plant } of PLANTS) {
    // Those that show only in the end take a whole day.
    const skip = breaks.startsWith('I-12') && process.env['FLOTILLA_DEEP'] === undefined
    test(`${breaks.split(':')[0]}: ${by}`, { skip }, async () => {
      const scenario = async (world: StormRun['world']): Promise<void> => {
        await storm(world, { faults: [], plant })
      }
      const run = await runScenario(scenario, { seed: 'planted' })
      assert.match(run.error?.message ?? 'nothing was noticed', new RegExp(breaks))
    })
  }
})
