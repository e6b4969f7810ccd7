import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileArgoGlob, matchesArgoGlob } from './glob.ts'

test('stars, classes and alternatives', () => {
  for (const [pattern, text, separators, expected] of [
    ['https://git/acme/*', 'https://git/acme/x', '/', true],
    ['https://git/acme/*', 'https://git/acme/x/y', '/', false],
    ['https://git/acme/**', 'https://git/acme/x/y', '/', true],
    ['w?b', 'web', '', true],
    ['web-{a,b*}', 'web-bcd', '', true],
    ['web-{a,b*}', 'web-c', '', false],
    ['[!a-c]x', 'dx', '', true],
    ['[!a-c]x', 'bx', '', false],
    ['a.b', 'axb', '', false],
    [String.raw`a\*`, 'a*', '', true],
    ['?', '', '', true],
  ] as const) {
    assert.equal(matchesArgoGlob(pattern, text, separators), expected, `${pattern} ${text}`)
  }
})

test('a pattern that does not end, or is too long, fits nothing', () => {
  for (const pattern of ['[a', '{a', 'a'.repeat(5000)]) assert.equal(compileArgoGlob(pattern), undefined)
})

test('many stars are matched in linear time', () => {
  assert.equal(matchesArgoGlob('*a'.repeat(30), `${'a'.repeat(3000)}b`), false)
})
