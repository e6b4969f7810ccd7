import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CliError } from '../errors/cli-error.ts'
import type { Table } from './table.ts'
import { rowsInState, sortedRows, tableCsv } from './arrange-table.ts'

const column = (name: string, priority = 0) => ({ name, type: 'string', priority })
const row = (name: string, ...cells: unknown[]) => ({
  cells: [name, ...cells],
  object: { metadata: { name, namespace: 'shops' }, spec: { rank: name.length } },
})
const TABLE: Table = {
  columnDefinitions: [column('Name'), column('State'), column('Bundles'), column('Message', 1)],
  rows: [row('b', 'Ready', 10, ''), row('aaa', 'Failed', 9, 'a "bad", day'), row('cc', 'Offline', 100, '=cmd()')],
  metadata: {},
}
const names = ({ rows }: Table) => rows.map(({ cells }) => cells[0])
const todo = (work: () => unknown) => {
  try {
    work()
  } catch (caught) {
    return caught instanceof CliError ? caught.report.todo : caught
  }
  return 'it was not refused'
}

test('rows by state, in any letter case; a kind without states says so', () => {
  assert.deepEqual(names(rowsInState(TABLE, 'failed,Offline')), ['aaa', 'cc'])
  assert.deepEqual(names(rowsInState(TABLE, 'drifted')), [])
  assert.equal(
    todo(() => rowsInState(TABLE, 'ready,faild')),
    'did you mean "Failed"?',
  )
  const phases = { ...TABLE, columnDefinitions: [column('Name'), column('Phase')] }
  assert.deepEqual(names(rowsInState(phases, 'nothing')), [])
  const stateless = { ...TABLE, columnDefinitions: [column('Name')] }
  assert.match(String(todo(() => rowsInState(stateless, 'ready'))), /use --state with clusters/)
})

test('rows by column, numbers as numbers, and by a path of the object', () => {
  assert.deepEqual(names(sortedRows(TABLE, 'name')), ['aaa', 'b', 'cc'])
  assert.deepEqual(names(sortedRows(TABLE, 'BUNDLES')), ['aaa', 'b', 'cc'])
  assert.deepEqual(names(sortedRows(TABLE, '.spec.rank')), ['b', 'cc', 'aaa'])
  assert.equal(
    todo(() => sortedRows(TABLE, 'bundels')),
    'did you mean "bundles"?',
  )
})

test('ages are sorted by time, not as text', () => {
  const ages = ['11m', '13m', '6m5s', '2d3h', '45s', '1y2d', '8m16s', '<none>', '5h']
  const table = {
    ...TABLE,
    columnDefinitions: [column('Name'), column('Age')],
    rows: ages.map((age) => row(age, age, 0, '')),
  }
  assert.deepEqual(names(sortedRows(table, 'AGE')), [
    '45s',
    '6m5s',
    '8m16s',
    '11m',
    '13m',
    '5h',
    '2d3h',
    '1y2d',
    '<none>',
  ])
})

test('CSV quotes what must be quoted, and no cell is a formula', () => {
  assert.equal(
    tableCsv(TABLE, { withNamespace: true, withHeaders: true }),
    'NAMESPACE,NAME,STATE,BUNDLES,MESSAGE\r\nshops,b,Ready,10,\r\nshops,aaa,Failed,9,"a ""bad"", day"\r\n' +
      "shops,cc,Offline,100,'=cmd()\r\n",
  )
  assert.equal(
    tableCsv({ ...TABLE, rows: [row('x', 'Ready', -3, '-')] }, { withNamespace: false, withHeaders: false }),
    "x,Ready,-3,'-\r\n",
  )
})

test('D51: --sort-by STATE begins with what is worst', () => {
  const states = ['Ready', 'Pending', 'Offline', 'Drifted', 'Failed', 'NotSelected', 'Progressing', 'Strange']
  const table = { ...TABLE, rows: states.map((state) => row(state, state)) }
  assert.deepEqual(names(sortedRows(table, 'state')), [
    'Strange',
    'Failed',
    'Drifted',
    'Offline',
    'Progressing',
    'Pending',
    'NotSelected',
    'Ready',
  ])
})
