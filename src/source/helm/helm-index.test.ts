import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { chooseVersion, INDEX_CACHE, readIndex } from './helm-index.ts'

const INDEX = `apiVersion: v1
entries:
  web:
  - {version: 1.0.0, urls: [web-1.0.0.tgz], digest: AB}
  - {version: 1.1.0, urls: [web-1.1.0.tgz]}
  - {version: 2.0.0-rc.1, urls: [web-2.tgz], digest: sha256:cd}
  - {version: 1, urls: [x]}
  - {version: 1.2.0}
  none: []
  odd: text
`

test('an index has the versions that can be fetched', () => {
  const index = readIndex(utf8(INDEX), 'x')
  assert.equal(index.digest, digestOf(utf8(INDEX)))
  assert.equal(index.bytes, INDEX.length)
  assert.deepEqual(index.charts.get('web'), [
    { version: '1.0.0', url: 'web-1.0.0.tgz', digest: 'sha256:ab' },
    { version: '1.1.0', url: 'web-1.1.0.tgz', digest: undefined },
    { version: '2.0.0-rc.1', url: 'web-2.tgz', digest: 'sha256:cd' },
  ])
  assert.deepEqual([...index.charts.keys()], ['web', 'none', 'odd'])
  assert.equal(INDEX_CACHE.weigh(index), 4)
})

test('the newest version in a range; a version by its name is taken as it is', () => {
  const index = readIndex(utf8(INDEX), 'x')
  const choose = (version?: string, chart = 'web') => chooseVersion(index, { chart, version }, 'x').version
  assert.deepEqual([choose(), choose('1.0.x'), choose('2.0.0-rc.1')], ['1.1.0', '1.0.0', '2.0.0-rc.1'])
  assert.throws(() => choose('>=3'), /Chart web has no version in the range ">=3"; it has 1\.0\.0, 1\.1\.0/)
  assert.throws(() => choose('*', 'none'), /x has no chart "none"; it has web, none, odd\./)
  assert.throws(() => choose('*', 'toString'), /has no chart "toString"/)
})

test('what is no index is refused', () => {
  assert.throws(() => readIndex(utf8('a: ['), 'x'), /x cannot be read: line 2/)
  assert.throws(() => readIndex(utf8('a: 1'), 'x'), /x is no index of a Helm repository: it has no "entries"/)
  assert.throws(() => readIndex(new Uint8Array([0xff]), 'x'), /x cannot be read: it is not UTF-8/)
  const many = `entries: {web: [${'{},'.repeat(2_000_001)}]}`
  assert.throws(() => readIndex(utf8(many), 'x'), /x cannot be read: .*more than 2000000/)
})
