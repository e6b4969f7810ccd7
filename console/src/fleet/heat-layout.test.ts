import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowOf } from '../../../src/testing/hub/console-parts.ts'
import { cornerOf, layOut, moveTile, tileAt } from './heat-layout.ts'

const groupOf = (key: string, count: number) => ({
  key,
  rows: Array.from({ length: count }, (_, index) => rowOf(`${key}-${index}`)),
})

test('a point in a tile finds this tile', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 200, max: 1600 }),
      fc.nat(),
      (counts, width, pick) => {
        const layout = layOut(
          counts.map((count, index) => groupOf(String(index), count)),
          width,
        )
        const block = pick % counts.length
        const place = { block, index: pick % counts[block]! }
        const { x, y } = cornerOf(layout, place)
        assert.ok(x + layout.size <= width && y + layout.size <= layout.height)
        assert.deepEqual(tileAt(layout, x + layout.size / 2, y + layout.size / 2), place)
      },
    ),
  )
})

test('five thousand clusters have tiles, and few have large ones', () => {
  assert.equal(layOut([groupOf('', 60)], 900).size, 26)
  const large = layOut([groupOf('', 5_000)], 1_000)
  assert.equal(large.size, 8)
})

test('between tiles there is none', () => {
  const layout = layOut([groupOf('a', 3)], 400)
  assert.equal(tileAt(layout, layout.size + 1, layout.blocks[0]!.y + 2), undefined)
  assert.equal(tileAt(layout, 2, 2), undefined, 'the title')
  assert.equal(tileAt(layout, -1, 30), undefined)
  assert.equal(tileAt(layOut([], 400), 5, 5), undefined)
})

test('arrows walk through rows and groups, and stop at the ends', () => {
  const layout = layOut([groupOf('a', 5), groupOf('b', 2)], 2 * 29 + 26)
  assert.equal(layout.columns, 3)
  const go = (block: number, index: number, key: string) => {
    const next = moveTile(layout, { block, index }, key)
    return `${next?.block}/${next?.index}`
  }
  assert.deepEqual(moveTile(layout, undefined, 'ArrowDown'), { block: 0, index: 0 })
  assert.equal(go(0, 0, 'ArrowRight'), '0/1')
  assert.equal(go(0, 4, 'ArrowRight'), '1/0')
  assert.equal(go(0, 1, 'ArrowDown'), '0/4')
  assert.equal(go(0, 4, 'ArrowDown'), '1/1')
  assert.equal(go(0, 2, 'ArrowDown'), '1/1')
  assert.equal(go(1, 0, 'ArrowUp'), '0/3')
  assert.equal(go(1, 0, 'ArrowLeft'), '0/4')
  assert.equal(go(0, 0, 'ArrowLeft'), '0/0')
  assert.equal(go(1, 1, 'ArrowRight'), '1/1')
  assert.equal(go(1, 1, 'Home'), '1/1')
  assert.equal(moveTile(layOut([], 100), undefined, 'ArrowDown'), undefined)
})
