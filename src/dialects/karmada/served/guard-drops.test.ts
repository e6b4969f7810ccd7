import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'
import type { KarmadaCluster, KarmadaPlacement } from '../types.ts'
import { APPLIED_PLACEMENT, RELEASED_DROP } from './decide-claim.ts'
import { scheduleGuarded } from './guard-drops.ts'
import type { GuardFacts } from './guard-drops.ts'
import type { ServedBinding } from './kinds.ts'
import type { ServedSchedule } from './schedule-served.ts'

const NAMES = Array.from({ length: 20 }, (_, nth) => `c${String(nth + 1).padStart(2, '0')}`)
const inShops: KarmadaPlacement = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'shop' } } } }
const enablements = [{ groupVersion: 'apps/v1', resources: [{ kind: 'Deployment' }] }]

/** Clusters of the tier `shop`, without those named, which have another tier. */
const fleet = (names: readonly string[], relabelled: readonly string[] = []): KarmadaCluster[] =>
  names.map((name) => ({
    metadata: { name, labels: { tier: relabelled.includes(name) ? 'office' : 'shop' } },
    spec: { taints: [] },
    status: { apiEnablements: enablements },
  }))

/** A binding that runs on the clusters, with the placement that was applied. */
function runs(
  names: readonly string[],
  { placement = inShops, applied = placement, replicas = 3, shares = names.map(() => replicas) }: Running = {},
): ServedBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      name: 'web-deployment',
      namespace: 'shop',
      generation: 4,
      annotations: { [APPLIED_PLACEMENT]: JSON.stringify(applied) },
    },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
      replicas,
      placement,
      clusters: names.map((name, nth) => ({ name, replicas: shares[nth]! })),
    },
  }
}
interface Running {
  readonly placement?: KarmadaPlacement
  readonly applied?: KarmadaPlacement
  readonly replicas?: number
  readonly shares?: readonly number[]
}

const decide = (binding: ServedBinding, clusters: KarmadaCluster[], more: Partial<GuardFacts> = {}, token?: string) => {
  const annotations: Record<string, string> = token === undefined ? {} : { 'flotilla.dev/release-drop': token }
  const template = { metadata: { name: 'web', annotations } }
  return scheduleGuarded(binding, { clusters, holds: () => true, template, ...more })
}
const namesOf = ({ clusters }: ServedSchedule) => clusters.map(({ name }) => name)
const tokenOf = ({ scheduled }: ServedSchedule) => shrinkTokenIn(scheduled.message)

describe('labels that change', () => {
  test('drop a tenth of the clusters at once, and one cluster at least, without a question', () => {
    const two = decide(runs(NAMES), fleet(NAMES, ['c01', 'c02']))
    assert.deepEqual([namesOf(two).length, two.scheduled.reason], [18, 'Success'])
    assert.deepEqual(namesOf(decide(runs(['a', 'b']), fleet(['a', 'b'], ['a']))), ['b'])
  })

  test('wait when they would drop more, or all, and say which cluster and why', () => {
    const three = decide(runs(NAMES), fleet(NAMES, ['c03', 'c01', 'c02']))
    assert.deepEqual([namesOf(three), three.appliedPlacement], [NAMES, undefined])
    assert.equal(three.scheduled.reason, 'DropHeld')
    assert.match(
      three.scheduled.message,
      /^The change would drop 3 of 20 clusters; at most 2 can be dropped at once\. c01: cluster\(s\) did not match the placement cluster affinity constraint; and 2 more\. The targets before it stay in force\. Let it through with: flotilla guard release resourcebinding web-deployment -n shop \(token g4-drop3-[0-9a-f]{8}\)$/,
    )
    // The cluster that is new would take over; the object leaves the one where it was.
    const moved = decide(runs(['a']), fleet(['a', 'b'], ['a']))
    assert.deepEqual(namesOf(moved), ['a'])
    assert.match(
      moved.scheduled.message,
      /drop 1 of 1 clusters\. No cluster that has the Deployment would keep it\. a:/,
    )
  })

  test('are released by exactly their token, once', () => {
    const binding = runs(NAMES)
    const clusters = fleet(NAMES, ['c01', 'c02', 'c03'])
    const token = tokenOf(decide(binding, clusters))!
    assert.equal(decide(binding, clusters, {}, 'g4-drop3-00000000').scheduled.reason, 'DropHeld')
    const more = decide(binding, fleet(NAMES, ['c01', 'c02', 'c03', 'c04']), {}, token)
    assert.equal(more.scheduled.reason, 'DropHeld', 'a larger change')
    const released = decide(binding, clusters, {}, token)
    assert.deepEqual([namesOf(released).length, released.released], [17, token])
    const annotations = { ...binding.metadata.annotations, [RELEASED_DROP]: token }
    const again = { ...binding, metadata: { ...binding.metadata, annotations } }
    assert.equal(decide(again, clusters, {}, token).scheduled.reason, 'DropHeld', 'the same change, repeated')
  })

  test('that leave a cluster without a weight wait as well', () => {
    const weights = { targetCluster: { labelSelector: { matchLabels: { tier: 'shop' } } }, weight: 1 }
    const placement: KarmadaPlacement = {
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        replicaDivisionPreference: 'Weighted',
        weightPreference: { staticWeightList: [weights] },
      },
    }
    const binding = runs(['a', 'b', 'c', 'd'], { placement, replicas: 7, shares: [2, 2, 2, 2] })
    const decided = decide(binding, fleet(['a', 'b', 'c', 'd'], ['a', 'b', 'c']))
    assert.match(decided.scheduled.message, /drop 3 of 4 clusters.* a: no weight belongs to it/)
    // Its replicas follow the object where each target keeps some.
    assert.deepEqual(
      decided.clusters.map(({ replicas }) => replicas),
      [2, 2, 2, 2],
    )
  })
})

describe('a changed placement', () => {
  const on = (...clusterNames: string[]): KarmadaPlacement => ({ clusterAffinity: { clusterNames } })

  test('waits when it drops more than allowed; the replicas on the former targets follow the object', () => {
    const names = ['a', 'b', 'c']
    const binding = { ...runs(names, { placement: on('c'), applied: on(...names), replicas: 3, shares: [2, 2, 2] }) }
    const decided = decide(binding, fleet(names))
    assert.match(decided.scheduled.message, /drop 2 of 3 clusters; at most 1 can be dropped at once\. a: /)
    assert.deepEqual(
      decided.clusters,
      names.map((name) => ({ name, replicas: 3 })),
    )
    assert.deepEqual(namesOf(decide(binding, fleet(names), {}, tokenOf(decided))), ['c'])
  })

  test('does not wait where no cluster has the object yet, and where the clusters are gone', () => {
    const binding = runs(['a', 'b', 'c'], { placement: on('d'), applied: on('a', 'b', 'c') })
    const clusters = fleet(['a', 'b', 'c', 'd'])
    assert.deepEqual(namesOf(decide(binding, clusters, { holds: () => false })), ['d'])
    assert.deepEqual(namesOf(decide(binding, fleet(['d']))), ['d'])
  })
})

test('fewer replicas, and replicas that move, may leave clusters by the unchanged placement', () => {
  const divided: KarmadaPlacement = {
    replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' },
  }
  const names = ['a', 'b', 'c']
  const fewer = runs(names, { placement: divided, replicas: 1, shares: [1, 1, 1] })
  assert.equal(namesOf(decide(fewer, fleet(names))).length, 1)
  const spread: KarmadaPlacement = { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] }
  const binding = runs(['b', 'c'], { placement: spread })
  assert.equal(decide(binding, fleet(names)).scheduled.reason, 'Success', 'one of two')
  const three = runs(names, { placement: spread })
  assert.equal(decide(three, fleet(names)).scheduled.reason, 'DropHeld')
  assert.equal(decide(three, fleet(names), { isMove: true }).scheduled.reason, 'Success')
})
