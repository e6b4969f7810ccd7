import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitLines, unifiedDiff } from './unified-diff.ts'

const diff = (a: string, b: string): string =>
  unifiedDiff(splitLines(a), splitLines(b), { from: 'x', to: 'y', context: 1 })

test('equal texts have no difference', () => {
  assert.equal(diff('a\nb\n', 'a\nb\n'), '')
})

test('changes are shown with the lines around them', () => {
  assert.equal(diff('a\nb\nc\nd', 'a\nB\nc\nd'), '--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')
  assert.equal(diff('a', 'a\nb'), '--- x\n+++ y\n@@ -1 +1,2 @@\n a\n+b\n')
})

test('changes far apart are two groups', () => {
  const lines = Array.from({ length: 9 }, (_, at) => String(at))
  const other = ['x', ...lines.slice(1, 8), 'y']
  assert.equal(diff(lines.join('\n'), other.join('\n')).match(/@@ -/g)?.length, 2)
})

test('a long text with many equal lines is compared too', () => {
  const text = Array.from({ length: 400 }, (_, at) => (at % 2 ? 'same' : `line ${at}`)).join('\n')
  assert.match(diff(text, text.replace('line 200', 'other')), /-line 200\n\+other\n/)
})
