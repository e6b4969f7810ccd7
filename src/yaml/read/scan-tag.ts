/** Anchors, aliases, tags and directives. */
import { hexValue, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, isWordChar, HASH } from '../chars.ts'
import { goUtf8 } from '../go-text.ts'
import type { Scanner } from './scanner.ts'
import * as t from './token.ts'
import { Token, markOf } from './token.ts'
import type { Mark } from './token.ts'

const BANG = 0x21
const PERCENT = 0x25

// What may follow an anchor's name without a blank: ? : , ] } % @ `
const AFTER_ANCHOR = new Set([0x3f, 0x3a, 0x2c, 0x5d, 0x7d, 0x25, 0x40, 0x60])

// What may stand in the address of a tag, besides word characters.
const URI_CHARS = new Set([...";/?:@&=+$,.!~*'()[]%"].map((c) => c.charCodeAt(0)))

/** Scans `&name` or `*name`. */
export function scanAnchor(type: typeof t.ANCHOR | typeof t.ALIAS): (scanner: Scanner) => Token {
  return type === t.ANCHOR ? scanAnchorName : scanAliasName
}

function scanAnchorName(scanner: Scanner): Token {
  return scanName(scanner, new Token(t.ANCHOR, scanner, 0))
}

function scanAliasName(scanner: Scanner): Token {
  return scanName(scanner, new Token(t.ALIAS, scanner, 0))
}

function scanName(scanner: Scanner, token: Token): Token {
  scanner.index++
  token.value = takeWord(scanner)
  const after = scanner.code
  if (token.value === '' || !(isBlankOrEnd(after) || AFTER_ANCHOR.has(after))) {
    scanner.fail('did not find expected alphabetic or numeric character', token)
  }
  return token
}

function takeWord(scanner: Scanner): string {
  const start = scanner.index
  while (isWordChar(scanner.code)) scanner.index++
  return scanner.text.slice(start, scanner.index)
}

/** Scans `!suffix`, `!handle!suffix` or `!<address>`. */
export function scanTag(scanner: Scanner): Token {
  const token = new Token(t.TAG, scanner, 0)
  if (scanner.codeAt(1) === 0x3c) {
    scanner.index += 2
    token.suffix = scanUri(scanner, '', token)
    if (scanner.code !== 0x3e) scanner.fail("did not find the expected '>'", token)
    scanner.index++
  } else {
    const handle = scanHandle(scanner, false, token)
    if (handle.length > 1 && handle.endsWith('!')) {
      token.value = handle
      token.suffix = scanUri(scanner, '', token)
    } else {
      const suffix = scanUri(scanner, handle, token)
      // A lone `!` is a tag without handle.
      token.value = suffix === '' ? '' : '!'
      token.suffix = suffix === '' ? '!' : suffix
    }
  }
  if (!isBlankOrEnd(scanner.code)) scanner.fail('did not find expected whitespace or line break', token)
  return token
}

function scanHandle(scanner: Scanner, directive: boolean, start: Mark): string {
  if (scanner.code !== BANG) scanner.fail("did not find expected '!'", start)
  scanner.index++
  const handle = `!${takeWord(scanner)}`
  if (scanner.code === BANG) {
    scanner.index++
    return `${handle}!`
  }
  if (directive && handle !== '!') scanner.fail("did not find expected '!'", start)
  return handle
}

// `head` is what was taken for a handle and is the start of the address after all.
function scanUri(scanner: Scanner, head: string, start: Mark): string {
  let uri = head.slice(1)
  let found = head !== ''
  for (;;) {
    const c = scanner.code
    if (!isWordChar(c) && !URI_CHARS.has(c)) break
    if (c === PERCENT) uri += scanEscapedCharacter(scanner, start)
    else {
      uri += String.fromCharCode(c)
      scanner.index++
    }
    found = true
  }
  if (!found) scanner.fail('did not find expected tag URI', start)
  return uri
}

function scanEscapedCharacter(scanner: Scanner, start: Mark): string {
  const octets: number[] = []
  let width = 1
  while (octets.length < width) {
    const high = scanner.code === PERCENT ? hexValue(scanner.codeAt(1)) : -1
    const low = high < 0 ? -1 : hexValue(scanner.codeAt(2))
    if (low < 0) scanner.fail('did not find URI escaped octet', start)
    const octet = high * 16 + low
    if (octets.length === 0) {
      width = octet < 0x80 ? 1 : octet >> 5 === 6 ? 2 : octet >> 4 === 14 ? 3 : octet >> 3 === 30 ? 4 : 0
      if (width === 0) scanner.fail('found an incorrect leading UTF-8 octet', start)
    } else if ((octet & 0xc0) !== 0x80) scanner.fail('found an incorrect trailing UTF-8 octet', start)
    octets.push(octet)
    scanner.index += 3
  }
  return goUtf8(Uint8Array.from(octets))
}

/** Scans `%YAML 1.1` or `%TAG !handle! prefix`, with the rest of the line. */
export function scanDirective(scanner: Scanner): Token {
  const start = markOf(scanner)
  scanner.index++
  const name = takeWord(scanner)
  if (name === '') scanner.fail('could not find expected directive name', start)
  if (!isBlankOrEnd(scanner.code)) scanner.fail('found unexpected non-alphabetical character', start)
  let token: Token
  if (name === 'YAML') token = scanVersion(scanner, start)
  else if (name === 'TAG') token = scanTagDirective(scanner, start)
  else return scanner.fail('found unknown directive name', start)
  skipBlanks(scanner)
  if (scanner.code === HASH) scanner.moveToLineEnd()
  if (!isBreakOrEnd(scanner.code)) scanner.fail('did not find expected comment or line break', start)
  if (isBreak(scanner.code)) scanner.takeBreak()
  return token
}

function skipBlanks(scanner: Scanner): void {
  while (isBlank(scanner.code)) scanner.index++
}

function scanVersion(scanner: Scanner, start: Mark): Token {
  skipBlanks(scanner)
  const major = scanVersionNumber(scanner, start)
  if (scanner.code !== 0x2e) scanner.fail("did not find expected digit or '.' character", start)
  scanner.index++
  const token = new Token(t.VERSION_DIRECTIVE, start, 0)
  token.value = `${major}.${scanVersionNumber(scanner, start)}`
  return token
}

function scanVersionNumber(scanner: Scanner, start: Mark): number {
  let value = 0
  let length = 0
  while (isDigit(scanner.code)) {
    if (++length > 2) scanner.fail('found extremely long version number', start)
    value = value * 10 + scanner.code - 0x30
    scanner.index++
  }
  if (length === 0) scanner.fail('did not find expected version number', start)
  return value
}

function scanTagDirective(scanner: Scanner, start: Mark): Token {
  const token = new Token(t.TAG_DIRECTIVE, start, 0)
  skipBlanks(scanner)
  token.value = scanHandle(scanner, true, start)
  if (!isBlank(scanner.code)) scanner.fail('did not find expected whitespace', start)
  skipBlanks(scanner)
  token.suffix = scanUri(scanner, '', start)
  if (!isBlankOrEnd(scanner.code)) scanner.fail('did not find expected whitespace or line break', start)
  return token
}
