/** Tar archives in memory, as POSIX and GNU write them; what an entry may be is the caller's to decide. */
import { concatBytes, utf8 } from './bytes.ts'
import { readOctalNumber, readWholeNumber } from './read-number.ts'

/** Everything in an archive comes in blocks of so many bytes. */
export const TAR_BLOCK_BYTES = 512
/** The longest name that a header holds, in bytes. */
export const MAX_TAR_NAME = 100
/** What eleven octal digits hold; larger sizes are written as GNU and POSIX readers both understand them. */
const MAX_OCTAL = 8 ** 11 - 1

/** An entry; names are bytes, because tar does not guarantee UTF-8. */
export interface TarEntry {
  readonly name: Uint8Array
  /**
   * The type flag: `0` and NUL are files, `1` hard links, `2` symbolic links, `3` and `4` devices, `5` directories, `6`
   * pipes.
   */
  readonly type: string
  /** The target of a link. */
  readonly link: Uint8Array
  readonly data: Uint8Array
}

/** An archive that ends in the middle, or has a size or a pax record that cannot be read. */
export class TarError extends Error {
  override readonly name = 'TarError'
}

/** The entries of an archive, long names resolved. */
export function* tarEntries(tar: Uint8Array): Generator<TarEntry> {
  let longName: Uint8Array | undefined
  let longLink: Uint8Array | undefined
  for (let at = 0; at + TAR_BLOCK_BYTES <= tar.length;) {
    const header = tar.subarray(at, at + TAR_BLOCK_BYTES)
    if (header.every((byte) => byte === 0)) return
    const size = tarNumber(header.subarray(124, 136))
    if (size === undefined) throw invalidHeader()
    const data = tar.subarray(at + TAR_BLOCK_BYTES, at + TAR_BLOCK_BYTES + size)
    if (data.length < size) throw new TarError('unexpected EOF')
    at += TAR_BLOCK_BYTES + Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES
    const type = String.fromCharCode(header[156]!)
    if (type === 'x') {
      for (const { key, value } of paxRecords(data)) {
        // An empty value takes back what an earlier record said.
        const said = value.length === 0 ? undefined : value
        if (key === 'path') longName = said
        else if (key === 'linkpath') longLink = said
      }
    } else if (type === 'L') longName = untilNul(data)
    else if (type === 'K') longLink = untilNul(data)
    else if (type !== 'g') {
      const link = longLink ?? untilNul(header.subarray(157, 257))
      yield { name: longName ?? headerName(header), type, link, data }
      longName = undefined
      longLink = undefined
    }
  }
}

/** An archive of small files that only their owner may read. */
export function createTar(files: readonly { readonly name: string; readonly data: Uint8Array }[]): Uint8Array {
  const entries = files.flatMap(({ name, data }) => [
    tarHeader(name, data.byteLength),
    data,
    new Uint8Array(tarPadding(data.byteLength)),
  ])
  return concatBytes([...entries, new Uint8Array(2 * TAR_BLOCK_BYTES)])
}

/** The header of a file; a name that is too long is cut. */
export function tarHeader(name: string, size: number): Uint8Array {
  const header = new Uint8Array(TAR_BLOCK_BYTES)
  const write = (text: string, at: number) => header.set(utf8(text), at)
  header.set(utf8(name).subarray(0, MAX_TAR_NAME), 0)
  write('0000600\0', 100)
  write('0000000\0', 108)
  write('0000000\0', 116)
  if (size <= MAX_OCTAL) write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header[124] = 0x80
    new DataView(header.buffer).setBigUint64(128, BigInt(size))
  }
  write('00000000000\0', 136)
  write('0', 156)
  write('ustar\u000000', 257)
  write(`${tarChecksum(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** The sum of all bytes of a header, with its own field as blanks. */
export function tarChecksum(header: Uint8Array): number {
  let sum = 8 * 0x20
  for (const [index, byte] of header.entries()) if (index < 148 || index >= 156) sum += byte
  return sum
}

/** How many bytes fill the last block of a file. */
export function tarPadding(size: number): number {
  return (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES
}

function headerName(header: Uint8Array): Uint8Array {
  const name = untilNul(header.subarray(0, 100))
  const isUstar = latin1(header.subarray(257, 262)) === 'ustar'
  const prefix = isUstar ? untilNul(header.subarray(345, 500)) : new Uint8Array()
  if (prefix.length === 0) return name
  return concatBytes([prefix, Uint8Array.of(0x2f), name])
}

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

/**
 * Reads a number of a header: octal digits between blanks and NULs, or binary; undefined when the field holds anything
 * else.
 */
export function tarNumber(field: Uint8Array): number | undefined {
  const first = field[0] ?? 0
  // The highest bit says that a large number is written in binary, the next that the number is negative.
  if (first & 0x80) {
    const number = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, first & 0x7f)
    return Number.isSafeInteger(number) ? number : undefined
  }
  const text = latin1(field).replaceAll(/^[\0 ]+|[\0 ]+$/g, '')
  return text === '' ? 0 : readOctalNumber(text)
}

function invalidHeader(): TarError {
  return new TarError('invalid tar header')
}

interface PaxRecord {
  readonly key: string
  readonly value: Uint8Array
}

/**
 * The digits of a length and the blank after them; a reader that looks further can be made to read everything for each
 * record.
 */
const MAX_LENGTH_FIELD = 11
/** Longer keys are none that matter here. */
const MAX_KEY = 64

/**
 * The records of a pax header: `length key=value`, each with a line's end, where the length is that of the whole
 * record.
 */
function* paxRecords(data: Uint8Array): Generator<PaxRecord> {
  for (let rest = data; rest.length > 0;) {
    const space = rest.subarray(0, MAX_LENGTH_FIELD).indexOf(0x20)
    const length = space < 0 ? undefined : readWholeNumber(latin1(rest.subarray(0, space)))
    // The length counts its own digits, so that a record never ends before its key begins.
    if (length === undefined || length <= space + 2 || length > rest.length) throw invalidHeader()
    const record = rest.subarray(space + 1, length)
    const equals = record.indexOf(0x3d)
    if (equals < 1 || record.at(-1) !== 0x0a) throw invalidHeader()
    yield { key: latin1(record.subarray(0, Math.min(equals, MAX_KEY))), value: record.subarray(equals + 1, -1) }
    rest = rest.subarray(length)
  }
}
