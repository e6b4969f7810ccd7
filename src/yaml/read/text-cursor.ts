/** A place that moves through a text, and how it fails there. */
import { CR, LF, isBreakOrEnd, isHighSurrogate } from '../chars.ts'
import type { Input } from './input.ts'
import type { Mark } from './token.ts'
import { YamlError } from '../yaml.ts'
import type { Resolver } from '../yaml.ts'

/** What the reading rooms need to know about their caller. */
export interface Reading {
  readonly resolver: Resolver
  readonly file: string | undefined
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxAliases: number
}

/** Walks a text that ends with NUL. It is its own mark: where it stands. */
export class TextCursor implements Mark {
  readonly text: string
  readonly reading: Reading
  index = 0
  line = 0
  /**
   * Where the line starts, moved on by one for each character that takes two units, so that columns count characters.
   */
  #lineStart = 0
  readonly #input: Input
  readonly #wideCharacters: boolean
  /** Whether LF is the only line break of the text, so that the engine's own search finds line ends. */
  readonly #onlyLineFeeds: boolean

  constructor(input: Input, reading: Reading) {
    this.text = `${input.text}\0`
    this.reading = reading
    this.#input = input
    this.#wideCharacters = /[\ud800-\udbff]/.test(input.text)
    this.#onlyLineFeeds = !/[\r\x85\u2028\u2029]/.test(input.text)
  }

  get column(): number {
    return this.index - this.#lineStart
  }

  /** The code of the character here. */
  get code(): number {
    return this.text.charCodeAt(this.index)
  }

  /** The code of a later character; callers know that all between are no end. */
  codeAt(offset: number): number {
    return this.text.charCodeAt(this.index + offset)
  }

  /** Moves within the line. */
  moveTo(index: number): void {
    if (this.#wideCharacters) {
      for (let i = this.index; i < index; i++) if (isHighSurrogate(this.text.charCodeAt(i))) this.#lineStart++
    }
    this.index = index
  }

  /** Moves to the end of the line. */
  moveToLineEnd(): void {
    this.moveTo(this.#onlyLineFeeds ? this.#nextLineFeed() : this.#nextBreak())
  }

  #nextLineFeed(): number {
    const found = this.text.indexOf('\n', this.index)
    return found < 0 ? this.text.length - 1 : found
  }

  #nextBreak(): number {
    let end = this.index
    while (!isBreakOrEnd(this.text.charCodeAt(end))) end++
    return end
  }

  /** Moves over the line break here and says what it counts as in a scalar. */
  takeBreak(): string {
    const c = this.code
    this.index += c === CR && this.codeAt(1) === LF ? 2 : 1
    this.#startLine()
    return c === 0x2028 ? '\u2028' : c === 0x2029 ? '\u2029' : '\n'
  }

  /** The end of the text is a line of its own, if there was anything on the last. */
  forceLine(): void {
    if (this.column !== 0) this.#startLine()
  }

  #startLine(): void {
    this.line++
    this.#lineStart = this.index
  }

  /** Whether `---` or `...` stands alone here, at the start of a line. */
  isDocumentIndicator(): boolean {
    if (this.column !== 0) return false
    const c = this.code
    if ((c !== 0x2d && c !== 0x2e) || this.codeAt(1) !== c || this.codeAt(2) !== c) return false
    const after = this.codeAt(3)
    return after <= 0x20 || after === 0x85 || after === 0x2028 || after === 0x2029
  }

  /** How many characters are between an earlier place and here. */
  charactersSince(index: number): number {
    let count = this.index - index
    if (this.#wideCharacters) {
      for (let i = index; i < this.index; i++) if (isHighSurrogate(this.text.charCodeAt(i))) count--
    }
    return count
  }

  /**
   * To be called before the end of the text means anything: the end may be where unreadable bytes start. go-yaml asks
   * for so many characters at once, so it meets them a little earlier.
   */
  checkEnd(characters = 1): void {
    const { problem } = this.#input
    if (problem && this.index + characters >= this.text.length)
      throw new YamlError(problem.problem, problem.position, this.reading.file)
  }

  /** Fails here, while scanning something that started at `context`. */
  fail(problem: string, context: Mark = { index: 0, line: 0, column: 0 }): never {
    this.checkEnd()
    throw syntaxError(problem, this, { reading: this.reading, context, scanning: true })
  }
}

interface ErrorContext {
  readonly reading: Reading
  readonly context?: Mark
  readonly scanning: boolean
}

/** A syntax error with the line that Go's library would name, which is not always the right one. */
export function syntaxError(problem: string, at: Mark, { reading, context, scanning }: ErrorContext): YamlError {
  const contextLine = context?.line ?? 0
  let line: number
  if (reading.resolver === '1.2') {
    line = contextLine !== 0 ? contextLine : at.line
    if (line !== 0 && scanning) line++
  } else {
    line = at.line !== 0 ? at.line + (scanning ? 1 : 0) : contextLine
  }
  const where = line === 0 ? '' : `line ${line}: `
  const position = { line: at.line + 1, column: at.column + 1 }
  return new YamlError(problem, position, reading.file, `yaml: ${where}${problem}`)
}
