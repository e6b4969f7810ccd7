/**
 * A target as its difference to a base: what both begin and end with is left out, and the rest is compressed with the
 * base's rest as dictionary. zstd reads at most the last 16 MiB of a dictionary, so a large rest is cut into pieces,
 * each with the part of the base around its own place.
 *
 *   prefix u32 · suffix u32 · pieces u32 · (raw u32 · dictionary start u32 · dictionary length u32 · encoded u32 ·
 * bytes)*
 */
import { concatBytes, unzstd, zstd } from '../../core/bytes.ts'
import { WireError } from '../validate.ts'

const PIECE = 2 * 1024 * 1024
// A piece's own place in the base, and as much before and after it: what was inserted or removed moves the rest by
// less.
const DICTIONARY = 3 * PIECE
const HEAD = 12
const PIECE_HEAD = 16

/** Encodes a target; without a base it is merely compressed. */
export function encodeDelta(target: Uint8Array, base: Uint8Array = new Uint8Array()): Uint8Array {
  const prefix = commonPrefix(target, base)
  const suffix = commonSuffix(target.subarray(prefix), base.subarray(prefix))
  const middle = target.subarray(prefix, target.byteLength - suffix)
  const old = base.subarray(prefix, base.byteLength - suffix)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < middle.byteLength; at += PIECE) {
    const raw = middle.subarray(at, at + PIECE)
    const { start, length } = placeOf(at, middle.byteLength, old.byteLength)
    const dictionary = old.subarray(start, start + length)
    const encoded = length === 0 ? zstd(raw) : zstd(raw, dictionary)
    pieces.push(numbers(raw.byteLength, start, length, encoded.byteLength), encoded)
  }
  return concatBytes([numbers(prefix, suffix, pieces.length / 2), ...pieces])
}

/** The target of a difference; a WireError when it does not fit the base or would be larger than `maxBytes`. */
export function decodeDelta(difference: Uint8Array, maxBytes: number, base: Uint8Array = new Uint8Array()): Uint8Array {
  const [prefix, suffix, count] = readNumbers(difference, 0, 3) as [number, number, number]
  if (prefix + suffix > base.byteLength) throw malformed('is not of this base')
  const old = base.subarray(prefix, base.byteLength - suffix)
  const parts = [base.subarray(0, prefix)]
  let size = prefix + suffix
  let at = HEAD
  for (let piece = 0; piece < count; piece++) {
    const [raw, start, length, encoded] = readNumbers(difference, at, 4) as [number, number, number, number]
    at += PIECE_HEAD
    size += raw
    // Before anything is decompressed: a small request must not become a large memory.
    if (size > maxBytes) throw new WireError('TooLarge', `difference makes more than ${maxBytes} bytes`)
    if (start + length > old.byteLength || at + encoded > difference.byteLength) throw malformed('is cut short')
    parts.push(decodePiece(difference.subarray(at, at + encoded), raw, old.subarray(start, start + length)))
    at += encoded
  }
  if (at !== difference.byteLength) throw malformed('has bytes at its end')
  parts.push(base.subarray(base.byteLength - suffix))
  return concatBytes(parts)
}

function decodePiece(encoded: Uint8Array, raw: number, dictionary: Uint8Array): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = dictionary.byteLength === 0 ? unzstd(encoded, raw) : unzstd(encoded, raw, dictionary)
  } catch {
    throw malformed('does not fit its base')
  }
  if (bytes.byteLength !== raw) throw malformed('has a piece of another length')
  return bytes
}

function placeOf(at: number, total: number, old: number): { readonly start: number; readonly length: number } {
  if (old <= DICTIONARY) return { start: 0, length: old }
  const centre = Math.floor((at / total) * old)
  const start = Math.min(Math.max(0, centre - PIECE), old - DICTIONARY)
  return { start, length: DICTIONARY }
}

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.byteLength, b.byteLength)
  let same = 0
  while (same < most && a[same] === b[same]) same += 1
  return same
}

function commonSuffix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.byteLength, b.byteLength)
  let same = 0
  while (same < most && a[a.byteLength - 1 - same] === b[b.byteLength - 1 - same]) same += 1
  return same
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length)
  const view = new DataView(bytes.buffer)
  for (const [index, value] of values.entries()) view.setUint32(4 * index, value)
  return bytes
}

function readNumbers(bytes: Uint8Array, at: number, count: number): number[] {
  if (at + 4 * count > bytes.byteLength) throw malformed('is cut short')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: count }, (_, index) => view.getUint32(at + 4 * index))
}

function malformed(problem: string): WireError {
  return new WireError('Malformed', `difference ${problem}`)
}
