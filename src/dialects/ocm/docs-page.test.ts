import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withOcmTables } from './docs-page.ts'

test('the tables of fields in docs/dialects/ocm.md are those of the code', () => {
  const page = readFileSync(new URL('../../../docs/dialects/ocm.md', import.meta.url), 'utf8')
  assert.equal(page, withOcmTables(page), 'run npm run docs')
})
