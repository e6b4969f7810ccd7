import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goDurationProblem } from './go-duration.ts'

test('errors of durations are those of Go', () => {
  for (const valid of ['0', '90s', '1h30m', '-1.5h', '+.5s', '007s', '10µs']) {
    assert.equal(goDurationProblem(valid), undefined, valid)
  }
  const cases: readonly (readonly [string, string])[] = [
    ['', 'time: invalid duration ""'],
    ['junk', 'time: invalid duration "junk"'],
    ['90', 'time: missing unit in duration "90"'],
    ['90sx', 'time: unknown unit "sx" in duration "90sx"'],
    ['1h5|', 'time: unknown unit "|" in duration "1h5|"'],
    ['9999999h', 'time: invalid duration "9999999h"'],
  ]
  for (const [value, problem] of cases) assert.equal(goDurationProblem(value), problem)
})
