/** Each row of docs/reference/advisories.md names a test that names the advisory. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const PAGE = new URL('../../docs/reference/advisories.md', import.meta.url)

test('each advisory of the table is named by its test', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| (CVE-[^|]+)\|[^|]+\| \[[^\]]+\]\(([^)]+)\) \|$/gm)]
  assert.ok(rows.length >= 15, String(rows.length))
  for (const [, ids, file] of rows) {
    const source = readFileSync(new URL(file!, PAGE), 'utf8')
    for (const id of ids!.trim().split(', ')) assert.ok(source.includes(id), `${file} does not name ${id}`)
  }
})
