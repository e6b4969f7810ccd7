/** Files in changes/ have the form that the changelog is made from. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from './source-tree.ts'

const README = readFileSync(join(REPOSITORY, 'changes/README.md'), 'utf8')
const AREAS = [...README.matchAll(/^\| `(\w+)` \|/gm)].map(([, area]) => area!)
const KINDS = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']

function problems(path: string, text: string): string[] {
  const [, area = '', file = ''] = path.split('/')
  const [kind = '', blank, ...rest] = text.trimEnd().split('\n')
  return [
    ...(file.endsWith('.md') && AREAS.includes(area)
      ? []
      : [`${path}: belongs into changes/<area>/, one of ${AREAS.join(', ')}`]),
    ...(KINDS.includes(kind) ? [] : [`${path}: the first line is "${kind}", not one of ${KINDS.join(', ')}`]),
    ...(blank === '' && rest.length > 0 ? [] : [`${path}: an empty line and the text must follow the first line`]),
  ]
}

test('every file in changes/ has an area, a kind and a text', () => {
  const paths = globSync('changes/**/*.md', { cwd: REPOSITORY }).filter((path) => path !== 'changes/README.md')
  assert.ok(AREAS.length >= 5)
  assert.deepEqual(
    paths.flatMap((path) => problems(path, readFileSync(join(REPOSITORY, path), 'utf8'))),
    [],
  )
})

test('a file without area, kind or text is found', () => {
  assert.equal(problems('changes/x.md', 'added\n\nText.\n').length, 1)
  assert.equal(problems('changes/hub/x.md', 'improved\n\nText.\n').length, 1)
  assert.equal(problems('changes/hub/x.md', 'added\n').length, 1)
})
