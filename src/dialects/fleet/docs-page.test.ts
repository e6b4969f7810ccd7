import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withFleetTables } from './docs-page.ts'

test('the page of the Fleet dialect has every field', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/dialects/fleet.md'), 'utf8')
  assert.equal(withFleetTables(page), page, 'run `npm run docs`')
  assert.match(page, /\| `helm\.valuesFrom` \| exact \|/)
  assert.throws(() => withFleetTables('# Fleet\n'), /has no place for its table/)
})
