import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BadPattern, compilePattern } from './file-pattern.ts'

test('names and paths match as in filepath.Match of Go', () => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ['web.yaml', 'web.yaml', true],
    ['*', 'web.yaml', true],
    ['*', 'a/web.yaml', false],
    ['*.yaml', 'web.yaml', true],
    ['w*', 'w', true],
    ['w*/b', 'web/b', true],
    ['w*/b', 'w/e/b', false],
    ['w*e*b*/f', 'wxexb/f', true],
    ['w*e*b*/f', 'wxexbxx/f', true],
    ['w*e*b*/f', 'wxexb/xx/f', false],
    ['w*e?b*x', 'wexbxebbzx', true],
    ['w*e?b*x', 'wexbxebbzy', false],
    ['a?c', 'a/c', false],
    ['a*c', 'a/c', false],
    ['a?c', 'a☺c', true],
    ['a?c', 'a😀c', true],
    ['a???c', 'a☺c', false],
    ['ab[c]', 'abc', true],
    ['ab[b-d]', 'abc', true],
    ['ab[e-g]', 'abc', false],
    ['ab[^c]', 'abc', false],
    ['ab[^e-g]', 'abc', true],
    ['ab[d-b]', 'abc', false],
    ['[a-ζ]*', 'α', true],
    ['*[a-ζ]', 'A', false],
    [String.raw`a\*c`, 'a*c', true],
    [String.raw`a\*c`, 'abc', false],
    [String.raw`a\😀`, 'a😀', true],
    [String.raw`[\]a]`, ']', true],
    [String.raw`[x\-]`, '-', true],
    [String.raw`[x\-]`, 'z', false],
    // As in Go, a star gives nothing back that a part behind it took.
    ['*[b/]*c', 'b/c', false],
    ['', '', true],
    ['', 'a', false],
  ]
  for (const [pattern, text, matches] of cases)
    assert.equal(compilePattern(pattern).test(text), matches, `${pattern} ${text}`)
  for (const bad of ['[]a]', '[-]', '[x-]', '[-x]', '\\', '[a-b-c]', '[', '[^', '[^bc', 'a['])
    assert.throws(() => compilePattern(bad), BadPattern, bad)
})

test('property: without classes, a pattern matches as its regular expression', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 8 })
  const patterns = fc.array(fc.constantFrom('a', 'b', '/', '*', '?'), { maxLength: 8 })
  fc.assert(
    fc.property(patterns, letters, (pattern, text) => {
      const source = pattern.map((one) => (one === '*' ? '[^/]*' : one === '?' ? '[^/]' : one)).join('')
      const wanted = new RegExp(`^${source}$`).test(text.join(''))
      assert.equal(compilePattern(pattern.join('')).test(text.join('')), wanted)
    }),
    { numRuns: 3000 },
  )
})

test('many stars are matched in linear time (F13)', { timeout: 20_000 }, () => {
  assert.equal(compilePattern(`${'*a'.repeat(40)}*b`).test('a'.repeat(5000)), false)
})
