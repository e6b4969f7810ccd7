import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commitCells } from './commit-cells.ts'

const revision = `main@sha1:${'2ae9a92f5c1d'.padEnd(40, '0')}`

test('the cells of a commit: what is unknown is said, what does not exist is not', () => {
  const origin = { author: 'Jo', subject: 'Raise replicas', from: 'x' }
  assert.deepEqual(commitCells({ revision, origin }), ['main@sha1:2ae9a92f5c1d', 'Jo', 'Raise replicas'])
  assert.deepEqual(commitCells({ revision }), ['main@sha1:2ae9a92f5c1d', 'unknown', 'unknown'])
  assert.deepEqual(commitCells({ revision: '1.4.0@sha256:ab', origin: { from: 'x' } }), ['1.4.0@sha256:ab', '-', '-'])
  assert.deepEqual(commitCells({}), ['-', '-', '-'])
  assert.equal(commitCells({ revision, origin: { subject: 'x'.repeat(80) } })[2].length, 50)
})
