import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyJsonPatch, readJsonPatch } from './json-patch.ts'

const copies = (count: number, from: string, to: (n: number) => string): string =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ op: 'copy', from, path: to(n) })))

test('CVE-2019-1002100: copies of a patch are limited together', () => {
  const document = () => new Map<string, unknown>([['data', new Map<string, unknown>([['a', 'x'.repeat(1000)]])]])
  const few = document()
  applyJsonPatch(few, readJsonPatch(copies(1000, '/data/a', (n) => `/data/k${n}`)))
  assert.equal((few.get('data') as Map<string, unknown>).size, 1001)
  for (const to of [(n: number) => `/data/k${n}`, () => '/data/k']) {
    assert.throws(() => applyJsonPatch(document(), readJsonPatch(copies(9_999, '/data', to))), {
      message:
        /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
    })
  }
})

test('what was moved is one with its old place no more, and a null moves, too', () => {
  const document = new Map<string, unknown>([
    ['a', new Map([['x', 1]])],
    ['n', null],
  ])
  const patch = [
    { op: 'move', from: '/a', path: '/b' },
    { op: 'move', from: '/n', path: '/m' },
  ]
  applyJsonPatch(document, readJsonPatch(JSON.stringify(patch)))
  assert.deepEqual([...document.keys()], ['b', 'm'])
  assert.equal(document.get('m'), null)
})
