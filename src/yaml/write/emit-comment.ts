/** Comments on the way out, as yaml.v3 writes them. */
import type { Printer } from './printer.ts'

/** Comments that come with an event. */
export interface EventComments {
  readonly head?: string
  readonly line?: string
  readonly foot?: string
  /** The foot of the entry before, to be written before the head. */
  readonly tail?: string
}

/** Holds comments until their place is there. */
export class CommentWriter {
  readonly #printer: Printer
  #head = ''
  #line = ''
  #foot = ''
  #tail = ''
  /** Of a key; it is written beside the value or after the colon. */
  #keyLine = ''

  constructor(printer: Printer) {
    this.#printer = printer
  }

  take({ head, line, foot, tail }: EventComments): void {
    if (head) this.#head = head
    if (line) this.#line = line
    if (foot) this.#foot = foot
    if (tail) this.#tail = tail
  }

  hasTrailing(): boolean {
    return this.#line !== '' || this.#foot !== '' || this.#tail !== ''
  }

  hasHeadOrFoot(): boolean {
    return this.#head !== '' || this.#foot !== '' || this.#tail !== ''
  }

  writeHead(): void {
    if (this.#tail !== '') {
      this.#printer.putIndent()
      this.#printer.putComment(this.#tail)
      this.#tail = ''
      this.#printer.footIndent = Math.max(this.#printer.indent, 0)
    }
    if (this.#head === '') return
    this.#printer.putIndent()
    this.#printer.putComment(this.#head)
    this.#head = ''
  }

  /** Whether there was one. */
  writeLine(): boolean {
    if (this.#line === '') return false
    if (!this.#printer.whitespace) this.#printer.put(' ')
    this.#printer.putComment(this.#line)
    this.#line = ''
    return true
  }

  writeFoot(): void {
    if (this.#foot === '') return
    this.#printer.putIndent()
    this.#printer.putComment(this.#foot)
    this.#foot = ''
    this.#printer.footIndent = Math.max(this.#printer.indent, 0)
  }

  writeLineAndFoot(): void {
    this.writeLine()
    this.writeFoot()
  }

  /** Puts the comment beside a key aside until its value is known. */
  keepKeyLine(): void {
    if (this.#line === '') return
    this.#keyLine = this.#line
    this.#line = ''
  }

  /** A scalar takes the comment of its key, unless it has its own. */
  giveKeyLine(): void {
    if (this.#keyLine === '' || this.#line !== '') return
    this.#line = this.#keyLine
    this.#keyLine = ''
  }

  /** Before a block the comment stands right after the colon. */
  writeKeyLine(): void {
    if (this.#keyLine === '') return
    const line = this.#line
    this.#line = this.#keyLine
    this.writeLine()
    this.#keyLine = ''
    this.#line = line
  }
}
