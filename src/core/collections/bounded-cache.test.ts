import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BoundedCache } from './bounded-cache.ts'

describe('the answers to the last few keys', () => {
  const kept = (memo: BoundedCache<string, number>) => ['a', 'b', 'c', 'd'].filter((key) => memo.get(key) !== undefined)

  it('are as many as allowed', () => {
    const memo = new BoundedCache<string, number>({ most: 2, weight: 100 })
    for (const [n, key] of ['a', 'b', 'c'].entries()) memo.set(key, n, 1)
    assert.deepEqual(kept(memo), ['b', 'c'])
    assert.equal(memo.get('c'), 2)
  })

  it('weigh as much as allowed, and one that weighs more is not kept at all', () => {
    const memo = new BoundedCache<string, number>({ most: 10, weight: 10 })
    for (const [n, key] of ['a', 'b', 'c'].entries()) memo.set(key, n, 4)
    assert.deepEqual(kept(memo), ['b', 'c'])
    assert.equal(memo.set('d', 3, 11), 3)
    assert.deepEqual(kept(memo), [])
    for (const [n, key] of ['a', 'b'].entries()) memo.set(key, n, 5)
    assert.deepEqual(kept(memo), ['a', 'b'])
  })

  it('are counted once when one is given anew', () => {
    const memo = new BoundedCache<string, number>({ most: 10, weight: 10 })
    for (let n = 0; n < 5; n += 1) memo.set('a', n, 4)
    memo.set('b', 1, 4)
    assert.deepEqual(kept(memo), ['a', 'b'])
    assert.equal(memo.get('a'), 4)
  })
})
