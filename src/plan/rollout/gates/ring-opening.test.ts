import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertRingOpeningRules, RingOpeningModel, ringOpeningHistories } from '../../../testing/models/ring-opening.ts'

test('a ring that asks for approval waits, says by whom and how, and opens with the record before a cluster is admitted', () => {
  const world = new RingOpeningModel()
  world.settle()
  assert.equal(world.tell(), 'Wait ApprovalPending early []')
  assert.equal(
    world.sentence(),
    'Waits for approval of ring "early" by 2 different people. Since 2026-11-16T12:00:00Z. Approve it with `flotilla rollout approve hello-g2 --ring early -n ns`.',
  )
  world.step({ do: 'say', author: 'ana', ring: 'early', decision: 'Approve' })
  world.settle()
  assert.match(world.sentence(), /by 2 different people; ana approved\./)
  world.step({ do: 'say', author: 'ben', ring: 'early', decision: 'Reject', reason: 'not on a Friday' })
  world.settle()
  assert.equal(world.tell(), 'Wait ApprovalRejected early []')
  assert.match(
    world.sentence(),
    /^Ring "early" is rejected by ben: not on a Friday\. Since .* Waits until ben approves it with/,
  )
  world.step({ do: 'wait', minutes: 1 })
  world.step({ do: 'say', author: 'ben', ring: 'early', decision: 'Approve' })
  world.step({ do: 'plan' })
  assert.equal(world.tell(), 'Open early []', 'first it is written down')
  assert.equal(world.said(), 'Ring "early" opens, approved by ana, ben.')
  world.step({ do: 'withdraw', author: 'ben' })
  world.step({ do: 'plan' })
  assert.equal(world.tell(), 'Admit early [b c]', 'what is written down holds')
})

test('a ring that was passed while empty still asks when a cluster comes', () => {
  const world = new RingOpeningModel({ clusters: { a: { ring: 'canary' }, z: { ring: 'rest' } } })
  world.settle()
  assert.equal(world.tell(), 'Complete rest []', 'no cluster in early, so no approval is needed')
  world.join('b')
  world.settle()
  assert.equal(world.tell(), 'Wait ApprovalPending rest []')
  world.step({ do: 'say', author: 'ana', ring: 'early', decision: 'Approve' })
  world.step({ do: 'say', author: 'ben', ring: 'early', decision: 'Approve' })
  world.settle()
  assert.equal(world.tell(), 'Complete rest []')
})

test('property: no cluster is admitted before what its ring asks for is recorded, through any crash (I-04)', () => {
  fc.assert(
    fc.property(ringOpeningHistories, (steps) => void assertRingOpeningRules(steps)),
    { numRuns: 300 },
  )
})

test('property: once all approvals are given and all clusters are well, the rollout completes (I-12)', () => {
  fc.assert(
    fc.property(ringOpeningHistories, (steps) => {
      const world = assertRingOpeningRules(steps)
      world.allIsWell()
      assert.equal(world.tell(), 'Complete rest []')
    }),
    { numRuns: 50 },
  )
})
