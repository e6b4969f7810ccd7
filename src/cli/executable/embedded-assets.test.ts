import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { Assets } from './embedded-assets.ts'
import { refreshLastUsed, extractAssets } from './embedded-assets.ts'

const dir = mkdtempSync(join(tmpdir(), 'parts-'))
after(() => rmSync(dir, { recursive: true, force: true }))

function carrying(files: Readonly<Record<string, string>>): Assets {
  const index = { digest: 'abc', files: Object.entries(files).map(([name, text]) => ({ name, bytes: text.length })) }
  const all: Record<string, string> = { index: JSON.stringify(index), parts: Object.values(files).join('') }
  return {
    getAsset: (key) => all[key]!,
    getRawAsset: (key) => new TextEncoder().encode(all[key]).buffer,
  }
}

test('parts are written once, below the digest of them all', () => {
  const cache = join(dir, 'cache/parts')
  const folder = extractAssets(carrying({ 'a.mjs': 'first', 'threads/b.mjs': 'b' }), cache)
  assert.equal(folder, join(cache, 'abc'))
  assert.equal(readFileSync(join(folder, 'threads/b.mjs'), 'utf8'), 'b')
  extractAssets(carrying({ 'a.mjs': 'second' }), cache)
  assert.equal(readFileSync(join(folder, 'a.mjs'), 'utf8'), 'first')
  assert.deepEqual(readdirSync(cache), ['abc'])
})

test('a folder that others can write is not trusted', () => {
  const cache = join(dir, 'open')
  mkdirSync(join(cache, 'abc'), { recursive: true })
  writeFileSync(join(cache, 'abc/a.mjs'), 'planted')
  chmodSync(join(cache, 'abc'), 0o777)
  chmodSync(cache, 0o777)
  const folder = extractAssets(carrying({ 'a.mjs': 'own' }), cache)
  assert.ok(!folder.startsWith(cache), folder)
  assert.equal(readFileSync(join(folder, 'a.mjs'), 'utf8'), 'own')
})

const DAY_MS = 24 * 3_600_000

test('unused files of other versions are removed after a month, and nothing else is', async () => {
  const cache = join(dir, 'old')
  const clock = createVirtualClock()
  const agesOf = {
    ['a'.repeat(32)]: 31,
    ['b'.repeat(32)]: 29,
    [`${'c'.repeat(32)}-Ab12Cd`]: 31,
    ['d'.repeat(32)]: 400,
    ['e'.repeat(31)]: 400,
    notes: 400,
  }
  for (const [name, days] of Object.entries(agesOf)) {
    mkdirSync(join(cache, name, 'threads'), { recursive: true })
    writeFileSync(join(cache, name, 'threads/a.mjs'), '')
    const at = clock.now() / 1000 - (days * DAY_MS) / 1000
    utimesSync(join(cache, name), at, at)
  }
  writeFileSync(join(cache, 'f'.repeat(32)), 'a file')
  utimesSync(join(cache, 'f'.repeat(32)), 0, 0)
  symlinkSync(dir, join(cache, '0'.repeat(32)))
  const ended = new AbortController()
  const used = join(cache, 'd'.repeat(32))
  const using = refreshLastUsed(used, clock, ended.signal)
  const left = ['0'.repeat(32), 'b'.repeat(32), 'd'.repeat(32), 'e'.repeat(31), 'f'.repeat(32), 'notes']
  assert.deepEqual(readdirSync(cache).toSorted(), left)
  // A hub that runs for months uses its parts all the time.
  await clock.advance(60 * DAY_MS)
  assert.ok(clock.now() - statSync(used).mtimeMs <= DAY_MS)
  ended.abort()
  await using
})

test('a cache that cannot be read stays as it is, without a word', async () => {
  const clock = createVirtualClock()
  const ended = new AbortController()
  ended.abort()
  await refreshLastUsed(join(dir, 'nowhere', 'a'.repeat(32)), clock, ended.signal)
})

test('where nothing can be written, parts live as long as the process', () => {
  writeFileSync(join(dir, 'file'), '')
  const folder = extractAssets(carrying({ 'a.mjs': 'own' }), join(dir, 'file/parts'))
  assert.ok(existsSync(join(folder, 'a.mjs')))
})
