import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settleAll } from './settle-all.ts'

test('returns the values in order', async () => {
  const [one, two]: [number, string] = await settleAll([Promise.resolve(1), 'two'])
  assert.deepEqual([one, two], [1, 'two'])
})

test('throws the first failure of the list, after every promise is settled', async () => {
  const late = Promise.withResolvers<string>()
  let isSettled = false
  const running = settleAll([late.promise, Promise.reject(new Error('second'))]).finally(() => (isSettled = true))
  await new Promise(setImmediate)
  assert.equal(isSettled, false)
  late.reject(new Error('first'))
  await assert.rejects(running, /^Error: first$/)
})
