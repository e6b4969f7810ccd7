import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileGlob } from './glob.ts'

const matches = (pattern: string, path: string) => compileGlob(pattern)?.test(path)

test('.Files.Glob: stars stop at slashes, two cross them, braces and classes choose', () => {
  assert.equal(matches('conf/*.yaml', 'conf/a.yaml'), true)
  assert.equal(matches('conf/*.yaml', 'conf/x/a.yaml'), false)
  assert.equal(matches('conf/**.yaml', 'conf/x/a.yaml'), true)
  assert.equal(matches('{a,b/*}.txt', 'b/c.txt'), true)
  assert.equal(matches('a/[bc]?', 'a/b1'), true)
  assert.equal(matches('a/[!bc]', 'a/b'), false)
  assert.equal(matches('a/[a-c]', 'a/b'), true)
  assert.equal(matches('a/[]-x]', 'a/-x]'), undefined)
  assert.equal(matches('[^]', '^'), true)
  assert.equal(matches('a\\*(b)|$.+', 'a*(b)|$.+'), true)
  assert.equal(matches('?', '😀'), true)
  assert.equal(matches('{a', 'a'), undefined)
})

test('many stars and alternatives are matched in linear time (F13)', { timeout: 20_000 }, () => {
  const path = 'a'.repeat(300)
  assert.equal(matches(`${'*a'.repeat(30)}*b`, path), false)
  assert.equal(matches(`${'{a,aa,*}'.repeat(20)}b`, path), false)
})
