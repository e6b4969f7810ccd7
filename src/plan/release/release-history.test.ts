import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deletedRetentionMs, KEPT_AFTER_DELETION_MS, retentionReason, oldRemovals } from './release-history.ts'
import type { BundleHistory, DeletedHistory, KnownRelease } from './release-history.ts'

const closed = { isClosed: true, slots: 0 }
const release = (generation: number, more: Partial<KnownRelease> = {}): KnownRelease => ({
  name: `pos-g${generation}`,
  bundles: [{ name: 'pos', generation }],
  bad: [],
  rollout: closed,
  ...more,
})
const history = (releases: readonly KnownRelease[], more: Partial<BundleHistory> = {}): BundleHistory => ({
  releases,
  keep: 2,
  named: new Set(),
  reverted: [],
  ...more,
})

test('what a Release is kept for', () => {
  const later = [2, 3, 4].map((generation) => release(generation))
  const table: [string, Partial<KnownRelease>, Partial<BundleHistory>, RegExp | undefined][] = [
    ['nothing needs it', {}, {}, undefined],
    ['one of the last', {}, { keep: 4 }, /^it is one of the last 4 of bundle pos$/],
    ['its Rollout is open', { rollout: { isClosed: false, slots: 0 } }, {}, /^its Rollout is not superseded$/],
    ['slots', { rollout: { isClosed: true, slots: 1 } }, {}, /^its Rollout still has taken slots$/],
    ['a cluster has it', {}, { named: new Set([1]) }, /^a cluster has generation 1 of bundle pos$/],
    ['its mark holds something off', { bad: ['pos'] }, { reverted: ['pos-g1'] }, /^its bad mark keeps content/],
    [
      'one of the last that are marked',
      { bad: ['pos'] },
      {},
      /^it is one of the last 2 of bundle pos that are marked bad$/,
    ],
    ['it takes back what is there', { undoes: 'pos-g0' }, {}, /^it rolls back pos-g0, whose Rollout still exists$/],
    ['it takes back what is gone', { undoes: 'pos-gone' }, {}, undefined],
    [
      'another bundle of it is needed',
      { bundles: [...release(1).bundles, { name: 'till', generation: 1 }] },
      {},
      /^a cluster has generation 1 of bundle till$/,
    ],
  ]
  for (const [name, more, around, expected] of table) {
    const one = release(1, more)
    const historyOf = (bundle: string) =>
      bundle === 'pos'
        ? history([one, ...later], around)
        : history([one, release(2, { bundles: [{ name: 'till', generation: 2 }] })], { named: new Set([1]), keep: 1 })
    const why = retentionReason(one, historyOf, (other) => other === 'pos-g0')
    if (expected) assert.match(why ?? 'nothing', expected, name)
    else assert.equal(why, undefined, name)
  }
})

test('property: nothing that is named goes, and what is left is bounded', () => {
  const generations = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(
      generations,
      fc.array(fc.integer({ min: 1, max: 60 })),
      fc.integer({ min: 1, max: 12 }),
      (all, used, keep) => {
        const releases = all.map((generation) => release(generation, generation % 3 === 0 ? { bad: ['pos'] } : {}))
        const named = new Set(used)
        const kept = releases.filter((one) =>
          retentionReason(
            one,
            () => history(releases, { keep, named }),
            () => false,
          ),
        )
        const newest = [...all].sort((a, b) => b - a).slice(0, keep)
        for (const generation of [...newest, ...all.filter((one) => named.has(one))]) {
          assert.ok(kept.some(({ name }) => name === `pos-g${generation}`))
        }
        assert.ok(kept.length <= 2 * keep + named.size)
      },
    ),
  )
})

test('of removals that are over the last ones are kept, and all that are not', () => {
  const removal = (createdAt: number, isOver = true) => ({ name: `r${createdAt}`, createdAt, isOver })
  const some = [removal(3), removal(1), removal(2, false), removal(4), removal(0)]
  assert.deepEqual(oldRemovals(some, 2), ['r1', 'r0'])
  assert.deepEqual(oldRemovals(some, 0), ['r3', 'r1', 'r0'], 'the last one says what happened')
  assert.deepEqual(oldRemovals(some, 9), [])
})

test('what is left of a deleted Bundle stays for a while, and as long as an object names it', () => {
  const over: DeletedHistory = {
    isNamed: false,
    slots: 0,
    removals: [{ name: 'r', createdAt: 0, isOver: true }],
    lastAt: 0,
  }
  const at = (more: Partial<DeletedHistory>, now = KEPT_AFTER_DELETION_MS) =>
    deletedRetentionMs({ ...over, ...more }, now)
  assert.equal(at({}), 0)
  assert.equal(at({}, KEPT_AFTER_DELETION_MS - 5), 5)
  const day = 86_400_000
  assert.equal(at({ isNamed: true }), day)
  assert.equal(at({ slots: 1 }), day)
  assert.equal(at({ removals: [{ name: 'r', createdAt: 0, isOver: false }] }), day)
})
