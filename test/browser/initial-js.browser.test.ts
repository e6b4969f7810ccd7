/** What a browser loads before the first page shows something. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole, CONSOLE_DIST } from '../../scripts/console-workspace.ts'

const BUDGET = 220 * 1024

test('the scripts of the first page are at most 220 KiB, compressed', async () => {
  await buildConsole()
  const html = readFileSync(join(CONSOLE_DIST, 'index.html'), 'utf8')
  const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path!)
  assert.ok(scripts.length > 0, html)
  // A module loads what it imports, whether the document names it or not.
  const found = new Set(scripts)
  for (const path of found) {
    const text = readFileSync(join(CONSOLE_DIST, path), 'utf8')
    for (const [, name] of text.matchAll(/(?:^|[;}])(?:import|export)[^;()]*?from?"\.\/([^"]+\.js)"/g)) {
      found.add(`/assets/${name}`)
    }
  }
  const bytes = [...found].map((path) => gzipSync(readFileSync(join(CONSOLE_DIST, path)), { level: 6 }).length)
  const total = bytes.reduce((sum, one) => sum + one, 0)
  assert.ok(total > 50 * 1024, `only ${total} bytes were counted`)
  assert.ok(total <= BUDGET, `${total} bytes in ${found.size} files`)
  console.log(`# ${Math.round(total / 1024)} KiB in ${found.size} scripts`)
})
