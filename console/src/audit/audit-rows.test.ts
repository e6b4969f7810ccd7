import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCsv, auditRows } from './audit-rows.ts'

const record = (sequence: number, fields: object) => ({ sequence, line: JSON.stringify(fields) })
const RECORDS = [
  record(1, { user: 'system:flotilla:hub', verb: 'update', group: 'flotilla.dev', resource: 'rollouts', name: 'a' }),
  record(2, {
    user: 'ana',
    verb: 'patch',
    group: 'flotilla.dev',
    resource: 'clusters',
    name: 'store-1',
    userAgent: 'flotilla-console/0.1.0 (freezer broken)',
  }),
  record(3, { user: 'ana', verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }),
  record(4, { user: 'li', verb: 'delete', resource: 'secrets', namespace: 'shop', name: '=x', denied: true }),
  { sequence: 5, line: 'not a record' },
]

test('people first: the newest on top, without the hub and without questions about rights', () => {
  const rows = auditRows(RECORDS, { all: false, text: '' })
  assert.deepEqual(
    rows.map(({ sequence, user, verb, resource, object, reason }) => [sequence, user, verb, resource, object, reason]),
    [
      [4, 'li', 'delete', 'secrets', 'shop/=x', ''],
      [2, 'ana', 'patch', 'clusters.flotilla.dev', 'store-1', 'freezer broken'],
    ],
  )
  assert.deepEqual(
    auditRows(RECORDS, { all: true, text: '' }).map(({ sequence }) => sequence),
    [5, 4, 3, 2, 1],
  )
})

test('all words of the filter must occur', () => {
  const found = (text: string) => auditRows(RECORDS, { all: false, text }).map(({ sequence }) => sequence)
  assert.deepEqual(found('ana FREEZER'), [2])
  assert.deepEqual(found('denied'), [4])
  assert.deepEqual(found('ana denied'), [])
})

test('a cell of the file is no formula and no second cell', () => {
  const [row] = auditRows([record(1, { user: '=cmd', verb: 'a,"b"\n' })], { all: true, text: '' })
  assert.equal(auditCsv([row!]).split('\n').slice(1).join('\n'), '1,,\'=cmd,"a,""b""\n",,,,,\n')
})
