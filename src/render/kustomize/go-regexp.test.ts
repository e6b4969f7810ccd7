/** Patterns of kustomizations: none of them takes a time that grows faster than its text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePattern } from './go-regexp.ts'

test('a pattern matches as in Go', () => {
  for (const [source, text, wanted] of [
    ['^(?:web)$', 'web', true],
    ['^(?:web)$', 'webs', false],
    ['^(?:web|api)$', 'api', true],
    ['^(?:web-.*)$', 'web-1', true],
    ['^(?:web-?.*)$', 'web1', true],
    ['a+b', 'xaab', true],
    ['(?i)WEB', 'web', true],
  ] as const) {
    assert.equal(compilePattern(source).test(text), wanted, source)
  }
  assert.throws(() => compilePattern('a('), /error parsing regexp: missing closing \)/)
})

test('choices do not multiply the time of a match', () => {
  // One that tries them in turn does not end within a day; the last one reads a million characters a million times.
  for (const [source, text] of [
    ['a?'.repeat(60) + 'a'.repeat(60), 'a'.repeat(59)],
    [`^(?:${'a?'.repeat(60)}${'a'.repeat(60)})$`, 'a'.repeat(59)],
    [`${'(a|a)'.repeat(60)}b`, 'a'.repeat(100)],
    [`^${'(?:a|a)'.repeat(60)}b$`, 'a'.repeat(100)],
    ['a*b', 'a'.repeat(1_000_000)],
  ] as const) {
    assert.equal(compilePattern(source).test(text), false)
  }
})
