import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { hostileTars, NO_LENGTHS, plantedTar, tarWithPax } from '../testing/fixtures/hostile-tar.ts'
import { fromUtf8, gunzip, utf8 } from './bytes.ts'
import { TAR_BLOCK_BYTES, tarEntries, TarError, tarNumber, createTar } from './tar.ts'

const names = (tar: Uint8Array): string[] =>
  [...tarEntries(tar)].map(({ name }) => Buffer.from(name).toString('latin1'))
const record = (text: string): string => {
  const length = text.length + 4
  return `${length >= 10 ? length : length - 1} ${text}\n`
}

describe('pax records', () => {
  test('name what a header is too short for', () => {
    assert.deepEqual(names(tarWithPax(record('path=web/templates/a.yaml'))), ['web/templates/a.yaml'])
    assert.deepEqual(names(tarWithPax(`${record('mtime=1.5')}${record('path=web/b')}`)), ['web/b'])
    assert.deepEqual(names(tarWithPax(record('comment=path=web/c'))), ['web/Chart.yaml'])
    assert.deepEqual(names(tarWithPax(`${record('path=web/b')}${record('path=')}`)), ['web/Chart.yaml'])
    const [link] = tarEntries(tarWithPax(record('linkpath=web/target')))
    assert.equal(fromUtf8(link!.link), 'web/target')
  })

  test('whose length is no number of digits are refused: none of them may stand still', () => {
    for (const length of NO_LENGTHS) {
      for (const rest of [' path=x\n', ' x=y\n', ' x\n', '']) {
        const records = `${length}${rest}`
        if (records === '') continue
        assert.throws(() => names(tarWithPax(records)), { name: 'TarError', message: 'invalid tar header' }, records)
      }
    }
  })

  test('of an archive of less than 100 bytes that Number reads for ever are refused', () => {
    const archive = gzipSync(plantedTar([{ name: '', type: 'x', data: utf8('1e-300 ') }]), { level: 9 })
    assert.ok(archive.byteLength < 100, `${archive.byteLength} bytes`)
    assert.throws(() => names(gunzip(archive, 10_000)), TarError)
  })

  test('that are longer than the rest, do not end with a line or have no key are refused', () => {
    for (const records of ['99 path=x\n', '9 path=xyz\n', '5 ab\n', '6 ab=\n9', '3 a']) {
      assert.throws(() => names(tarWithPax(records)), { name: 'TarError', message: 'invalid tar header' }, records)
    }
  })
})

describe('the number of a field', () => {
  const field = (text: string): number | undefined => tarNumber(Buffer.from(text, 'latin1'))
  test('is octal digits between blanks and NULs, or binary', () => {
    for (const [text, number] of [
      ['00000000017\0', 15],
      ['        17 \0', 15],
      ['\0\0\0\0\0\0\0\0\0\0\0\0', 0],
      ['           \0', 0],
      ['\u0080\0\0\0\0\0\0\0\0\0\u0002\u0001', 513],
    ] as const) {
      assert.equal(field(text), number, JSON.stringify(text))
    }
  })
  test('is nothing else', () => {
    for (const text of [
      '-0000000512\0',
      '+1',
      '1e-300',
      '0x10',
      '12x',
      '8',
      '1 2',
      `\u0080${'\u00ff'.repeat(11)}`,
      '\u00ff'.repeat(12),
    ]) {
      assert.equal(field(text), undefined, JSON.stringify(text))
      const tar = plantedTar([{ name: 'a', type: '0', data: new Uint8Array(TAR_BLOCK_BYTES), size: text }])
      assert.throws(() => names(tar), { name: 'TarError', message: 'invalid tar header' }, JSON.stringify(text))
    }
  })
})

test('what is written is read', () => {
  const files = [
    { name: 'a', data: new Uint8Array() },
    { name: 'b', data: utf8('x'.repeat(TAR_BLOCK_BYTES + 1)) },
  ]
  const read = [...tarEntries(createTar(files))].map(({ name, data }) => ({
    name: fromUtf8(name),
    data: fromUtf8(data),
  }))
  assert.deepEqual(
    read,
    files.map(({ name, data }) => ({ name, data: fromUtf8(data) })),
  )
})

test('property: any archive is read to its end or refused with TarError', () => {
  let refused = 0
  fc.assert(
    fc.property(hostileTars, (tar) => {
      try {
        assert.ok([...tarEntries(tar)].length <= tar.byteLength / TAR_BLOCK_BYTES)
      } catch (caught) {
        if (!(caught instanceof TarError)) throw caught
        refused += 1
      }
    }),
    { numRuns: 2000 },
  )
  assert.ok(refused > 100, `only ${refused} of 2000 were refused`)
})
