/** Spread constraints by zone, provider and label, as the hub serves them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KarmadaCluster, SpreadConstraint } from '../types.ts'
import { snapshotOf } from './cluster-snapshot.ts'
import { scheduleBinding } from './schedule-binding.ts'
import { spreadByAny } from './spread-any.ts'

const cluster = (name: string, zone: string, region = zone[0]!, site = zone): KarmadaCluster => ({
  metadata: { name, labels: site === '' ? {} : { site } },
  spec: { provider: `p-${region}`, region, zones: [zone] },
  status: { apiEnablements: [{ groupVersion: 'apps/v1', resources: [{ kind: 'Deployment' }] }] },
})
const FLEET = [cluster('m1', 'a1'), cluster('m2', 'a1'), cluster('m3', 'a2'), cluster('m4', 'b1'), cluster('m5', 'b1')]

function decide(constraints: SpreadConstraint[], fleet: readonly KarmadaCluster[] = FLEET, isServed = true) {
  const result = scheduleBinding({
    binding: {
      metadata: { name: 'x' },
      spec: {
        resource: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
        replicas: 2,
        placement: { spreadConstraints: constraints },
      },
    },
    clusters: fleet.map(snapshotOf),
    options: isServed ? { spreadsByAny: spreadByAny } : {},
  })
  return result.action === 'scheduled' ? result.clusters.map(({ name }) => name).toSorted() : result.message!
}
const said = (...args: Parameters<typeof decide>) => decide(...args).toString()
const by = (field: string, minGroups: number, maxGroups?: number): SpreadConstraint => ({
  ...(field.startsWith('label ') ? { spreadByLabel: field.slice(6) } : { spreadByField: field }),
  minGroups,
  ...(maxGroups === undefined ? {} : { maxGroups }),
})
const zonesOf = (names: readonly string[] | string) =>
  new Set(FLEET.filter(({ metadata }) => names.includes(metadata.name)).flatMap(({ spec }) => spec?.zones))

describe('a constraint', () => {
  test('by zone, provider or label chooses one cluster of each of enough groups', () => {
    const one = by('cluster', 1, 3)
    assert.equal(zonesOf(decide([by('zone', 3, 3), one])).size, 3)
    assert.deepEqual(decide([by('provider', 2, 2), by('cluster', 2, 2)]), ['m1', 'm4'])
    assert.equal(zonesOf(decide([by('label site', 3, 3), one])).size, 3)
    assert.equal(zonesOf(decide([by('label site', 3, 3)])).size, 3, 'a constraint by label needs no other')
  })

  test('by several fields is met by the result as a whole', () => {
    const chosen = decide([by('region', 2, 2), by('zone', 2, 2), by('cluster', 2, 2)])
    assert.equal(zonesOf(chosen).size, 2)
    assert.deepEqual(chosen, ['m1', 'm4'])
  })

  test('that cannot be met fails with its numbers, and none is dropped silently', () => {
    assert.match(said([by('zone', 4), by('cluster', 1)]), /3 groups by zone are feasible.*minGroups 4/)
    assert.match(said([by('label rack', 1), by('cluster', 1)]), /0 groups by label rack/)
    assert.match(said([by('zone', 3, 3), by('cluster', 1, 2)]), /3 groups are needed, more than the 2 clusters/)
    assert.match(said([by('zone', 1, 1), by('cluster', 3)]), /not enough for minGroups 1 and 3 clusters/)
  })

  test('without maxGroups has no maximum', () => {
    assert.equal(decide([by('cluster', 1)]).length, 5)
    assert.equal(decide([by('zone', 3), by('cluster', 5)]).length, 5)
  })

  test('leaves out clusters without the label', () => {
    const fleet = [cluster('m1', 'a1', 'a', 'x'), cluster('m2', 'a1', 'a', '')]
    assert.deepEqual(decide([by('label site', 1)], fleet), ['m1'])
  })

  test('with very many groups is decided by score, without comparing all combinations', () => {
    const fleet = Array.from({ length: 400 }, (_none, nth) => cluster(`m${nth}`, `z${nth}`, 'r'))
    assert.equal(decide([by('label site', 100, 100), by('cluster', 100, 100)], fleet).length, 100)
  })
})

test('without the option the decision is the one of Karmada', () => {
  assert.match(said([by('zone', 1, 1), by('cluster', 1)], FLEET, false), /no clusters available to schedule/)
  assert.match(said([by('label site', 1)], FLEET, false), /just support cluster and region/)
})
