import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { untarMember, unzipMember } from './unzip.ts'

/** A ZIP archive with local headers as writers that stream leave them: sizes only in the central directory. */
function zip(members: Record<string, { readonly text: string; readonly stored?: boolean }>): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, { text, stored }] of Object.entries(members)) {
    const packed = stored ? Buffer.from(text) : deflateRawSync(text)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(stored ? 0 : 8, 10)
    entry.writeUInt32LE(crc32(text), 16)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    locals.push(local, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(members).length, 10)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

describe('unzipMember', () => {
  const archive = zip({
    'a/': { text: '', stored: true },
    'a/one': { text: 'first' },
    two: { text: '2', stored: true },
  })

  test('takes deflated and stored members', () => {
    assert.equal(unzipMember(archive, 'a/one').toString(), 'first')
    assert.equal(unzipMember(archive, 'two').toString(), '2')
  })

  test('refuses what is absent, damaged or no archive', () => {
    assert.throws(() => unzipMember(archive, 'one'), /no member one/)
    const damaged = Buffer.from(archive)
    damaged[damaged.indexOf('two') + 3]! ^= 1
    assert.throws(() => unzipMember(damaged, 'two'), /checksum/)
    assert.throws(() => unzipMember(Buffer.from('hello, this is not a ZIP archive'), 'two'), /not a ZIP/)
  })
})

describe('untarMember', () => {
  const file = (name: string, text: string): Buffer => {
    const block = Buffer.alloc(512 + Math.ceil(text.length / 512) * 512)
    block.write(name, 0)
    block.write(text.length.toString(8).padStart(11, '0'), 124)
    block.write(text, 512)
    return block
  }
  const archive = Buffer.concat([file('p/a', 'x'.repeat(600)), file('p/b', 'second'), Buffer.alloc(1024)])

  test('takes a file behind another one', () => {
    assert.equal(untarMember(archive, 'p/b').toString(), 'second')
  })

  test('refuses what is absent', () => {
    assert.throws(() => untarMember(archive, 'b'), /no file b/)
  })
})
