import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKeys } from './read-keys.ts'

test('keys of one read, with their names', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['j', ['j']],
    ['\u001b[A\u001b[B', ['up', 'down']],
    ['\u001bOC', ['right']],
    ['\u001b', ['escape']],
    ['\r\u0003', ['enter', 'ctrl-c']],
    ['aé日', ['a', 'é', '日']],
    ['\u001b[5~\u001b[6~', ['pageup', 'pagedown']],
    ['\u001b[15~\u001b[1;5C\u0001', []],
    ['', []],
  ]
  for (const [text, expected] of cases) assert.deepEqual(readKeys(text), expected, JSON.stringify(text))
})
