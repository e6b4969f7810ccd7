import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chooseGroups, TooManyGroups } from './choose-groups.ts'

const group = (name: string, value: number, weight: number) => ({ name, value, weight })
const names = (...input: Parameters<typeof chooseGroups>) => chooseGroups(...input).map(({ name }) => name)

test('the combination with the greatest weight that holds enough clusters wins', () => {
  const groups = [group('R1', 1, 80), group('R3', 1, 80), group('R2', 1, 60), group('R5', 2, 60), group('R4', 5, 50)]
  assert.deepEqual(names([...groups, group('R6', 3, 50)], { min: 1, max: 3, target: 10 }), ['R5', 'R4', 'R6'])
  assert.deepEqual(names(groups, { min: 1, max: 1, target: 5 }), ['R4'])
  assert.deepEqual(names(groups, { min: 1, max: 1, target: 6 }), [])
  assert.deepEqual(names([], { min: 0, max: 3, target: 0 }), [])
})

test('a shorter combination that is the beginning of the winner replaces it', () => {
  const groups = [group('a', 2, 10), group('b', 1, 10), group('c', 3, 5)]
  assert.deepEqual(names(groups, { min: 1, max: 3, target: 3 }), ['a', 'b'])
})

test('too many groups are an error, not an endless search', () => {
  const groups = Array.from({ length: 40 }, (_, i) => group(`r${i}`, 1, i))
  assert.throws(() => chooseGroups(groups, { min: 1, max: 40, target: 20 }), TooManyGroups)
})

test('property: what is chosen fits the limits', () => {
  const groups = fc.uniqueArray(fc.tuple(fc.constantFrom(...'abcdefgh'), fc.integer({ min: 1, max: 5 }), fc.nat(100)), {
    selector: ([name]) => name,
    maxLength: 8,
  })
  fc.assert(
    fc.property(groups, fc.nat(4), fc.nat(8), fc.nat(20), (given, min, max, target) => {
      const chosen = chooseGroups(
        given.map((one) => group(...one)),
        { min, max, target },
      )
      if (chosen.length === 0) return
      assert.ok(chosen.length >= min && chosen.length <= max)
      assert.ok(chosen.reduce((sum, { value }) => sum + value, 0) >= target)
    }),
  )
})
