/** Bindings that a changed cluster concerns: a binding that is left out decides the same before and after. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Condition } from '../../../kinds/meta.ts'
import type { KarmadaCluster, KarmadaPlacement } from '../types.ts'
import type { ServedBinding } from './kinds.ts'
import { scheduleServed } from './schedule-served.ts'
import type { ServedSchedule } from './schedule-served.ts'
import { isTouched } from './touched-bindings.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const
const divided = {
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: {
    staticWeightList: [
      { targetCluster: { labelSelector: { matchLabels: { tier: 'x' } } }, weight: 2 },
      { targetCluster: {}, weight: 1 },
    ],
  },
}
const ofTier = (tier: string) => ({ labelSelector: { matchLabels: { tier } } })
const PLACEMENTS: readonly KarmadaPlacement[] = [
  {},
  { clusterAffinity: ofTier('x') },
  { clusterAffinity: ofTier('x'), replicaScheduling: divided },
  { clusterAffinity: { exclude: ['a'] }, replicaScheduling: divided },
  {
    clusterAffinities: [
      { affinityName: 'x', ...ofTier('x') },
      { affinityName: 'y', ...ofTier('y') },
    ],
  },
  {
    clusterAffinity: ofTier('y'),
    spreadConstraints: [
      { spreadByField: 'region', minGroups: 1, maxGroups: 2 },
      { spreadByField: 'cluster', minGroups: 1, maxGroups: 2 },
    ],
  },
]

const anyCluster = (name: string): fc.Arbitrary<KarmadaCluster | undefined> =>
  fc
    .option(fc.record({ tier: fc.constantFrom('x', 'y'), region: fc.constantFrom('r1', 'r2'), isAway: fc.boolean() }), {
      nil: undefined,
      freq: 8,
    })
    .map((one) =>
      one === undefined
        ? undefined
        : {
            metadata: { name, labels: { tier: one.tier } },
            spec: {
              region: one.region,
              taints: one.isAway ? [{ key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }] : [],
            },
            status: { apiEnablements: [{ groupVersion: 'apps/v1', resources: [{ kind: 'Deployment' }] }] },
          },
    )

function bindingOf(placement: KarmadaPlacement, decided?: ServedSchedule): ServedBinding {
  const annotations: Record<string, string> =
    decided?.appliedPlacement === undefined ? {} : { 'policy.karmada.io/applied-placement': decided.appliedPlacement }
  const condition = decided && ({ type: 'Scheduled', lastTransitionTime: '', ...decided.scheduled } as Condition)
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'web-deployment', namespace: 'shop', annotations },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
      replicas: 5,
      placement,
      clusters: (decided?.clusters ?? []).map((one) => ({ ...one })),
    },
    status: {
      conditions: condition ? [condition] : [],
      ...(decided?.affinity === undefined ? {} : { schedulerObservingAffinityName: decided.affinity }),
    },
  }
}

type Touched = typeof isTouched
interface Case {
  readonly placement: KarmadaPlacement
  readonly fleet: readonly (KarmadaCluster | undefined)[]
  readonly name: (typeof NAMES)[number]
  readonly after: KarmadaCluster | undefined
}

/** Whether the decision stays the same for a binding that the change does not touch. */
function holds({ placement, fleet, name, after }: Case, touched: Touched): boolean {
  const present = fleet.filter((one) => one !== undefined)
  const binding = bindingOf(placement, scheduleServed(bindingOf(placement), present))
  const settled = scheduleServed(binding, present)
  const before = present.find(({ metadata }) => metadata.name === name)
  if (touched(binding, { name, before, after })) return true
  const changed = [...present.filter((one) => one !== before), ...(after ? [after] : [])]
  const next = scheduleServed(binding, changed)
  return JSON.stringify([next.clusters, next.scheduled]) === JSON.stringify([settled.clusters, settled.scheduled])
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    placement: fc.constantFrom(...PLACEMENTS),
    fleet: fc.tuple(...NAMES.map(anyCluster)),
    name: fc.constantFrom(...NAMES),
  })
  .chain((one) => anyCluster(one.name).map((after) => ({ ...one, after })))

test('a binding that a changed cluster does not touch decides as before', () => {
  fc.assert(
    fc.property(cases, (one) => holds(one, isTouched)),
    { numRuns: 3000 },
  )
})

test('the property notices a binding that is left out although it runs there, or could', () => {
  const runsThere: Touched = (binding, change) =>
    isTouched({ ...binding, spec: { ...binding.spec, clusters: [] } }, { ...change, before: undefined })
  const isOn: Touched = ({ spec }, { name }) => spec.clusters?.some((one) => one.name === name) ?? false
  for (const planted of [runsThere, isOn]) {
    assert.equal(
      fc.check(
        fc.property(cases, (one) => holds(one, planted)),
        { numRuns: 3000 },
      ).failed,
      true,
    )
  }
})

test('a cluster touches the bindings that select it, run there, left it or failed; and no others', () => {
  const placed = (placement: KarmadaPlacement, more: Partial<ServedBinding['spec']> = {}, status = 'True') => {
    const one = bindingOf(placement)
    const conditions = [{ type: 'Scheduled', status, reason: 'x', message: '', lastTransitionTime: '' }] as Condition[]
    return { ...one, spec: { ...one.spec, ...more }, status: { conditions } }
  }
  const after: KarmadaCluster = { metadata: { name: 'a', labels: { tier: 'x' } } }
  const touched = (binding: ServedBinding) => isTouched(binding, { name: 'a', before: after, after })
  const other = { clusterAffinity: { clusterNames: ['b'] } }
  assert.equal(touched(placed(other)), false)
  assert.equal(touched(placed(other, {}, 'False')), true)
  assert.equal(touched(placed({ clusterAffinity: ofTier('x') })), true)
  assert.equal(touched(placed(other, { clusters: [{ name: 'a' }] })), true)
  assert.equal(touched(placed(other, { gracefulEvictionTasks: [{ fromCluster: 'a' }] })), true)
  assert.equal(touched(placed(other, { requiredBy: [{ name: 'x', clusters: [{ name: 'a' }] }] })), true)
  const left = placed(other)
  left.metadata.annotations = { 'karmada.flotilla.dev/left-clusters': '{"a":"2026-01-01T00:00:00Z"}' }
  assert.equal(touched(left), true)
  const { placement: _none, ...follows } = placed(other).spec
  assert.equal(touched({ ...placed(other), spec: follows }), false)
})
