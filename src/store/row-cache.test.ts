import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RowCache } from './row-cache.ts'

const row = (key: string, size: number, modRevision = 1) => ({
  key,
  value: 'x'.repeat(size - key.length),
  createRevision: 1,
  modRevision,
})

describe('rows used last', () => {
  it('are kept up to a number of bytes; what was not used for longest goes first', () => {
    const rows = new RowCache(100)
    for (const key of ['a', 'b', 'c', 'd']) rows.set(row(key, 25))
    rows.get('a')
    rows.set(row('e', 25))
    assert.equal(rows.get('b'), undefined)
    assert.deepEqual(
      ['a', 'c', 'd', 'e'].map((key) => rows.get(key)?.key),
      ['a', 'c', 'd', 'e'],
    )
  })

  it('are the newest of their key, also in what they count', () => {
    const rows = new RowCache(100)
    for (let revision = 1; revision < 50; revision += 1) rows.set(row('a', 20, revision))
    rows.set(row('b', 20))
    assert.equal(rows.get('a')?.modRevision, 49)
    assert.equal(rows.get('b')?.modRevision, 1)
    rows.delete('a')
    assert.equal(rows.get('a'), undefined)
  })

  it('leave out what would push out most others', () => {
    const rows = new RowCache(100)
    rows.set(row('a', 20))
    rows.set(row('b', 80))
    assert.equal(rows.get('b'), undefined)
    assert.equal(rows.get('a')?.key, 'a')
    rows.set(row('a', 80, 2))
    assert.equal(rows.get('a'), undefined, 'an old row must not stand for a new one that is too large')
  })
})
