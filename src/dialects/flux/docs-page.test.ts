import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withFluxTables } from './docs-page.ts'

test('the page of the Flux dialect has every field', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/dialects/flux.md'), 'utf8')
  assert.equal(withFluxTables(page), page, 'run `npm run docs`')
  assert.match(page, /\| `sparseCheckout` \| exact \|/)
  assert.throws(() => withFluxTables('# Flux\n'), /has no place for its table/)
})
