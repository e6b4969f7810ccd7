/** Writes text with Go's rules for line breaks, indentation and white space; knows nothing of documents. */
import { isBlank, isBlankOrEnd, isBreak } from '../chars.ts'
import { isPrintable } from './scalar-analysis.ts'

/** How lines are made. */
export interface PrinterOptions {
  /** yaml.v3 keeps track of indentation in another way than yaml.v2. */
  readonly v3: boolean
  readonly indent: number
  /** Where lines are folded. */
  readonly width: number
}

/** The text so far and where it stands. */
export class Printer {
  text = ''
  column = 0
  indent = -1
  /** Whether the last character was white space. */
  whitespace = true
  /** Whether the line has nothing but indentation and `-`, `?` or `:`. */
  indention = true
  /** The indentation of the foot comment just written, which is kept apart from what follows; or -1. */
  footIndent = -1
  readonly options: PrinterOptions

  constructor(options: PrinterOptions) {
    this.options = options
  }

  /** Writes text that has no line break. */
  put(text: string): void {
    this.text += text
    this.column += text.length
  }

  putBreak(): void {
    this.text += '\n'
    this.column = 0
    if (this.options.v3) this.indention = true
  }

  /** Starts a new line unless it is already there, and indents it. */
  putIndent(): void {
    const indent = Math.max(this.indent, 0)
    if (!this.indention || this.column > indent || (this.column === indent && !this.whitespace)) this.putBreak()
    if (this.footIndent === indent) this.putBreak()
    if (this.column < indent) this.put(' '.repeat(indent - this.column))
    this.whitespace = true
    if (!this.options.v3) this.indention = true
    this.footIndent = -1
  }

  /** Writes `-`, `:`, brackets, quotes and the like. */
  putIndicator(indicator: string, needsSpace: boolean, isSpace: boolean, isIndention: boolean): void {
    if (needsSpace && !this.whitespace) this.put(' ')
    this.put(indicator)
    this.whitespace = isSpace
    this.indention &&= isIndention
  }

  /** Writes a tag or an anchor. */
  putWord(word: string, needsSpace: boolean): void {
    if (needsSpace && !this.whitespace) this.put(' ')
    this.put(word)
    this.whitespace = false
    this.indention = false
  }

  putPlain(value: string, allowBreaks: boolean): void {
    if (!this.whitespace && (value !== '' || !this.options.v3)) this.put(' ')
    this.#putFolded(value, allowBreaks, false)
    if (value !== '' || !this.options.v3) this.whitespace = false
    this.indention = false
  }

  putSingleQuoted(value: string, allowBreaks: boolean): void {
    this.putIndicator("'", true, false, false)
    this.#putFolded(value, allowBreaks, true)
    this.putIndicator("'", false, false, false)
    this.whitespace = false
    this.indention = false
  }

  // Plain and single-quoted text: breaks are doubled, and a line is folded at a single space.
  #putFolded(value: string, allowBreaks: boolean, quoted: boolean): void {
    const oneLine = quoted ? value.replaceAll("'", "''") : value
    if (!hasBreak(value) && (!allowBreaks || this.column + oneLine.length <= this.options.width)) {
      this.#putCharacters(oneLine)
      if (value !== '') this.indention = false
      return
    }
    let spaces = false
    let breaks = false
    for (let i = 0; i < value.length;) {
      const char = characterAt(value, i)
      if (char === ' ') {
        const inside = !quoted || (i > 0 && i < value.length - 1)
        if (allowBreaks && !spaces && this.column > this.options.width && inside && value[i + 1] !== ' ')
          this.putIndent()
        else this.#putCharacter(char)
        spaces = true
      } else if (isBreak(char.charCodeAt(0))) {
        if (!breaks && char === '\n') this.putBreak()
        this.#putValueBreak(char)
        breaks = true
      } else {
        if (breaks) this.putIndent()
        this.#putCharacter(quoted && char === "'" ? "''" : char)
        this.indention = false
        spaces = false
        breaks = false
      }
      i += char.length
    }
  }

  putDoubleQuoted(value: string, allowBreaks: boolean): void {
    this.putIndicator('"', true, false, false)
    // go-yaml looks for a byte order mark at the start of the text at each of its characters.
    const escapeAll = value.charCodeAt(0) === 0xfeff
    let spaces = false
    for (let i = 0; i < value.length;) {
      const char = characterAt(value, i)
      const c = char.charCodeAt(0)
      if (escapeAll || !isPrintable(c) || isBreak(c) || char === '"' || char === '\\') {
        this.put(escaped(char))
        spaces = false
      } else if (char === ' ') {
        if (allowBreaks && !spaces && this.column > this.options.width && i > 0 && i < value.length - 1) {
          this.putIndent()
          if (value[i + 1] === ' ') this.put('\\')
        } else this.put(char)
        spaces = true
      } else {
        this.#putCharacter(char)
        spaces = false
      }
      i += char.length
    }
    this.putIndicator('"', false, false, false)
    this.whitespace = false
    this.indention = false
  }

  /** The hints after `|` or `>`; whether the text leaves its end open. */
  putBlockHints(value: string): boolean {
    const first = value.charCodeAt(0)
    if (first === 0x20 || isBreak(first)) this.putIndicator(String(this.options.indent), false, false, false)
    const last = value.length - 1
    if (value === '' || !isBreak(value.charCodeAt(last))) {
      this.putIndicator('-', false, false, false)
      return false
    }
    if (last > 0 && !isBreak(value.charCodeAt(last - 1))) return false
    this.putIndicator('+', false, false, false)
    return true
  }

  /** The lines of a literal scalar, after its hints. */
  putLiteralLines(value: string): void {
    if (!this.options.v3) this.indention = true
    this.whitespace = true
    let breaks = true
    for (let i = 0; i < value.length;) {
      if (isBreak(value.charCodeAt(i))) {
        this.#putValueBreak(value[i]!)
        breaks = true
        i++
        continue
      }
      if (breaks) this.putIndent()
      let end = i
      while (end < value.length && !isBreak(value.charCodeAt(end))) end++
      this.#putCharacters(value.slice(i, end))
      this.indention = false
      breaks = false
      i = end
    }
  }

  /** The lines of a folded scalar, after its hints. */
  putFoldedLines(value: string): void {
    if (!this.options.v3) this.indention = true
    this.whitespace = true
    let breaks = true
    let leadingSpaces = true
    for (let i = 0; i < value.length;) {
      const char = characterAt(value, i)
      if (isBreak(char.charCodeAt(0))) {
        // go-yaml looks at the start of the text for what follows the breaks.
        if (!breaks && !leadingSpaces && char === '\n' && !isBlankOrEnd(firstAfterBreaks(value))) this.putBreak()
        this.#putValueBreak(char)
        breaks = true
      } else {
        if (breaks) {
          this.putIndent()
          leadingSpaces = isBlank(char.charCodeAt(0))
        }
        if (!breaks && char === ' ' && value[i + 1] !== ' ' && this.column > this.options.width) this.putIndent()
        else this.#putCharacter(char)
        this.indention = false
        breaks = false
      }
      i += char.length
    }
  }

  /** Writes a comment of one or more lines, each with its `#`, and ends the line. */
  putComment(comment: string): void {
    let breaks = false
    let pound = false
    for (let i = 0; i < comment.length;) {
      const char = characterAt(comment, i)
      if (isBreak(char.charCodeAt(0))) {
        this.#putValueBreak(char)
        breaks = true
        pound = false
      } else {
        if (breaks) this.putIndent()
        if (!pound && char !== '#') this.put('# ')
        pound = true
        this.#putCharacter(char)
        this.indention = false
        breaks = false
      }
      i += char.length
    }
    if (!breaks) this.putBreak()
    this.whitespace = true
  }

  #putCharacter(char: string): void {
    this.text += char
    this.column += char === "''" ? 2 : 1
  }

  #putCharacters(text: string): void {
    this.text += text
    this.column += characterCount(text)
  }

  // A line break that belongs to the value; LS and PS stay what they are.
  #putValueBreak(char: string): void {
    if (char === '\n') this.putBreak()
    else {
      this.text += char
      this.column = 0
      if (this.options.v3) this.indention = true
    }
    if (!this.options.v3) this.indention = true
  }
}

const BREAK = /[\n\r\u0085\u2028\u2029]/

function hasBreak(value: string): boolean {
  return BREAK.test(value)
}

function characterAt(value: string, i: number): string {
  return String.fromCodePoint(value.codePointAt(i)!)
}

function characterCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--
  return count
}

// NUL, as at the end of a text, when there is nothing but breaks.
function firstAfterBreaks(value: string): number {
  let i = 0
  while (i < value.length && isBreak(value.charCodeAt(i))) i++
  return i < value.length ? value.charCodeAt(i) : 0
}

const ESCAPES = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x85', '\\N'],
  ['\xa0', '\\_'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

function escaped(char: string): string {
  const escape = ESCAPES.get(char)
  if (escape !== undefined) return escape
  const code = char.codePointAt(0)!
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
