import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { resolveLinks, selects } from './tree-entries.ts'

/** The patterns as regular expressions, which they were before. */
function asExpression(pattern: string): RegExp {
  const source = pattern
    .split('/')
    .map((part) =>
      part === '**' ? '(?:[^/]+/)*' : `${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\*+/g, '[^/]*')}/`,
    )
    .join('')
    .replace(/\/$/, '')
  return new RegExp(`^${source}(?:/|$)`)
}

test('ignore: a file, a directory with all of it, parts of names, and any directories', () => {
  const isIgnored = (pattern: string, path: string) => !selects({ ignore: [pattern] })(path)
  for (const [pattern, path, expected] of [
    ['docs', 'docs/a/b.md', true],
    ['docs', 'docs2/a.md', false],
    ['*.md', 'README.md', true],
    ['*.md', 'a/README.md', false],
    ['**/*.md', 'a/b/README.md', true],
    ['**/test', 'a/test/b.yaml', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z/d', true],
    ['a?c', 'abc', false],
    ['a+b', 'a+b', true],
    ['./a/', 'a/b', true],
  ] as const) {
    assert.equal(isIgnored(pattern, path), expected, `${pattern} ${path}`)
  }
})

test('property: patterns select as the regular expressions did', () => {
  const part = fc.stringMatching(/^[ab*?.]{1,4}$/)
  const pattern = fc.array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 5 })
  const path = fc.array(fc.stringMatching(/^[ab.]{1,4}$/), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(pattern, path, (parts, names) => {
      const clean = parts.filter((one) => one !== '.')
      fc.pre(clean.length > 0)
      const [glob, text] = [clean.join('/'), names.join('/')]
      assert.equal(!selects({ ignore: [glob] })(text), asExpression(glob).test(text), `${glob} ${text}`)
    }),
    { numRuns: 2000 },
  )
})

test('hostile patterns and links end (F13)', { timeout: 20_000 }, () => {
  // As regular expressions these took longer than any test: see the number of ways to match.
  assert.equal(selects({ ignore: [`${'*a'.repeat(40)}b`] })('a'.repeat(250)), true)
  const deep = Array.from({ length: 60 }, () => 'a').join('/')
  assert.equal(selects({ ignore: [`${'**/a/'.repeat(30)}b`] })(deep), true)
  const file = (path: string) => ({ path, mode: '100644', oid: '0' })
  const entries = Array.from({ length: 40_000 }, (_, at) => file(`d${at}/f`))
  const links = Array.from({ length: 40_000 }, (_, at) => ({ path: `l${at}`, mode: '120000', oid: '0' }))
  const found = resolveLinks(links, [...entries, ...links], ({ path }) => `d${path.slice(1)}`)
  assert.deepEqual([found.length, found[7]?.path], [40_000, 'l7/f'])
})
