/** The repository tests itself. Each rule is shown able to fail by a planted violation. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ROOMS } from './rooms.ts'
import { RULES } from './rules.ts'
import { importsOf, readSources, REPOSITORY } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

const sources = readSources('src')

function planted(path: string, text: string): SourceFile[] {
  return [{ path, text, imports: importsOf(text) }]
}

const VIOLATIONS: Readonly<Record<keyof typeof RULES, readonly SourceFile[]>> = {
  roomImports: [
    ...planted('src/plan/x.ts', "import { Store } from '../store/store.ts'"),
    ...planted('src/cli/x.ts', "import { run } from '../hub/run.ts'"),
    ...planted('src/agent/x.ts', "const hub = await import('../hub/run.ts')"),
    ...planted('src/kinds/x.ts', "export { a } from '../testing/a.ts'"),
    ...planted('src/lounge/x.ts', ''),
  ],
  dialectImports: planted('src/dialects/fleet/x.ts', "import { a } from '../ocm/a.ts'"),
  pureRooms: planted('src/wire/x.ts', "import { readFileSync } from 'node:fs'"),
  doors: [
    ...planted('src/plan/x.ts', 'const now = Date.now()'),
    ...planted('src/engine/x.ts', 'setTimeout(() => {}, 5)'),
    ...planted('src/gateway/x.ts', 'const id = Math.random()'),
    ...planted('src/wire/x.ts', "import { randomBytes } from '../core/bytes.ts'"),
    ...planted('src/hub/x.ts', "const home = process.env['HOME']"),
    ...planted('src/hub/x.ts', "import { createServer } from 'node:http'"),
    ...planted('src/sim/x.ts', "const { createSecureServer } = process.getBuiltinModule('node:http2')"),
    ...planted('src/gateway/x.ts', "const url = new URL(request.url ?? '/', 'http://x')"),
  ],
  foreignNumbers: [
    ...planted('src/source/git/x.ts', 'const size = Number(text)'),
    ...planted('src/core/tar.ts', 'const size = Number.parseInt(text, 8)'),
  ],
  nestedRepetitions: planted('src/agent/x.ts', 'const isWord = /^(\\w+\\s?)+$/.test(text)'),
  fileNames: [...planted('src/core/string-utils.ts', ''), ...planted('src/core/helpers/x.ts', '')],
  testOnly: planted('src/core/x.ts', "import { test } from 'node:test'"),
}

describe('house rules', () => {
  test('the rules see the whole tree', () => {
    assert.ok(sources.length > 50, `only ${sources.length} files seen`)
    const imports = sources.reduce((sum, file) => sum + file.imports.length, 0)
    assert.ok(imports > 100, `only ${imports} imports seen`)
  })

  for (const [name, rule] of Object.entries(RULES)) {
    test(`${name} holds`, () => {
      assert.deepEqual(rule(sources), [])
    })
    test(`${name} catches a planted violation`, () => {
      const violations = VIOLATIONS[name as keyof typeof RULES]
      for (const file of violations) assert.equal(rule([file]).length, 1, `${file.path}: ${file.text}`)
    })
  }

  test('every room has its README of at most 60 lines', () => {
    const rooms = readdirSync(join(REPOSITORY, 'src'))
    for (const room of rooms) {
      assert.ok((ROOMS as readonly string[]).includes(room), `src/${room} is not a room of the table`)
      const readme = join(REPOSITORY, 'src', room, 'README.md')
      assert.ok(
        existsSync(readme),
        `src/${room}/README.md is missing: say what the room is for, what it never does, where to start`,
      )
      const lines = readFileSync(readme, 'utf8').trimEnd().split('\n').length
      assert.ok(lines <= 60, `src/${room}/README.md has ${lines} lines; 60 are enough`)
    }
    assert.ok(rooms.length >= 10)
  })

  test('every controller has its README', () => {
    const folders = readdirSync(join(REPOSITORY, 'src/controllers'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    )
    assert.ok(folders.length >= 5, `only ${folders.length} controllers seen`)
    for (const { name } of folders) {
      assert.ok(
        existsSync(join(REPOSITORY, 'src/controllers', name, 'README.md')),
        `src/controllers/${name}/README.md is missing`,
      )
    }
  })
})
