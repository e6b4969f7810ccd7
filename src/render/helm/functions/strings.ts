/** Sprig's strings. Lengths and cuts are in bytes, as Go's are, unless the original counts runes. */
import { formatValue } from '../../gotemplate/format.ts'
import { sprintf } from '../../gotemplate/printf.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { forByteSearch, fromGoBytes, goBytes, goLength, goQuote, goSlice } from '../../gotemplate/go-string.ts'
import { stringSlice, typed } from '../../gotemplate/value.ts'
import { camelCase, kebabCase, lowerRune, snakeCase, upperRune } from './letter-case.ts'
import { count, repeat, strslice, strval } from './convert.ts'

/** White space as unicode.IsSpace has it. */
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** strings.TrimSpace, character by character: a regular expression would try every gap of a long text. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && SPACE.test(text[start]!)) start += 1
  while (end > start && SPACE.test(text[end - 1]!)) end -= 1
  return text.slice(start, end)
}

function trimSet(text: string, set: string): string {
  const runes = [...text]
  const trimmed = new Set(set)
  let [start, end] = [0, runes.length]
  while (start < end && trimmed.has(runes[start]!)) start += 1
  while (end > start && trimmed.has(runes[end - 1]!)) end -= 1
  return runes.slice(start, end).join('')
}

/** strings.Title: upper-cases each letter that follows a separator. */
function title(text: string): string {
  let previous = ' '
  let out = ''
  for (const char of text) {
    out += isSeparator(previous) ? upperRune(char) : char
    previous = char
  }
  return out
}

function isSeparator(char: string): boolean {
  const code = char.codePointAt(0)!
  if (code <= 0x7f) return !/[0-9A-Za-z_]/.test(char)
  if (/[\p{L}\p{Nd}]/u.test(char)) return false
  return SPACE.test(char)
}

function mapRunes(text: string, change: (char: string) => string): string {
  return Array.from(text, change).join('')
}

const upper = (text: string) => mapRunes(text, upperRune)
const lower = (text: string) => mapRunes(text, lowerRune)

/** goutils.Uncapitalize: the first letter of every word. */
function untitle(text: string): string {
  let atStart = true
  return mapRunes(text, (char) => {
    if (SPACE.test(char)) {
      atStart = true
      return char
    }
    const changed = atStart ? lower(char) : char
    atStart = false
    return changed
  })
}

/** goutils.SwapCase: a small letter at the start of a word becomes title case. */
function swapCase(text: string): string {
  let afterSpace = true
  return mapRunes(text, (char) => {
    let swapped = char
    if (/\p{Lu}|\p{Lt}/u.test(char)) swapped = lower(char)
    else if (/\p{Ll}/u.test(char)) swapped = afterSpace ? upperRune(char) : upper(char)
    afterSpace = SPACE.test(char)
    return swapped
  })
}

function trunc(length: number, text: string): string {
  const bytes = goLength(text)
  if (length < 0 && bytes + length > 0) return goSlice(text, bytes + length)
  return length >= 0 && bytes > length ? goSlice(text, 0, length) : text
}

function substr(start: number, end: number, text: string): string {
  const bytes = goLength(text)
  if (start < 0) return checkedSlice(text, 0, end)
  if (end < 0 || end > bytes) return checkedSlice(text, start, bytes)
  return checkedSlice(text, start, end)
}

function checkedSlice(text: string, start: number, end: number): string {
  const bytes = goLength(text)
  if (end < 0 || end > bytes)
    throw new GoError(`runtime error: slice bounds out of range [:${end}]${end > bytes ? ` with length ${bytes}` : ''}`)
  if (start > end) throw new GoError(`runtime error: slice bounds out of range [${start}:${end}]`)
  return goSlice(text, start, end)
}

/** goutils.AbbreviateFull, whose errors are nothing. */
function abbreviate(text: string, offsetIn: number, width: number): string {
  const length = goLength(text)
  if (width < 4) return ''
  if (length <= width) return text
  let offset = Math.min(offsetIn, length)
  if (length - offset < width - 3) offset = length - (width - 3)
  if (offset <= 4) return `${goSlice(text, 0, width - 3)}...`
  if (width < 7) return ''
  if (offset + width - 3 < length) return `...${abbreviate(goSlice(text, offset), 0, width - 3)}`
  return `...${goSlice(text, length - (width - 3))}`
}

/** Bytes as goutils takes them for runes: what is not ASCII comes out garbled, in Helm too. */
function byteRunes(text: string): string[] {
  return Array.from(goBytes(text), (byte) => String.fromCharCode(byte))
}

function initials(text: string): string {
  let out = ''
  let afterGap = true
  for (const char of byteRunes(text)) {
    const isGap = SPACE.test(char)
    if (!isGap && afterGap) out += char
    afterGap = isGap
  }
  return out
}

function noSpace(text: string): string {
  const kept = byteRunes(text).filter((char) => !SPACE.test(char))
  return kept.length === goLength(text) ? text : kept.join('')
}

/** goutils.Wrap: breaks at spaces; a longer word is broken only when asked. */
function wrap(given: string, widthIn: number, newline: string, breakLongWords: boolean): string {
  // In bytes: a rune may be cut.
  const wrapped = wrapBytes(byteRunes(given).join(''), widthIn, byteRunes(newline).join(''), breakLongWords)
  return fromGoBytes(Uint8Array.from(wrapped, (char) => char.charCodeAt(0)))
}

function wrapBytes(text: string, widthIn: number, newline: string, breakLongWords: boolean): string {
  const width = Math.max(widthIn, 1)
  const length = text.length
  let offset = 0
  let out = ''
  while (length - offset > width) {
    if (text[offset] === ' ') {
      offset += 1
      continue
    }
    const end = width + offset + 1
    let at = text.slice(offset, Math.min(end, length)).lastIndexOf(' ')
    at = at < 0 ? -1 : at + offset
    if (at >= offset) {
      out += text.slice(offset, at) + newline
      offset = at + 1
    } else if (breakLongWords) {
      out += text.slice(offset, width + offset) + newline
      offset += width
    } else {
      at = text.indexOf(' ', width + offset)
      if (at >= 0) {
        out += text.slice(offset, at) + newline
        offset = at + 1
      } else {
        out += text.slice(offset)
        offset = length
      }
    }
  }
  return out + text.slice(offset)
}

function indent(spaces: number, text: string): string {
  const pad = repeat(' ', spaces)
  return pad + text.replaceAll('\n', `\n${pad}`)
}

/** strings.Split: an empty separator splits into runes. */
function splitText(text: string, separator: string, limit = -1): string[] {
  if (limit === 0) return []
  if (separator === '') return limited([...text], '', limit)
  const { texts, back } = forByteSearch([separator, text])
  return limited(texts[1]!.split(texts[0]!), texts[0]!, limit).map(back)
}

function limited(parts: string[], separator: string, limit: number): string[] {
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

function numbered(parts: readonly string[]): Map<string, string> {
  return typed(new Map(parts.map((part, index) => [`_${index}`, part])), { type: 'map[string]string', missing: '' })
}

function cat(values: readonly unknown[]): string {
  const present = values.filter((value) => value !== null && value !== undefined)
  return sprintf(trimSpace('%v '.repeat(present.length)), present)
}

/** strings.ReplaceAll: an empty text is found before every rune and at the end. */
function replaceAll(text: string, from: string, to: string): string {
  if (from !== '') {
    const { texts, back } = forByteSearch([from, to, text])
    return back(texts[2]!.split(texts[0]!).join(texts[1]))
  }
  return to + Array.from(text, (char) => char + to).join('')
}

const text1 = (call: (text: string) => unknown) => goFunction(['string'], ([text]) => call(text as string))
const text2 = (call: (a: string, b: string) => unknown) =>
  goFunction(['string', 'string'], ([a, b]) => call(a as string, b as string))
/** Functions that search a text byte by byte. */
const bytes2 = (call: (part: string, text: string) => string | boolean) =>
  text2((part, text) => {
    const { texts, back } = forByteSearch([part, text])
    const found = call(texts[0]!, texts[1]!)
    return typeof found === 'string' ? back(found) : found
  })
const quoteAll = (quoted: (value: unknown) => string) =>
  goFunction(
    [],
    (values) =>
      values
        .filter((value) => value !== null && value !== undefined)
        .map(quoted)
        .join(' '),
    'any',
  )
const trimAll = text2((set, text) => trimSet(text, set))

/**
 * What goes through a text letter by letter: Go leaves a replacement character for each byte of a letter that was cut.
 */
const letters = (change: (text: string) => string) => text1((text) => change(text.toWellFormed()))

/** Strings. */
export const STRING_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  hello: goFunction([], () => 'Hello!'),
  abbrev: goFunction(['int', 'string'], ([width, text]) =>
    count(width) < 4 ? text : abbreviate(text as string, 0, count(width)),
  ),
  abbrevboth: goFunction(['int', 'int', 'string'], ([left, right, text]) =>
    count(right) < 4 || (count(left) > 0 && count(right) < 7)
      ? text
      : abbreviate(text as string, count(left), count(right)),
  ),
  trunc: goFunction(['int', 'string'], ([length, text]) => trunc(count(length), text as string)),
  trim: text1(trimSpace),
  upper: letters(upper),
  lower: letters(lower),
  title: letters(title),
  untitle: letters(untitle),
  substr: goFunction(['int', 'int', 'string'], ([start, end, text]) =>
    substr(count(start), count(end), text as string),
  ),
  repeat: goFunction(['int', 'string'], ([times, text]) => repeat(text as string, count(times))),
  trimall: trimAll,
  trimAll,
  trimSuffix: bytes2((suffix, text) => (suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text)),
  trimPrefix: bytes2((prefix, text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  nospace: text1(noSpace),
  initials: text1(initials),
  swapcase: letters(swapCase),
  snakecase: text1(snakeCase),
  camelcase: letters(camelCase),
  kebabcase: text1(kebabCase),
  wrap: goFunction(['int', 'string'], ([width, text]) => wrap(text as string, count(width), '\n', false)),
  wrapWith: goFunction(['int', 'string', 'string'], ([width, newline, text]) =>
    wrap(text as string, count(width), (newline as string) || '\n', true),
  ),
  contains: bytes2((part, text) => text.includes(part)),
  hasPrefix: bytes2((prefix, text) => text.startsWith(prefix)),
  hasSuffix: bytes2((suffix, text) => text.endsWith(suffix)),
  quote: quoteAll((value) => goQuote(strval(value))),
  squote: quoteAll((value) => `'${formatValue(value)}'`),
  cat: goFunction([], cat, 'any'),
  indent: goFunction(['int', 'string'], ([spaces, text]) => indent(count(spaces), text as string)),
  nindent: goFunction(['int', 'string'], ([spaces, text]) => `\n${indent(count(spaces), text as string)}`),
  replace: goFunction(['string', 'string', 'string'], ([from, to, text]) =>
    replaceAll(text as string, from as string, to as string),
  ),
  plural: goFunction(['string', 'string', 'int'], ([one, many, n]) => (count(n) === 1 ? one : many)),
  toString: goFunction(['any'], ([value]) => strval(value)),
  toStrings: goFunction(['any'], ([value]) => stringSlice(strslice(value))),
  split: text2((separator, text) => numbered(splitText(text, separator))),
  splitList: text2((separator, text) => stringSlice(splitText(text, separator))),
  splitn: goFunction(['string', 'int', 'string'], ([separator, n, text]) =>
    numbered(splitText(text as string, separator as string, count(n))),
  ),
  join: goFunction(['string', 'any'], ([separator, values]) => strslice(values).join(separator as string)),
}
