import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingFields } from '../../docs-tables.ts'
import { withWorkTables } from './docs-page.ts'
import { ManifestWorkReplicaSet } from '../replica-sets/kinds.ts'
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from './fields.ts'
import { ManifestWork } from './kinds.ts'

test('the page of works has every field', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/dialects/ocm-works.md'), 'utf8')
  assert.equal(withWorkTables(page), page, 'run `npm run docs`')
})

for (const [kind, table] of [
  [ManifestWork, MANIFEST_WORK],
  [ManifestWorkReplicaSet, MANIFEST_WORK_REPLICA_SET],
] as const) {
  test(`the table has every field of a ${kind.kind}`, () => {
    assert.deepEqual(missingFields(kind.schema.properties?.['spec'], table), [])
  })
}
