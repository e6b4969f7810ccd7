/** The order in which Go's emitters write keys: natural, so that `a9` is before `a10`. */

import { entriesOf } from '../go-json.ts'

/**
 * The entries of a mapping in that order. It is not always one: `a10`, `a1b`, `a2` go round in a circle, where Go's
 * order changes from run to run; sorting them plainly first keeps ours the same.
 */
export function sortedEntries(mapping: object, v3: boolean): [string, unknown][] {
  const entries = entriesOf(mapping)
  if (entries.length < 2) return entries
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).sort(([a], [b]) => compareKeys(a, b, v3))
}

/** Compares two keys as yaml.v2 sorts them, or as yaml.v3 does, which differs after digits. */
export function compareKeys(a: string, b: string, v3: boolean): number {
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === length) return a.length - b.length
  // Go compares whole characters.
  if (i > 0 && isLowSurrogate(a.charCodeAt(i)) && isLowSurrogate(b.charCodeAt(i))) i--
  return isLess(a, b, i, v3) ? -1 : 1
}

// Both have a character at `i`, and it is the first that differs.
function isLess(a: string, b: string, i: number, v3: boolean): boolean {
  const charA = a.codePointAt(i)!
  const charB = b.codePointAt(i)!
  const letterA = isLetter(charA)
  const letterB = isLetter(charB)
  if (letterA && letterB) return charA < charB
  if (letterA || letterB) {
    const afterDigits = v3 && i > 0 && isDigit(codePointBefore(a, i))
    return afterDigits ? letterA : letterB
  }
  const start = (charA === 0x30 || charB === 0x30) && followsDigits(a, i) ? '1' : ''
  const numberA = digitsFrom(a, i, start)
  const numberB = digitsFrom(b, i, start)
  if (numberA.value !== numberB.value) return numberA.value < numberB.value
  if (numberA.length !== numberB.length) return numberA.length < numberB.length
  return charA < charB
}

// Whether digits that are not all zero stand right before: then a zero counts.
function followsDigits(text: string, i: number): boolean {
  for (let k = i; k > 0;) {
    const before = codePointBefore(text, k)
    if (!isDigit(before)) return false
    if (before !== 0x30) return true
    k -= before > 0xffff ? 2 : 1
  }
  return false
}

// Go adds digits up in an int64, which may wrap.
function digitsFrom(text: string, from: number, start: string): { value: bigint; length: number } {
  let value = start === '' ? 0n : 1n
  let length = 0
  for (let i = from; i < text.length; length++) {
    const char = text.codePointAt(i)!
    if (!isDigit(char)) break
    value = BigInt.asIntN(64, value * 10n + BigInt(char - 0x30))
    i += char > 0xffff ? 2 : 1
  }
  return { value, length }
}

function codePointBefore(text: string, i: number): number {
  const unit = text.charCodeAt(i - 1)
  return isLowSurrogate(unit) && i > 1 ? text.codePointAt(i - 2)! : unit
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}

function isLetter(char: number): boolean {
  if (char < 0x80) return (char >= 0x41 && char <= 0x5a) || (char >= 0x61 && char <= 0x7a)
  return /^\p{L}$/u.test(String.fromCodePoint(char))
}

function isDigit(char: number): boolean {
  if (char < 0x80) return char >= 0x30 && char <= 0x39
  return /^\p{Nd}$/u.test(String.fromCodePoint(char))
}
