import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { admitDelivery, deliveryRevision, entriesWithoutRoom } from './delivery.ts'
import type { AdmitDeliveryInput, DeliveryAdmission, DeliveryCluster } from './delivery.ts'

const set = digestOf('set')
const NOW = '2026-11-18T12:00:00Z'
const EARLIER = '2026-11-18T11:00:00Z'
const FACTS: DeliveryCluster = { accepted: true, leaving: false, offline: false, isRemovalKnown: false, isFull: false }
const ASSIGNED = { ...FACTS, assigned: { generation: 1, set } }
const BURIED = { ...FACTS, buried: { generation: 1 }, isRemovalKnown: true }
const ADMITTED: DeliveryAdmission = { cluster: 'a', generation: 1, admittedAt: EARLIER }
const REMOVED: DeliveryAdmission = { ...ADMITTED, removal: { policy: 'Delete', cause: 'bundleDeleted' } }

function admit(facts: DeliveryCluster | undefined, input: Partial<AdmitDeliveryInput> = {}) {
  return admitDelivery({
    clusters: ['a'],
    deleted: false,
    policies: {},
    revision: { generation: 1, set },
    admissions: [],
    holders: facts?.assigned || facts?.buried ? ['a'] : [],
    clusterOf: (name) => (name === 'a' ? facts : undefined),
    now: NOW,
    isSettled: () => false,
    maxEntries: 500,
    ...input,
  })
}

describe('the admission of a Delivery', () => {
  test('names a cluster once, and keeps its record', () => {
    assert.deepEqual(admit(FACTS).admissions, [{ cluster: 'a', generation: 1, admittedAt: NOW }])
    assert.deepEqual(admit(ASSIGNED, { admissions: [ADMITTED] }).admissions, [ADMITTED])
    const next = admit(ASSIGNED, { admissions: [ADMITTED], revision: { generation: 2, set } })
    assert.deepEqual(next.admissions, [{ cluster: 'a', generation: 2, admittedAt: NOW }])
  })

  test('waits for a cluster that is missing, not accepted, leaving or full, and says which', () => {
    const waits = (facts: DeliveryCluster | undefined) => admit(facts).waits.map(({ reason }) => reason)
    assert.deepEqual(waits(undefined), ['ClusterNotFound'])
    assert.deepEqual(waits({ ...FACTS, accepted: false }), ['ClusterNotAccepted'])
    assert.deepEqual(waits({ ...FACTS, leaving: true }), ['ClusterLeaving'])
    assert.deepEqual(waits({ ...FACTS, isFull: true }), ['ClusterFull'])
    assert.deepEqual(waits({ ...ASSIGNED, isFull: true }), [], 'it is one of the entries')
    const frozen = 'Namespace shop has no Project.'
    assert.deepEqual(waits({ ...FACTS, frozen }), ['ProjectRefuses'])
    assert.deepEqual(admit({ ...FACTS, frozen }).admissions, [], 'nothing is recorded while it is frozen')
    const stays = admit({ ...ASSIGNED, frozen }, { admissions: [ADMITTED] })
    assert.deepEqual([stays.admissions, stays.waits], [[ADMITTED], []], 'what runs stays')
    const next = { admissions: [ADMITTED], revision: { generation: 2, set } }
    assert.deepEqual(admit({ ...ASSIGNED, frozen }, next).admissions, [ADMITTED], 'the next content waits')
    assert.deepEqual(admit({ ...ASSIGNED, frozen }, { deleted: true }).admissions.length, 1, 'a removal does not')
    assert.deepEqual(admit({ ...FACTS, accepted: false }).admissions, [], 'nothing is recorded for a stranger')
    assert.match(admit({ ...FACTS, isFull: true }).waits[0]!.message, /document of cluster a has 500 entries/)
  })
})

describe('the removal of a Delivery', () => {
  const gone = { deleted: true, admissions: [ADMITTED] } as const

  test('is recorded with its policy before anything changes, for each holder', () => {
    const removal = { policy: 'Delete', cause: 'bundleDeleted' } as const
    assert.deepEqual(admit(ASSIGNED, gone).admissions, [{ ...ADMITTED, admittedAt: NOW, removal }])
    assert.deepEqual(admit(ASSIGNED, { ...gone, admissions: [] }).admissions[0]?.removal, removal, 'a lost record')
    const orphan = admit(ASSIGNED, { ...gone, policies: { bundleDeleted: 'Orphan' } })
    assert.equal(orphan.admissions[0]?.removal?.policy, 'Orphan')
    const left = admit(ASSIGNED, { clusters: [], admissions: [ADMITTED], policies: { unplaced: 'Orphan' } })
    assert.deepEqual(left.admissions[0]?.removal, { policy: 'Orphan', cause: 'unplaced' })
  })

  test('is forgotten after its receipt, by time where the document never had it, and never before', () => {
    const removing = { deleted: true, admissions: [REMOVED] } as const
    assert.deepEqual(admit(ASSIGNED, removing).admissions, [REMOVED], 'the entry is still there')
    assert.deepEqual(admit(BURIED, removing).admissions, [REMOVED], 'the tombstone waits for its receipt')
    assert.deepEqual(admit({ ...FACTS, isRemovalKnown: true }, removing).admissions, [], 'the receipt is stored')
    assert.deepEqual(admit(FACTS, removing).admissions, [REMOVED], 'a document may be under way')
    assert.deepEqual(admit(FACTS, { ...removing, isSettled: () => true }).admissions, [])
    assert.deepEqual(admit(undefined, removing).admissions, [], 'the Cluster is gone')
  })

  test('of a deleted Delivery does not wait for an offline cluster; its tombstone does', () => {
    const removing = { deleted: true, admissions: [REMOVED] } as const
    assert.deepEqual(admit({ ...BURIED, offline: true }, removing).admissions, [])
    assert.deepEqual(admit({ ...ASSIGNED, offline: true }, removing).admissions, [REMOVED], 'no tombstone yet')
    const unplaced = { ...ADMITTED, removal: { policy: 'Delete', cause: 'unplaced' } } as const
    assert.deepEqual(admit({ ...BURIED, offline: true }, { clusters: [], admissions: [unplaced] }).admissions, [
      unplaced,
    ])
  })

  test('is taken back with a new generation when the cluster is named again', () => {
    const about = { highestAssigned: 1, highestBuried: 1 }
    const revision = deliveryRevision({ generation: 1, set }, set, about)
    assert.equal(revision.generation, 2)
    const again = admit(BURIED, { admissions: [REMOVED], revision })
    assert.deepEqual(again.admissions, [{ cluster: 'a', generation: 2, admittedAt: NOW }])
  })
})

test('a revision changes with the content, and starts above what any cluster has', () => {
  const none = { highestAssigned: 0, highestBuried: 0 }
  assert.deepEqual(deliveryRevision(undefined, set, none), { generation: 1, set })
  assert.deepEqual(deliveryRevision(undefined, set, { highestAssigned: 7, highestBuried: 7 }), { generation: 8, set })
  const present = { generation: 8, set }
  assert.equal(deliveryRevision(present, set, { highestAssigned: 8, highestBuried: 0 }), present)
  const other = digestOf('other')
  assert.deepEqual(deliveryRevision(present, other, { highestAssigned: 8, highestBuried: 0 }), {
    generation: 9,
    set: other,
  })
})

test('a full document leaves out new entries, Deliveries before Bundles, and never a present entry', () => {
  const entry = (bundle: string, more = {}) => ({ bundle, generation: 1, set, rollout: bundle, ...more })
  const entries = [
    entry('a/shop'),
    entry('a/delivery:late', { admittedAt: NOW }),
    entry('a/delivery:early', { admittedAt: EARLIER }),
    entry('a/delivery:first', { admittedAt: NOW, order: -1 }),
    entry('a/delivery:present'),
    entry('a/app'),
  ]
  const left = (max: number) => entriesWithoutRoom([{ bundle: 'a/delivery:present' }], entries, max)
  assert.deepEqual(left(6), [])
  assert.deepEqual(left(5), ['a/delivery:late'])
  assert.deepEqual(left(3), ['a/delivery:early', 'a/delivery:first', 'a/delivery:late'])
  assert.deepEqual(left(2), ['a/delivery:early', 'a/delivery:first', 'a/delivery:late', 'a/shop'])
  const all = ['a/app', 'a/delivery:early', 'a/delivery:first', 'a/delivery:late', 'a/shop']
  assert.deepEqual(left(1), all)
  assert.deepEqual(left(0), all)
  // An entry that this document removes makes room.
  assert.deepEqual(entriesWithoutRoom([{ bundle: 'a/gone' }], entries, 6), [])
})

describe('a Delivery with variants', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((text) => digestOf(text)) as [
    typeof set,
    typeof set,
    typeof set,
  ]
  const none = { highestAssigned: 0, highestBuried: 0 }
  const content = (a: typeof set) => ({
    set,
    variants: [
      { set: a, clusters: ['a'] },
      { set: two, clusters: ['b'] },
    ],
  })
  const both = (input: Partial<AdmitDeliveryInput>, facts: Readonly<Record<string, DeliveryCluster>> = {}) =>
    admit(FACTS, { clusters: ['a', 'b', 'c'], clusterOf: (name) => facts[name] ?? FACTS, holders: [], ...input })

  test('gives each cluster its own set, and leaves clusters alone whose set stays', () => {
    const first = deliveryRevision(undefined, content(one), none)
    const { admissions } = both({ revision: first })
    assert.deepEqual(
      admissions.map(({ cluster, generation, set: own }) => [cluster, generation, own]),
      [
        ['a', 1, one],
        ['b', 1, two],
        ['c', 1, set],
      ],
    )
    const second = deliveryRevision(first, content(three), none)
    assert.equal(second.generation, 2)
    const next = both({ revision: second, admissions }).admissions
    assert.deepEqual(
      next.map(({ generation, set: own }) => [generation, own]),
      [
        [2, three],
        [1, two],
        [1, set],
      ],
    )
    assert.equal(next[1], admissions[1], 'not even the record changes')
    assert.equal(deliveryRevision(second, content(three), none), second)
  })

  test('moves above what a document has, or has buried, for the cluster alone', () => {
    const revision = { generation: 5, ...content(one) }
    const admissions: DeliveryAdmission[] = [
      { cluster: 'a', generation: 2, set: one, admittedAt: EARLIER },
      { cluster: 'b', generation: 2, set: two, admittedAt: EARLIER },
      { cluster: 'c', generation: 2, set, admittedAt: EARLIER },
    ]
    const facts = {
      a: { ...FACTS, assigned: { generation: 4, set: three } },
      b: { ...FACTS, buried: { generation: 2 } },
    }
    const generations = both({ revision, admissions }, facts).admissions.map(({ generation }) => generation)
    assert.deepEqual(generations, [5, 5, 2])
  })
})
