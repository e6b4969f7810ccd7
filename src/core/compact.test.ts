import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compact } from './compact.ts'

test('undefined members are dropped, null, zero, false and empty text stay', () => {
  const value = compact({ a: undefined, b: null, c: 0, d: '', e: false, f: 'x' })
  assert.deepEqual(Object.keys(value), ['b', 'c', 'd', 'e', 'f'])
})

test('the type makes possibly undefined members optional', () => {
  const reason: string | undefined = ['x'].find((text) => text === 'y')
  const value: { readonly name: string; readonly reason?: string } = compact({ name: 'a', reason })
  assert.ok(!('reason' in value))
})

test('the order of members stays', () => {
  assert.deepEqual(Object.keys(compact({ z: 1, y: undefined, a: 2 })), ['z', 'a'])
})

test('a member named __proto__ is copied as a member and leaves the prototype alone', () => {
  const copy = compact(JSON.parse('{"__proto__": {"admin": true}, "a": 1}') as object)
  assert.deepEqual(Object.keys(copy), ['__proto__', 'a'])
  assert.equal(Object.getPrototypeOf(copy), Object.prototype)
})
