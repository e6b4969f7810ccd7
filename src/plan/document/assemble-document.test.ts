import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import { assemble } from './assemble-document.ts'
import type { AssembledEntry } from './assemble-document.ts'

const entry = (bundle: string, generation: number, content = `${bundle}${generation}`): AssembledEntry => ({
  bundle,
  generation,
  set: digestOf(content),
  rollout: `ns/r${generation}`,
})

test('admissions overlay, everything else stays', () => {
  const result = assemble({
    entries: [entry('ns/b', 1), entry('ns/c', 4)],
    admissions: [entry('ns/b', 2), entry('ns/a', 1)],
  })
  assert.deepEqual(result.entries, [entry('ns/a', 1), entry('ns/b', 2), entry('ns/c', 4)])
  assert.equal(result.changed, true)
})

test('no admissions, old ones and the same again change nothing', () => {
  const entries = [entry('ns/b', 2)]
  for (const admissions of [[], [entry('ns/b', 1)], [entry('ns/b', 2)]]) {
    const result = assemble({ entries, admissions })
    assert.equal(result.changed, false)
    assert.deepEqual(result.entries, entries)
    assert.deepEqual(result.conflicts, [])
  }
})

test('admitted again with a later start-by: the document says so, once, and keeps it (I-23)', () => {
  const present = { ...entry('ns/b', 2), startBy: '2026-11-16T12:00:00Z' }
  const again = { ...entry('ns/b', 2), startBy: '2026-11-16T12:10:00Z' }
  const renewed = assemble({ entries: [present], admissions: [again] })
  assert.deepEqual([renewed.changed, renewed.entries], [true, [again]])
  assert.equal(assemble({ entries: renewed.entries, admissions: [again] }).changed, false)
  assert.equal(assemble({ entries: [again], admissions: [present] }).changed, false, 'never back to an earlier one')
  const tried = assemble({ entries: [entry('ns/b', 2)], admissions: [{ ...entry('ns/b', 2), attempt: 1 }] })
  assert.deepEqual([tried.changed, tried.entries[0]?.attempt], [true, 1], 'and so is another try')
  const other = assemble({ entries: [again], admissions: [entry('ns/c', 1)] })
  assert.deepEqual(other.entries[0], again, 'another bundle that moves does not take it away')
})

test('what was well before is remembered, over one that never was', () => {
  const well = new Set(['ns/b'])
  const second = assemble({ entries: [entry('ns/b', 1)], admissions: [entry('ns/b', 2)], well }).entries[0]!
  assert.deepEqual(second.before, { generation: 1, set: digestOf('ns/b1') })
  const third = assemble({ entries: [second], admissions: [entry('ns/b', 3)] }).entries[0]!
  assert.deepEqual(third.before, { generation: 1, set: digestOf('ns/b1') }, 'the second never was well')
  const fourth = assemble({ entries: [third], admissions: [entry('ns/b', 4)], well }).entries[0]!
  assert.deepEqual(fourth.before, { generation: 3, set: digestOf('ns/b3') })
})

test('two contents of one generation: the first stays, the second is named', () => {
  const result = assemble({ entries: [entry('ns/b', 2)], admissions: [entry('ns/b', 2, 'other')] })
  assert.equal(result.changed, false)
  assert.deepEqual(result.conflicts, [
    { bundle: 'ns/b', generation: 2, kept: digestOf('ns/b2'), refused: digestOf('other') },
  ])
})

test('a tombstone takes what the document has, stays until its receipt, and gives way to a newer admission', () => {
  const removal = { bundle: 'ns/b', policy: 'Delete', cause: 'unplaced', rollout: 'ns/b-removal' } as const
  const removed = assemble({ entries: [entry('ns/b', 3)], admissions: [], removals: [removal] })
  assert.deepEqual([removed.entries, removed.tombstones, removed.changed], [[], [{ ...removal, generation: 3 }], true])
  assert.equal(assemble({ entries: [], admissions: [], removals: [removal] }).changed, false)

  const tombstones = [{ ...removal, generation: 3, since: 7 }]
  assert.equal(assemble({ entries: [], tombstones, admissions: [], removals: [removal] }).changed, false)
  assert.equal(assemble({ entries: [], tombstones, admissions: [entry('ns/b', 3)] }).changed, false)
  const back = assemble({ entries: [], tombstones, admissions: [entry('ns/b', 4)] })
  assert.deepEqual([back.entries.length, back.tombstones.length], [1, 0])

  const receipt = (generation: number, revision: number) => [{ bundle: 'ns/b', generation, revision }]
  const old = assemble({ entries: [], tombstones, admissions: [], removed: receipt(2, 9) })
  assert.equal(old.tombstones.length, 1, 'of an older generation')
  const former = assemble({ entries: [], tombstones, admissions: [], removed: receipt(3, 6) })
  assert.equal(former.tombstones.length, 1, 'of a removal before this one')
  const held = assemble({ entries: [], tombstones, admissions: [entry('ns/b', 3)], removed: receipt(3, 7) })
  assert.equal(held.tombstones.length, 1, 'while a rollout holds a slot to bring it, it must not come back')
  const done = assemble({ entries: [], tombstones, admissions: [], removed: receipt(3, 7) })
  assert.deepEqual([done.tombstones, done.changed], [[], true])
  const fresh = assemble({ entries: [entry('ns/b', 3)], admissions: [], removals: [removal], removed: receipt(3, 99) })
  assert.equal(fresh.tombstones.length, 1, 'a receipt from before the tombstone does not end it')
})

test('property: without removals no bundle ever disappears and no generation goes back (I-08)', () => {
  const entries = fc.uniqueArray(
    fc
      .tuple(fc.constantFrom('ns/a', 'ns/b', 'ns/c', 'ns/d'), fc.integer({ min: 1, max: 4 }))
      .map(([b, g]) => entry(b, g)),
    { selector: ({ bundle }) => bundle },
  )
  const admissions = fc.array(
    fc
      .tuple(fc.constantFrom('ns/a', 'ns/b', 'ns/c', 'ns/d'), fc.integer({ min: 1, max: 6 }))
      .map(([b, g]) => entry(b, g)),
  )
  fc.assert(
    fc.property(entries, admissions, (before, admitted) => {
      const after = assemble({ entries: before, admissions: admitted })
      const generationOf = (bundle: string) => after.entries.find((one) => one.bundle === bundle)?.generation ?? 0
      for (const one of before) assert.ok(generationOf(one.bundle) >= one.generation)
      for (const one of admitted) assert.ok(generationOf(one.bundle) >= one.generation)
      assert.equal(after.entries.length, new Set([...before, ...admitted].map(({ bundle }) => bundle)).size)
      // Replay changes nothing (I-13).
      assert.equal(assemble({ entries: after.entries, admissions: admitted }).changed, false)
    }),
  )
})

test('an admission anew of the same content renews its start-by, and nothing else', () => {
  const first = { ...entry('ns/b', 2), startBy: '2026-11-16T12:00:00Z', admittedAt: '2026-11-16T11:00:00Z' }
  const again = { ...first, startBy: '2026-11-16T14:00:00Z', admittedAt: '2026-11-16T13:00:00Z' }
  const result = assemble({ entries: [first], admissions: [again] })
  assert.deepEqual([result.entries, result.changed], [[again], true])
  assert.equal(assemble({ entries: [again], admissions: [again] }).changed, false)
})

test('what a cluster never began is caught up with under the strictest policy of all it skipped', () => {
  const skipped = { ...entry('ns/b', 2), catchUp: 'Hold' as const }
  const policy = (begun: number | undefined) =>
    assemble({ entries: [skipped], admissions: [{ ...entry('ns/b', 3), catchUp: 'Immediate' }], begun: () => begun })
      .entries[0]?.catchUp
  assert.deepEqual([policy(undefined), policy(1), policy(2)], ['Hold', 'Hold', 'Immediate'])
})
