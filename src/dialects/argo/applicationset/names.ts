// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** Names as Argo CD makes them of other texts. */
import { goBytes, goSlice } from '../../../render/gotemplate/go-string.ts'

/** A DNS name: lower case, other characters are dashes, at most 253 of them. */
export function normalizeName(text: string): string {
  const name = lowerCase(text)
    .replaceAll(/[^-a-z0-9.]/gu, '-')
    .slice(0, 253)
  return trimmed(name, '-.')
}

/** Go's lower case: one character for one. */
function lowerCase(text: string): string {
  return text.replaceAll(/[^\u0000-\u007f]/gu, (char) => [...char.toLowerCase()][0]!).toLowerCase()
}

// What slug puts in place of characters in English, before letters lose their marks.
const PUT: Readonly<Record<string, string>> = {
  '&': 'and',
  '@': 'at',
  '"': '',
  "'": '',
  '’': '',
  '‒': '-',
  '–': '-',
  '—': '-',
  '―': '-',
}
// Letters that are not a plain letter with a mark.
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  ø: 'o',
  Ø: 'O',
  œ: 'oe',
  Œ: 'OE',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
}

/**
 * A slug: words with dashes, at most `max` bytes; `smart` cuts at a word. Letters of other alphabets, which slug
 * spells in Latin, are dropped.
 */
export function slugify(text: string, max: number, smart: boolean): string {
  let slug = [...text.trim()]
    .map((char) => PUT[char] ?? LETTERS[char] ?? char)
    .join('')
    .normalize('NFKD')
    .replaceAll(/[^\u0000-\u007f]/gu, '')
    .toLowerCase()
  if (!smart && slug.length >= max) slug = slug.slice(0, max)
  slug = trimmed(slug.replaceAll(/[^a-zA-Z0-9_-]/g, '-').replaceAll(/-+/g, '-'), '-_')
  if (max <= 0 || !smart || slug.length <= max) return slug
  const cut = slug.lastIndexOf('-', max)
  return slug.slice(0, cut < 0 ? max : cut)
}

function trimmed(text: string, chars: string): string {
  let start = 0
  let end = text.length
  while (start < end && chars.includes(text[start]!)) start += 1
  while (end > start && chars.includes(text[end - 1]!)) end -= 1
  return text.slice(start, end)
}

/** The first bytes of a text. */
export function firstBytes(text: string, count: number): string {
  return goBytes(text).length <= count ? text : goSlice(text, 0, count)
}
