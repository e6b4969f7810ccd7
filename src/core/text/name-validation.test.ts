import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  label1035Problems,
  labelKeyProblems,
  labelProblems,
  labelValueProblems,
  pathSegmentProblems,
  subdomainProblems,
} from './name-validation.ts'

const CASES = [
  [subdomainProblems, ['a', 'a-b.c9', '1.2', 'a'.repeat(253)], ['', 'A', '-a', 'a-', 'a..b', 'a_b', 'a'.repeat(254)]],
  [labelProblems, ['a', '9-a', 'a'.repeat(63)], ['', 'a.b', 'A', 'a-', 'a'.repeat(64)]],
  [label1035Problems, ['a', 'a-9'], ['9a', '', 'a.b', 'a'.repeat(64)]],
  [
    labelKeyProblems,
    ['a', 'A.b_c', 'example.com/a'],
    ['', '/a', 'a/', 'A.com/a', 'a/b/c', '-a', `x/${'a'.repeat(64)}`],
  ],
  [labelValueProblems, ['', 'a', 'A_b.c-9'], ['-a', 'a b', 'ä', 'a'.repeat(64)]],
  [pathSegmentProblems, ['a', 'system:x', 'A B'], ['.', '..', 'a/b', 'a%b']],
] as const

test('names, keys and values', () => {
  for (const [problemsOf, good, bad] of CASES) {
    for (const text of good) assert.deepEqual(problemsOf(text), [], `${problemsOf.name} ${text}`)
    for (const text of bad)
      assert.equal(problemsOf(text).length > 0, true, `${problemsOf.name} ${JSON.stringify(text)}`)
  }
})

test('a subdomain where a label belongs is told so', () => {
  assert.deepEqual(labelProblems('a.b'), ['must not contain dots'])
  assert.deepEqual(subdomainProblems('a'.repeat(254)), ['must be no more than 253 bytes'])
  assert.deepEqual(labelKeyProblems('/a'), ['prefix part must be non-empty'])
})
