/** A position in a TOML text, rune by rune; characters that TOML forbids are refused where they are read. */
import { quotedRune } from '../../../gotemplate/go-string.ts'

/** What is wrong with a text, and on which line BurntSushi's reader says so. */
export class TomlProblem extends Error {
  override readonly name = 'TomlProblem'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A rune as Go's %q writes it; the end of the text is the rune zero. */
export function quoted(rune: string): string {
  return `'${quotedRune(shown(rune), "'", false)}'`
}

/** A rune as Go's %c writes it. */
export function shown(rune: string): string {
  return rune === '' ? '\0' : rune
}

/** Reads runes; the end of the text is an empty rune. */
export class TomlCursor {
  readonly #text: string
  #start = 0
  #at = 0
  #line = 1
  #ended = false

  constructor(text: string) {
    this.#text = text
  }

  /** The line of what is read next, from 1. */
  get line(): number {
    return this.#line
  }

  /** Whether the last rune read was the end. */
  get ended(): boolean {
    return this.#ended
  }

  /** What was read since `begin`. */
  get piece(): string {
    return this.#text.slice(this.#start, this.#at)
  }

  next(): string {
    const code = this.#text.codePointAt(this.#at)
    if (code === undefined) {
      this.#ended = true
      return ''
    }
    if (code >= 0xdc80 && code <= 0xdcff) return this.fail(`invalid UTF-8 byte: 0x${(code - 0xdc00).toString(16)}`)
    const rune = String.fromCodePoint(code)
    const isControl = code === 0x7f || (code < 0x20 && !/[\t\r\n]/.test(rune))
    if (isControl || (rune === '\r' && this.#text[this.#at + 1] !== '\n')) {
      return this.fail(`TOML files cannot contain control characters: '0x${code.toString(16).padStart(2, '0')}'`)
    }
    if (rune === '\n') this.#line += 1
    this.#at += rune.length
    return rune
  }

  /** Goes back by one rune. */
  back(): void {
    if (this.#ended) {
      this.#ended = false
      return
    }
    this.#at -= 1
    const unit = this.#text.charCodeAt(this.#at)
    if (unit >= 0xdc00 && unit <= 0xdfff) this.#at -= 1
    if (this.#text[this.#at] === '\n') this.#line -= 1
  }

  peek(): string {
    const rune = this.next()
    this.back()
    return rune
  }

  /** Skips the next rune if it equals the given rune. */
  accept(wanted: string): boolean {
    if (this.next() === wanted) return true
    this.back()
    return false
  }

  /** What comes next begins a piece. */
  begin(): void {
    this.#start = this.#at
  }

  /** Skips runes of a line that match a sticky pattern; the next rune must be valid. */
  run(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    this.peek()
    return found
  }

  /** Whether a sticky pattern fits what comes next. */
  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text)
  }

  skipSpaces(): void {
    this.run(/[\t ]*/y)
    this.begin()
  }

  /** Behind the text's last line end there is no line to name. */
  fail(problem: string): never {
    const isBehind = this.#ended && this.#text[this.#at - 1] === '\n'
    throw new TomlProblem(isBehind ? this.#line - 1 : this.#line, problem)
  }

  /** For a line end that was already read; without a line end the number is too low by 1, as in Go. */
  failBefore(problem: string): never {
    throw new TomlProblem(this.#line - 1, problem)
  }
}
