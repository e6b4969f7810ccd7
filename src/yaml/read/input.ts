/**
 * Makes the text that the scanner walks. Go's reader decodes 512 bytes at a time and fails on the first bad byte of a
 * piece as soon as the scanner wants that piece, so a bad byte only matters if the scanner gets near it: the text is
 * cut where the bad piece starts, and what is wrong is remembered for when the scanner reaches the cut.
 */
import { utf8 } from '../../core/bytes.ts'
import type { Position } from '../yaml.ts'

/** Why the text ends early. */
export interface InputProblem {
  readonly problem: string
  readonly position: Position
}

/** Text without byte order mark, and why it was cut, if it was. */
export interface Input {
  readonly text: string
  readonly problem: InputProblem | undefined
}

const PIECE_BYTES = 512
const BOM = 0xfeff

// oxlint-disable-next-line no-control-regex -- exactly the characters that YAML does not allow
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/

// Made once: making a decoder costs more than decoding a small file.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes and checks a text. */
export function readInput(source: string | Uint8Array): Input {
  if (typeof source === 'string') return checked(source.toWellFormed(), undefined)
  if (source[0] === 0xff && source[1] === 0xfe) return utf16(source, 0)
  if (source[0] === 0xfe && source[1] === 0xff) return utf16(source, 8)
  try {
    return checked(decoder.decode(source), undefined)
  } catch {
    const { end, ...bad } = firstInvalid(source)
    return checked(new TextDecoder('utf-8', { ignoreBOM: true }).decode(source.subarray(0, end)), bad)
  }
}

// `badEnd` says what is wrong with the bytes right after the text, if anything is.
function checked(whole: string, badEnd: BadBytes | undefined): Input {
  const forbidden = FORBIDDEN.exec(whole)
  const start = whole.charCodeAt(0) === BOM ? 1 : 0
  if (!forbidden && !badEnd) return { text: start === 0 ? whole : whole.slice(1), problem: undefined }
  const bad = forbidden
    ? { problem: 'control characters are not allowed', width: utf8(forbidden[0]).length }
    : { problem: badEnd!.problem, width: badEnd!.width }
  const badIndex = forbidden ? forbidden.index : whole.length
  const problem = { problem: bad.problem, position: positionAt(whole, badIndex) }
  // That a character is incomplete only shows at the end.
  const cut = bad.problem.startsWith('incomplete') ? badIndex : pieceStart(whole.slice(0, badIndex), bad.width)
  return { text: whole.slice(start, Math.max(start, cut)), problem }
}

interface BadBytes {
  readonly problem: string
  readonly width: number
}

// Where the piece starts that holds the bad bytes which follow this text.
function pieceStart(before: string, badWidth: number): number {
  const bytes = utf8(before)
  let start = 0
  while (start + PIECE_BYTES < bytes.length + badWidth) {
    start = Math.min(start + PIECE_BYTES, bytes.length)
    // A character that is not complete waits for the next piece.
    while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start--
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, start)).length
}

function positionAt(whole: string, index: number): Position {
  const before = whole.slice(0, index).split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  return { line: before.length, column: [...before.at(-1)!].length + 1 }
}

function utf16(source: Uint8Array, firstByteShift: 0 | 8): Input {
  const unit = (i: number): number => (source[i]! << firstByteShift) | (source[i + 1]! << (8 - firstByteShift))
  let text = ''
  for (let i = 2; i < source.length; i += 2) {
    if (i + 2 > source.length) return checked(text, { problem: 'incomplete UTF-16 character', width: 2 })
    const value = unit(i)
    if ((value & 0xfc00) === 0xdc00) return checked(text, { problem: 'unexpected low surrogate area', width: 2 })
    if ((value & 0xfc00) === 0xd800) {
      if (i + 4 > source.length) return checked(text, { problem: 'incomplete UTF-16 surrogate pair', width: 4 })
      const low = unit(i + 2)
      if ((low & 0xfc00) !== 0xdc00) return checked(text, { problem: 'expected low surrogate area', width: 4 })
      text += String.fromCharCode(value, low)
      i += 2
    } else text += String.fromCharCode(value)
  }
  return checked(text, undefined)
}

function firstInvalid(bytes: Uint8Array): BadBytes & { end: number } {
  let i = 0
  while (i < bytes.length) {
    const lead = bytes[i]!
    const width = lead < 0x80 ? 1 : lead >> 5 === 6 ? 2 : lead >> 4 === 14 ? 3 : lead >> 3 === 30 ? 4 : 0
    if (width === 0) return { end: i, width: 1, problem: 'invalid leading UTF-8 octet' }
    if (i + width > bytes.length) return { end: i, width, problem: 'incomplete UTF-8 octet sequence' }
    let value = width === 1 ? lead : lead & (0x7f >> width)
    for (let k = 1; k < width; k++) {
      const octet = bytes[i + k]!
      if ((octet & 0xc0) !== 0x80) return { end: i, width, problem: 'invalid trailing UTF-8 octet' }
      value = (value << 6) | (octet & 0x3f)
    }
    if (value < LEAST[width]!) return { end: i, width, problem: 'invalid length of a UTF-8 sequence' }
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
      return { end: i, width, problem: 'invalid Unicode character' }
    }
    i += width
  }
  return { end: i, width: 1, problem: 'invalid UTF-8' }
}

// The smallest character that needs so many bytes.
const LEAST = [0, 0, 0x80, 0x800, 0x10000]
