import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kind } from '../../../kinds/define-kind.ts'
import { isListOf } from '../../field-table.ts'
import type { Fields } from '../../field-table.ts'
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
  test(`the table has every field of a ${kind.kind}`, () => hasEveryField(kind, table))
}

function hasEveryField(kind: Kind, table: Fields): void {
  const missing: string[] = []
  type Schema = { readonly properties?: Record<string, Schema>; readonly items?: Schema }
  const walk = (schema: Schema | undefined, fields: Fields | undefined, at: string): void => {
    for (const [name, below] of Object.entries(schema?.properties ?? {})) {
      const field = fields?.[name]
      if (!field) missing.push(`${at}.${name}`)
      const { shape } = field ?? {}
      if (shape === undefined || typeof shape === 'string') continue
      walk(below.items ?? below, isListOf(shape) ? shape.items : shape, `${at}.${name}`)
    }
  }
  walk(kind.schema.properties?.['spec'], table, 'spec')
  assert.deepEqual(missing, [])
}
