// Just enough of ZIP to take one file out of an archive: stored or deflated members, found by the central directory.
import { crc32, inflateRawSync } from 'node:zlib'

const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50

/** The bytes of one member of a ZIP archive; throws when it is absent or damaged. */
export function unzipMember(archive: Buffer, name: string): Buffer {
  let end = archive.length - 22
  while (end >= 0 && archive.readUInt32LE(end) !== END_OF_DIRECTORY) end--
  if (end < 0) throw new Error('not a ZIP archive: it has no end of central directory')
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error(`damaged ZIP archive at byte ${at}`)
    const nameLength = archive.readUInt16LE(at + 28)
    const skip = nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return content(archive, at)
    at += 46 + skip
  }
  throw new Error(`the ZIP archive has no member ${name}`)
}

function content(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10)
  const size = archive.readUInt32LE(entry + 20)
  const local = archive.readUInt32LE(entry + 42)
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const packed = archive.subarray(start, start + size)
  if (method !== 0 && method !== 8) throw new Error(`ZIP method ${method} is not supported`)
  const bytes = method === 0 ? packed : inflateRawSync(packed)
  if (crc32(bytes) !== archive.readUInt32LE(entry + 16)) throw new Error('a ZIP member does not match its checksum')
  return bytes
}

/** The bytes of one file of an uncompressed tar archive with plain names; throws when it is absent. */
export function untarMember(archive: Buffer, name: string): Buffer {
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0;) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8)
    if (archive.toString('utf8', at, archive.indexOf(0, at)) === name)
      return archive.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`the tar archive has no file ${name}`)
}
