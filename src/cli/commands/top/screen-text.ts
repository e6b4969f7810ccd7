/** Text on a screen of fixed size: coloured parts that are cut by the columns they take. */
import type { Color } from '../../print/terminal.ts'

/** A part of a line. */
export interface Span {
  readonly text: string
  readonly color?: Color
}

export type Spans = readonly (Span | string)[]

/** Paints a part. */
export type Paint = (color: Color, text: string) => string

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** East Asian wide characters and pictures take two columns. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u
/** What a terminal would obey instead of showing it: control characters and marks that turn the direction. */
const UNSAFE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** A text of an object, as it may reach a terminal. */
function safeText(text: string): string {
  return text.replaceAll(UNSAFE, ' ')
}

/** Names and signs of one column each; taking them apart would take the time of thousands of clusters. */
const PLAIN = /^[\x20-\x7e✔↻…◌≠✗–█░▸]*$/

/** Columns that a text takes. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemes.segment(text)) columns += WIDE.test(segment) ? 2 : 1
  return columns
}

function* graphemesOf(text: string): Iterable<string> {
  for (const { segment } of graphemes.segment(safeText(text))) yield segment
}

/** A line of at most `columns` columns. */
export function cutLine(spans: Spans, columns: number, paint: Paint): string {
  let left = columns
  let line = ''
  for (const span of spans) {
    const { text, color } = typeof span === 'string' ? { text: span, color: undefined } : span
    let kept = ''
    for (const segment of PLAIN.test(text) ? text.slice(0, left) : graphemesOf(text)) {
      const width = WIDE.test(segment) ? 2 : 1
      if (width > left) {
        left = 0
        break
      }
      kept += segment
      left -= width
    }
    if (kept !== '') line += color === undefined ? kept : paint(color, kept)
    if (left === 0) break
  }
  return line
}

/** A text in lines of at most `columns` columns, broken between words where it can be. */
export function wrapText(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(safeText(line), Math.max(1, columns)))
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<= )/)) {
    if (columnsOf(current + word.trimEnd()) <= columns) {
      current += word
      continue
    }
    if (current.trim() !== '') lines.push(current.trimEnd())
    current = ''
    for (const { segment } of graphemes.segment(word)) {
      if (columnsOf(current + segment) > columns) {
        lines.push(current)
        current = ''
      }
      current += segment
    }
  }
  return [...lines, current.trimEnd()]
}
