import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { ObjectSet } from './cluster-document.ts'
import { decodePack, encodePack, missingItems, openPack } from './pack.ts'
import { objectSetBytes } from './signed-document.ts'
import { WireError } from '../validate.ts'

const content = (name: string, text: string) => utf8(JSON.stringify({ name, text }))
const setOf = (objects: Readonly<Record<string, string>>): ObjectSet => ({
  format: 'flotilla.dev/set/v1',
  objects: Object.entries(objects).map(([name, text]) => {
    return { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name, digest: digestOf(content(name, text)) }
  }),
})

test('only what the base lacks travels, and each finds its namesake', () => {
  const base = setOf({ a: '1', b: '1', c: '1' })
  const target = setOf({ a: '1', b: '2', d: '1' })
  assert.deepEqual(
    missingItems(target, base, 0).map(({ index, inBase }) => [index, inBase?.index]),
    [
      [1, 1],
      [2, undefined],
    ],
  )
  assert.equal(missingItems(target, undefined, 1).length, 2)
  assert.equal(missingItems(target, target, 0).length, 0)
})

test('a pack opens with the dictionary it names and with no other', () => {
  const base = setOf({ a: '1', b: 'old '.repeat(100) })
  const target = setOf({ a: '1', b: `${'old '.repeat(100)}new` })
  const header = { from: 0, to: 2, total: 2, withBase: true, dictionary: [1] }
  const manifest = objectSetBytes(target)
  const objects = [content('b', `${'old '.repeat(100)}new`)]
  const dictionary = { baseManifest: objectSetBytes(base), dictionary: [content('b', 'old '.repeat(100))] }
  const pack = encodePack({ header, manifest, objects, ...dictionary })
  assert.deepEqual(pack, encodePack({ header, manifest, objects, ...dictionary }), 'the same bytes every time')
  const opened = openPack(pack)
  assert.deepEqual(opened.header, { format: 'flotilla.dev/pack/v1', ...header })
  const { manifest: back, objects: found } = decodePack(opened, dictionary)
  assert.deepEqual([back, ...found], [manifest, ...objects])
  assert.throws(() => decodePack(opened, { dictionary: [] }), WireError)
  assert.throws(() => openPack(utf8('{}')), /no header/)
  const endless = encodePack({ header: { ...header, to: 0 }, manifest, objects: [], dictionary: [] })
  assert.throws(() => openPack(endless), /no objects/, 'an agent would ask for ever')
})
