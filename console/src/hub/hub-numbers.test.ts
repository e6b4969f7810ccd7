import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesText, countsOf, meanMs, readMetrics, sumOf } from './hub-numbers.ts'

const TEXT = `# HELP flotilla_store_bytes Size.
flotilla_store_bytes 2048
flotilla_rows_total{result="committed",why="a \\"b\\""} 3
flotilla_rows_total{result="conflict"} 4 1700000000
flotilla_seconds_sum 1.5
flotilla_seconds_count 3
broken{ 7
nothing NaN
`

test('metrics are read by name and label', () => {
  const metrics = readMetrics(TEXT)
  assert.deepEqual(metrics.get('flotilla_rows_total')?.[0], {
    labels: { result: 'committed', why: 'a "b"' },
    value: 3,
  })
  assert.equal(sumOf(metrics, 'flotilla_rows_total'), 7)
  assert.equal(sumOf(metrics, 'flotilla_rows_total', { result: 'conflict' }), 4)
  assert.equal(sumOf(metrics, 'absent'), undefined, 'not zero: it is unknown')
  assert.equal(meanMs(metrics, 'flotilla_seconds'), 500)
  assert.equal(meanMs(metrics, 'absent'), undefined)
  assert.deepEqual([...metrics.keys()].toSorted(), [
    'flotilla_rows_total',
    'flotilla_seconds_count',
    'flotilla_seconds_sum',
    'flotilla_store_bytes',
  ])
})

test('sizes and counts', () => {
  assert.deepEqual([0, 1023, 1536, 5 * 1024 ** 4].map(bytesText), ['0 B', '1023 B', '1.5 KiB', '5.0 TiB'])
  assert.deepEqual(countsOf(['b', 'a', 'b', 'c']), [
    ['b', 2],
    ['a', 1],
    ['c', 1],
  ])
})
