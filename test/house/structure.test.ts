/**
 * Rules about size, words and edges; each is shown able to fail by a planted violation, and its list of exceptions only
 * shrinks.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Complaint } from './rules.ts'
import { SUB_ROOMS, subRoomOf } from './rooms.ts'
import { importsOf, readSources, REPOSITORY, resolveImport } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'
import {
  bannedWords,
  commentWidths,
  folderSizes,
  functionLengths,
  numberReaders,
  patternsFromText,
  publicFiles,
  testedFiles,
  unusedExports,
} from './structure-rules.ts'

// The console's own files keep the same rules, but are not a room: nothing at the root imports them.
const consoleFiles = readSources('console').filter(({ path }) => path.startsWith('console/src/'))
const sources = [...readSources('src'), ...consoleFiles]
const users = ['test', 'scripts', 'bench'].flatMap(readSources)
const excused = JSON.parse(readFileSync(join(REPOSITORY, 'test/house/excused.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>

const RULES: Readonly<Record<string, (files: readonly SourceFile[]) => Complaint[]>> = {
  folderSizes,
  functionLengths,
  bannedWords,
  commentWidths,
  testedFiles,
  publicFiles,
  numberReaders,
  patternsFromText,
  unusedExports: (files) => unusedExports(files, users),
}

function file(path: string, text: string): SourceFile {
  return { path, text, imports: importsOf(text) }
}

const [someRoom = ''] = Object.keys(SUB_ROOMS)

const VIOLATIONS: Readonly<Record<string, readonly SourceFile[]>> = {
  folderSizes: Array.from({ length: 21 }, (_, index) => file(`src/plan/x/file-${index}.ts`, '')),
  functionLengths: [file('src/plan/x.ts', `export function long(): void {\n${'  step()\n'.repeat(120)}}\n`)],
  bannedWords: [file('src/plan/x.ts', 'const forEverybody = 1')],
  commentWidths: [file('src/plan/x.ts', `// ${'word '.repeat(24)}`)],
  testedFiles: [file('src/plan/x.ts', 'const a = 1\n'.repeat(81))],
  publicFiles: [file('src/hub/x.ts', `import { a } from '../${someRoom}/a-file-of-no-table.ts'`)],
  numberReaders: [file('src/gateway/x.ts', 'const length = Number(header)')],
  patternsFromText: [file('src/plan/x.ts', '  return new RegExp(pattern).test(text)')],
  unusedExports: [file('src/plan/x.ts', 'export const nothingImportsThis = 1')],
}

describe('structure of the sources', () => {
  for (const [name, rule] of Object.entries(RULES)) {
    const exceptions = new Set(excused[name])
    const complaints = rule(sources)

    test(`${name} holds`, () => {
      assert.deepEqual(
        complaints.filter(({ path }) => !exceptions.has(path)),
        [],
      )
    })
    test(`${name} excuses only files that still need it`, () => {
      const broken = new Set(complaints.map(({ path }) => path))
      assert.deepEqual(
        [...exceptions].filter((path) => !broken.has(path)),
        [],
        'these keep the rule now: remove them from test/house/excused.json',
      )
    })
    test(`${name} catches a planted violation`, () => {
      assert.equal(rule(VIOLATIONS[name]!).length, 1)
    })
  }

  test('every public file of a sub-room is imported from outside of it', () => {
    const imported = new Set(
      [...sources, ...users].flatMap((source) =>
        source.imports
          .filter(({ specifier }) => specifier.startsWith('.'))
          .map(({ specifier }) => resolveImport(source, specifier))
          .filter((target) => !source.path.startsWith(`src/${subRoomOf(target)}/`)),
      ),
    )
    const unused = Object.entries(SUB_ROOMS).flatMap(([room, names]) =>
      names.map((name) => `src/${room}/${name}`).filter((path) => !imported.has(path)),
    )
    assert.deepEqual(unused, [], 'remove them from test/house/sub-rooms.json')
  })
})
