import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTablePrinter, isTable } from './table.ts'
import type { Table } from './table.ts'

const COLUMNS = [
  { name: 'Name', type: 'string', priority: 0 },
  { name: 'State', type: 'string', priority: 0 },
  { name: 'Message', type: 'string', priority: 1 },
]

function tableOf(...rows: (readonly unknown[])[]): Table {
  return {
    columnDefinitions: COLUMNS,
    rows: rows.map((cells) => ({ cells, object: { metadata: { namespace: 'shop', labels: { a: 'b' } } } })),
    metadata: {},
  }
}

const PLAIN = { wide: false, withNamespace: false, withHeaders: true }

test('columns are as wide as their widest cell, and nothing trails', () => {
  const print = createTablePrinter(PLAIN)
  assert.equal(
    print(tableOf(['a', 'Ready', 'x'], ['store-0001', null, 'y'])),
    'NAME         STATE\na            Ready\nstore-0001   <none>\n',
  )
})

test('wide shows every column; namespace and labels are added on request', () => {
  const print = createTablePrinter({ wide: true, withNamespace: true, withHeaders: true, showLabels: true })
  assert.equal(
    print(tableOf(['a', 'Ready', 'fine'])),
    'NAMESPACE   NAME   STATE   MESSAGE   LABELS\nshop        a      Ready   fine      a=b\n',
  )
})

test('headers come once, and later rows keep the width of earlier ones', () => {
  const print = createTablePrinter(PLAIN)
  print(tableOf(['store-0001', 'Ready', '']))
  assert.equal(print({ ...tableOf(['b', 'Failed', '']), columnDefinitions: [] }), 'b            Failed\n')
  const later = { ...tableOf(['c', 'Ready', '']), kind: 'Table', columnDefinitions: null }
  assert.ok(isTable(later))
  assert.equal(print(later), 'c            Ready\n')
})

test('no rows print nothing, not even headers', () => {
  assert.equal(createTablePrinter(PLAIN)(tableOf()), '')
})

test('what an object says cannot move the cursor or start a new line', () => {
  const print = createTablePrinter({ ...PLAIN, withHeaders: false })
  assert.equal(print(tableOf(['a\nb', '\u001b[2Jx', ''])), 'a b    [2Jx\n')
})

test('colours do not change the width', () => {
  const print = createTablePrinter({ ...PLAIN, withHeaders: false, paint: (_column, text) => `<${text}>` })
  assert.equal(print(tableOf(['a', 'Ready', ''], ['bbb', 'x', ''])), '<a>     <Ready>\n<bbb>   <x>\n')
})
