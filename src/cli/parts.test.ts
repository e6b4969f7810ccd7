import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Assets } from './parts.ts'
import { partsFolder } from './parts.ts'

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
  const folder = partsFolder(carrying({ 'a.mjs': 'first', 'threads/b.mjs': 'b' }), cache)
  assert.equal(folder, join(cache, 'abc'))
  assert.equal(readFileSync(join(folder, 'threads/b.mjs'), 'utf8'), 'b')
  partsFolder(carrying({ 'a.mjs': 'second' }), cache)
  assert.equal(readFileSync(join(folder, 'a.mjs'), 'utf8'), 'first')
  assert.deepEqual(readdirSync(cache), ['abc'])
})

test('a folder that others can write is not trusted', () => {
  const cache = join(dir, 'open')
  mkdirSync(join(cache, 'abc'), { recursive: true })
  writeFileSync(join(cache, 'abc/a.mjs'), 'planted')
  chmodSync(join(cache, 'abc'), 0o777)
  chmodSync(cache, 0o777)
  const folder = partsFolder(carrying({ 'a.mjs': 'own' }), cache)
  assert.ok(!folder.startsWith(cache), folder)
  assert.equal(readFileSync(join(folder, 'a.mjs'), 'utf8'), 'own')
})

test('where nothing can be written, parts live as long as the process', () => {
  writeFileSync(join(dir, 'file'), '')
  const folder = partsFolder(carrying({ 'a.mjs': 'own' }), join(dir, 'file/parts'))
  assert.ok(existsSync(join(folder, 'a.mjs')))
})
