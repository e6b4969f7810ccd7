/** The page of invariants is true: every promise is there, and the tests it names exist under these titles. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from './source-tree.ts'

const PROMISES = 31
const page = readFileSync(join(REPOSITORY, 'docs/invariants.md'), 'utf8')

/** What is wrong with a row's tests, in words. */
function problemsOf(row: string): string[] {
  const tests = [...row.matchAll(/`([^`]+)` “([^”]+)”/g)]
  if (tests.length === 0) return [`${row.slice(0, 10)} names no test`]
  return tests.flatMap(([, file, title]) => {
    const path = join(REPOSITORY, file!)
    if (!existsSync(path)) return [`${file} does not exist`]
    return readFileSync(path, 'utf8').includes(title!) ? [] : [`${file} has no test “${title}”`]
  })
}

test('every invariant names tests that exist', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| I-'))
  const numbers = rows.map((row) => row.slice(2, 6))
  const wanted = Array.from({ length: PROMISES }, (_, index) => `I-${String(index + 1).padStart(2, '0')}`)
  assert.deepEqual(numbers, wanted)
  assert.deepEqual(rows.flatMap(problemsOf), [])
})

test('a test that is gone or renamed is noticed', () => {
  const here = 'test/house/invariants.test.ts'
  const gone = ['no', 'such', 'title'].join(' ')
  assert.deepEqual(problemsOf(`| I-01 | x | \`${here}\` “every invariant names tests that exist” |`), [])
  assert.equal(problemsOf(`| I-01 | x | \`${here}\` “${gone}” |`).length, 1)
  assert.equal(problemsOf('| I-01 | x | `src/none.test.ts` “a” |').length, 1)
  assert.equal(problemsOf('| I-01 | x | none |').length, 1)
})
