import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswerCache } from './answer-cache.ts'

function scene(most: number) {
  let now = 0
  let asked = 0
  const cache = createAnswerCache<number>({ monotonicMs: () => now }, { most, weigh: (value) => value })
  const answer = async (key: string, value = 1, maxAgeMs = 100) =>
    await cache.answer(key, maxAgeMs, async () => {
      asked += 1
      if (value < 0) throw new Error('refused')
      return value
    })
  return { answer, asked: () => asked, pass: (ms: number) => (now += ms) }
}

test('an answer is shared while it is fresh; a failure is not', async () => {
  const { answer, asked, pass } = scene(10)
  await Promise.all([answer('a'), answer('a'), answer('b')])
  assert.equal(asked(), 2)
  pass(101)
  await answer('a')
  assert.equal(asked(), 3)
  await assert.rejects(answer('bad', -1), /refused/)
  await assert.rejects(answer('bad', -1), /refused/)
  assert.equal(asked(), 5)
})

test('the oldest answers are dropped when all together weigh too much', async () => {
  const { answer, asked } = scene(10)
  await answer('a', 6)
  await answer('b', 4)
  await answer('a', 6)
  assert.equal(asked(), 2)
  await answer('c', 5)
  await answer('b', 4)
  assert.equal(asked(), 3, 'b is kept')
  await answer('a', 6)
  assert.equal(asked(), 4, 'a was dropped')
  await answer('huge', 11)
  await answer('huge', 11)
  assert.equal(asked(), 6, 'an answer that is too large is not kept')
})
