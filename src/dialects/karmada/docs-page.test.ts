import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Fields } from '../field-table.ts'
import { withKarmadaTables } from './docs-page.ts'
import { OVERRIDE_POLICY, PROPAGATION_POLICY } from './fields.ts'
import { OverridePolicy, PropagationPolicy } from './served/kinds.ts'

test('the page of Karmada has every field', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/dialects/karmada.md'), 'utf8')
  assert.equal(withKarmadaTables(page), page, 'run `npm run docs`')
})

for (const [kind, table] of [
  [PropagationPolicy, PROPAGATION_POLICY],
  [OverridePolicy, OVERRIDE_POLICY],
] as readonly (readonly [Kind, Fields])[]) {
  test(`the table has every field of a ${kind.kind}`, () => {
    const fields = Object.keys(kind.schema.properties?.['spec']?.properties ?? {})
    assert.deepEqual(
      fields.filter((field) => !Object.hasOwn(table, field)),
      [],
    )
  })
}
