import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesNamePattern } from './name-pattern.ts'

test('patterns match as in Go', () => {
  for (const [pattern, name, wanted] of [
    ['', '', true],
    ['*', 'default', true],
    ['kube-*', 'kube-system', true],
    ['kube-*', 'kube', false],
    ['*-system', 'kube-system', true],
    ['a*b*c', 'aXbXbc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['ns-[0-9]', 'ns-7', true],
    ['ns-[^0-9]', 'ns-7', false],
    ['[a-]', 'a', undefined],
    ['[]a]', 'a', undefined],
    ['[b-a]', 'a', false],
    ['[\\]]', ']', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['\\', 'a', undefined],
    ['[bad', 'x', undefined],
    ['x[', 'y', undefined],
  ] as const) {
    assert.equal(matchesNamePattern(pattern, name), wanted, `${pattern} ${name}`)
  }
})

test('many stars take no long time', () => {
  assert.equal(matchesNamePattern(`${'a*'.repeat(2_000)}b`, 'a'.repeat(2_000)), false)
})
