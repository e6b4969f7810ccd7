/** DER, the strict form of ASN.1's BER: a synchronous writer and a small reader that accepts nothing DER forbids. */
import { compareBytes, concatBytes, fromUtf8, utf8 } from '../bytes.ts'
import { formatTime, parseTime } from '../time/time.ts'

/** Tags used by certificates and keys; the context tags are made with `contextTag`. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The tag `[n]`; constructed for explicit tags and for implicit tags over a sequence. */
export function contextTag(n: number, form: 'primitive' | 'constructed'): number {
  return (form === 'constructed' ? 0xa0 : 0x80) | n
}

/** Bytes that are not the DER that was expected. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

/** An element: tag, length, contents. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(contents)
  return concatBytes([Uint8Array.of(tag), lengthBytes(content.byteLength), content])
}

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Uint8Array.of(0x80 | bytes.length, ...bytes)
}

/** SEQUENCE of elements, in the given order. */
export function sequence(...items: readonly Uint8Array[]): Uint8Array {
  return element(TAG.sequence, ...items)
}

/** SET OF, sorted as DER asks. */
export function setOf(...items: readonly Uint8Array[]): Uint8Array {
  return element(TAG.set, ...items.toSorted(compareBytes))
}

/** INTEGER from unsigned big-endian bytes, in its shortest form. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const digits = bytes.length === 0 ? Uint8Array.of(0) : bytes.subarray(start)
  return digits[0]! >= 0x80 ? element(TAG.integer, Uint8Array.of(0), digits) : element(TAG.integer, digits)
}

/** INTEGER from a small non-negative number. */
export function smallInteger(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return unsignedInteger(Uint8Array.from(bytes))
}

/** OBJECT IDENTIFIER from its dotted form. */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  const bytes = [first! * 40 + second!]
  for (const arc of rest) {
    const septets = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      septets.unshift((left & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return element(TAG.oid, Uint8Array.from(bytes))
}

/** BOOLEAN. */
export function boolean(value: boolean): Uint8Array {
  return element(TAG.boolean, Uint8Array.of(value ? 0xff : 0))
}

/** NULL. */
export function nullValue(): Uint8Array {
  return element(TAG.null)
}

/** OCTET STRING around bytes. */
export function octetString(bytes: Uint8Array): Uint8Array {
  return element(TAG.octetString, bytes)
}

/** BIT STRING of whole bytes, or of a last byte with unused bits. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return element(TAG.bitString, Uint8Array.of(unusedBits), bytes)
}

/** UTF8String. */
export function utf8String(text: string): Uint8Array {
  return element(TAG.utf8String, utf8(text))
}

/** A time as RFC 5280 wants it: UTCTime from 1950 to 2049, GeneralizedTime otherwise. */
export function time(ms: number): Uint8Array {
  const digits = formatTime(ms).replaceAll(/[-:T]/g, '')
  const year = Number(digits.slice(0, 4))
  return year >= 1950 && year < 2050
    ? element(TAG.utcTime, utf8(digits.slice(2)))
    : element(TAG.generalizedTime, utf8(digits))
}

/** An element that was read: `content` without, `raw` with its header. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  readonly raw: Uint8Array
}

/** Reads elements in turn from a byte string. */
export interface DerReader {
  /** True when nothing is left. */
  done(): boolean
  /** The tag of the next element; undefined at the end. */
  peek(): number | undefined
  /** The next element, which must have this tag. */
  take(tag: number, what: string): DerElement
  /** The next element when it has this tag. */
  takeIf(tag: number): DerElement | undefined
  /** Throws when bytes are left. */
  end(what: string): void
}

/** A reader over bytes that hold elements. */
export function derReader(bytes: Uint8Array): DerReader {
  let offset = 0
  const next = (what: string): DerElement => {
    const read = readElement(bytes, offset, what)
    offset += read.raw.byteLength
    return read
  }
  const reader: DerReader = {
    done: () => offset === bytes.byteLength,
    peek: () => bytes[offset],
    take(tag, what) {
      const found = bytes[offset]
      if (found === undefined) throw new DerError(`${what} is missing`)
      if (found !== tag) throw new DerError(`${what} has tag 0x${found.toString(16)}, expected 0x${tag.toString(16)}`)
      return next(what)
    },
    takeIf: (tag) => (bytes[offset] === tag ? next(`element 0x${tag.toString(16)}`) : undefined),
    end(what) {
      if (!reader.done()) throw new DerError(`${what} has ${bytes.byteLength - offset} bytes too many`)
    },
  }
  return reader
}

/** Reads bytes that are exactly one element with this tag, and returns a reader of its contents. */
export function readOnly(bytes: Uint8Array, tag: number, what: string): DerReader {
  const outer = derReader(bytes)
  const inner = outer.take(tag, what)
  outer.end(what)
  return derReader(inner.content)
}

function readElement(bytes: Uint8Array, start: number, what: string): DerElement {
  const tag = bytes[start]
  const first = bytes[start + 1]
  if (tag === undefined || first === undefined) throw new DerError(`${what} is cut short`)
  if ((tag & 0x1f) === 0x1f) throw new DerError(`${what} has a long-form tag`)
  let header = 2
  let length = first
  if (first >= 0x80) {
    const count = first & 0x7f
    if (count === 0 || count > 3) throw new DerError(`${what} has an indefinite or absurd length`)
    length = 0
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[start + 2 + i] ?? Number.NaN)
    header += count
    // DER has one length for each size: a longer way to write it hides bytes from a second parser.
    if (!(length >= (count === 1 ? 0x80 : 256 ** (count - 1)))) throw new DerError(`${what} has a length not in DER`)
  }
  const end = start + header + length
  if (end > bytes.byteLength) throw new DerError(`${what} is cut short`)
  return { tag, content: bytes.subarray(start + header, end), raw: bytes.subarray(start, end) }
}

/** The dotted form of an OBJECT IDENTIFIER's contents. */
export function readOid(content: Uint8Array): string {
  const arcs: number[] = []
  let value = 0
  let fresh = true
  for (const byte of content) {
    if (fresh && byte === 0x80) throw new DerError('object identifier is padded')
    value = value * 128 + (byte & 0x7f)
    if (value > Number.MAX_SAFE_INTEGER) throw new DerError('object identifier is too large')
    fresh = byte < 0x80
    if (!fresh) continue
    if (arcs.length === 0)
      arcs.push(Math.min(2, Math.floor(value / 40)), value - 40 * Math.min(2, Math.floor(value / 40)))
    else arcs.push(value)
    value = 0
  }
  if (!fresh || arcs.length === 0) throw new DerError('object identifier is cut short')
  return arcs.join('.')
}

/** The text of a UTF8String, PrintableString or IA5String. */
export function readText(read: DerElement, what: string): string {
  if (read.tag === TAG.utf8String) {
    try {
      return fromUtf8(read.content)
    } catch {
      throw new DerError(`${what} is not UTF-8`)
    }
  }
  if (read.tag !== TAG.printableString && read.tag !== TAG.ia5String) {
    throw new DerError(`${what} is a string of an old kind (tag 0x${read.tag.toString(16)})`)
  }
  if (read.content.some((byte) => byte > 0x7e || byte < 0x20)) throw new DerError(`${what} is not printable ASCII`)
  return String.fromCharCode(...read.content)
}

/** Milliseconds since 1970 of a UTCTime or GeneralizedTime. */
export function readTime(reader: DerReader, what: string): number {
  const short = reader.takeIf(TAG.utcTime)
  const read = short ?? reader.take(TAG.generalizedTime, what)
  const text = String.fromCharCode(...read.content)
  const century = short ? (Number(text.slice(0, 2)) < 50 ? '20' : '19') : ''
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text)
  const ms = match && parseTime(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}Z`)
  if (typeof ms !== 'number') throw new DerError(`${what} is not a time of RFC 5280`)
  return ms
}

/** The whole bytes of a BIT STRING. */
export function readBits(content: Uint8Array, what: string): Uint8Array {
  if (content[0] !== 0) throw new DerError(`${what} does not end at a byte`)
  return content.subarray(1)
}
