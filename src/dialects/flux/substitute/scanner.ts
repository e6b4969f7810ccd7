// Tested by src/dialects/flux/recorded.contract.test.ts.
/**
 * The scanner of substitutions. What counts as a token depends on where the parser stands, so the parser says before
 * each token which characters it accepts and which marks it looks for.
 */
import { runeAt } from '../text/byte-text.ts'

/** What the scanner found. */
export type Token = 'end' | 'text' | 'open' | 'close' | 'illegal'

/** Says whether a text goes on with this character; `width` is its length in bytes with the character. */
export type Accepts = (char: string, width: number) => boolean

/** What the next token may be. */
export interface Expected {
  /** The characters of a text; without it no text is expected. */
  readonly text?: Accepts
  /** If true, `${` begins a substitution. */
  readonly open?: boolean
  /** If true, `}` ends one. */
  readonly close?: boolean
  /** If true, `$$`, and inside a substitution `\\` and `\/`, stand for their second character. */
  readonly escapes?: boolean
}

// Flux's scanner takes the character NUL for the end of the text.
const END = '\0'

/** Reads tokens from a text. */
export class Scanner {
  readonly #text: string
  #at = 0
  #width = 0
  #token = ''
  /** Inside a substitution a backslash escapes, too. */
  escapesBackslash = false

  constructor(text: string) {
    this.#text = text
  }

  /** The text of the last token, without escaping characters. */
  get token(): string {
    return this.#token
  }

  /** The next character without reading it. */
  peek(): string {
    return runeAt(this.#text, this.#at)?.char ?? END
  }

  /** The character after the next. */
  peekSecond(): string {
    const first = runeAt(this.#text, this.#at)
    return runeAt(this.#text, this.#at + (first?.width ?? 0))?.char ?? END
  }

  /** Reads the next token. */
  next(expected: Expected): Token {
    const start = this.#at
    const char = this.#read()
    if (char === END) return 'end'
    if (this.#opens(char, expected)) return 'open'
    if (expected.close && char === '}') return 'close'
    if (!expected.text) return 'illegal'
    return this.#readText(char, start, expected, expected.text) ? 'text' : 'illegal'
  }

  #read(): string {
    const rune = runeAt(this.#text, this.#at)
    this.#width = rune?.width ?? 0
    this.#at += this.#width
    return rune?.char ?? END
  }

  #opens(char: string, { open }: Expected): boolean {
    if (!open || char !== '$' || this.peek() !== '{') return false
    this.#at += 1
    return true
  }

  #readText(first: string, start: number, expected: Expected, accepts: Accepts): boolean {
    const parts: string[] = []
    let from = start
    let char = first
    for (;;) {
      if (this.#escapes(char, expected)) {
        parts.push(this.#text.slice(from, this.#at - 1))
        from = this.#at
        this.#at += 1
      } else if (!accepts(char, this.#at - start)) {
        if (this.#at - this.#width === start) return false
        this.#at -= this.#width
        break
      }
      char = this.#read()
      // Flux leaves the text before NUL, and reads the NUL again as the end.
      if (char === END) {
        this.#at -= this.#width
        break
      }
      if (expected.open && char === '$' && this.peek() === '{') {
        this.#at -= 1
        break
      }
    }
    parts.push(this.#text.slice(from, this.#at))
    this.#token = parts.join('')
    return true
  }

  #escapes(char: string, { escapes }: Expected): boolean {
    if (!escapes) return false
    if (char === '$') return this.peek() === '$'
    return char === '\\' && this.escapesBackslash && ['/', '\\'].includes(this.peek())
  }
}
