/**
 * Comments as yaml.v3 finds them, for Kustomize: above (head), beside (line) and below (foot) what they are about. Its
 * rules for which is which are kept as they are, also where they surprise.
 */
import { CR, HASH, LF, NUL, isBlank, isBreak, isBreakOrEnd } from '../chars.ts'
import type { Scanner } from './scanner.ts'
import { BLOCK_ENTRY, BLOCK_SEQUENCE_START, FLOW_ENTRY, VALUE } from './token.ts'
import type { Mark } from './token.ts'

/** A comment that waits for the token it belongs to. */
export interface PendingComment {
  /** Where the search that found it began. */
  readonly scanMark: Mark
  /** The first token at or after this place takes it. */
  tokenMark: Mark
  readonly startMark: Mark
  readonly endMark: Mark
  head: string
  line: string
  readonly foot: string
}

const ORIGIN: Mark = { index: 0, line: 0, column: 0 }

// yaml.v3 looks no further than this for the next comment.
const MAX_LOOK = 512

/** Finds comments for a scanner. */
export class CommentScanner {
  readonly #scanner: Scanner
  #pending: PendingComment[] = []

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  /** Takes the next comment that belongs to a token at this place, if there is one. */
  next(index: number): PendingComment | undefined {
    const comment = this.#pending[0]
    return comment && index >= comment.tokenMark.index ? comment : undefined
  }

  /** Drops the comment that `next` gave. */
  drop(): void {
    this.#pending.shift()
  }

  /** Takes a comment on the rest of this line for the token at `tokenMark`. */
  scanLineComment(tokenMark: Mark): void {
    const scanner = this.#scanner
    if (newlinesBefore(scanner) > 0) return
    let i = scanner.index
    while (i - scanner.index < MAX_LOOK && isBlank(scanner.text.charCodeAt(i))) i++
    if (i - scanner.index >= MAX_LOOK || scanner.text.charCodeAt(i) !== HASH) return
    scanner.index = i
    const startMark = { index: scanner.index, line: scanner.line, column: scanner.column }
    scanner.moveToLineEnd()
    const line = scanner.text.slice(i, scanner.index)
    this.#pending.push({ scanMark: ORIGIN, tokenMark, startMark, endMark: ORIGIN, head: '', line, foot: '' })
  }

  /** A comment beside a lone `-` is about what follows, when that is on another line. */
  turnEntryComment(): void {
    const { tokens } = this.#scanner
    const comment = this.#pending.at(-1)
    if (!comment || comment.line === '' || tokens.length < 2) return
    if (tokens.at(-2)!.type !== BLOCK_SEQUENCE_START || tokens.at(-1)!.type !== BLOCK_ENTRY) return
    if (isBreak(this.#scanner.code)) return
    comment.head = comment.line
    comment.line = ''
    if (comment.startMark.line === this.#scanner.line - 1) {
      const { index, line, column } = this.#scanner
      comment.tokenMark = { index, line, column }
    }
  }

  /** Where a block of this indentation ends: before the comments that stand at its own depth. */
  blockEndMark(indent: number, blockMark: Mark): Mark {
    let end = blockMark
    let stop = blockMark.index
    for (const comment of this.#pending.toReversed()) {
      if (comment.endMark.index < stop) break
      if (comment.startMark.column === indent + 1) end = comment.startMark
      stop = comment.scanMark.index
    }
    return end
  }

  /** Takes the comments that start here, over empty lines, up to the next token. */
  scanComments(firstScanMark: Mark): void {
    const scanner = this.#scanner
    const { text } = scanner
    let token = scanner.tokens.at(-1)!
    if (token.type === FLOW_ENTRY && scanner.tokens.length > 1) token = scanner.tokens.at(-2)!
    let scanMark = firstScanMark
    let tokenMark: Mark = token
    let startMark: Mark = ORIGIN
    const nextIndent = Math.max(scanner.indent, 0)
    const newlines = newlinesBefore(scanner)
    let recentEmpty = false
    let firstEmpty = newlines <= 1
    let { line, column } = scanner
    let comment = ''
    // A comment that starts on this line is still about what stands above it.
    let footLine = -1
    if (scanMark.line > 0) {
      footLine = scanner.line - newlines + 1
      if (newlines === 0 && scanner.column > 1) footLine++
    }
    let peek = 0
    const here = (): Mark => ({ index: scanner.index + peek, line, column })
    const endFoot = (): void => {
      this.#pending.push({ scanMark, tokenMark, startMark, endMark: here(), head: '', line: '', foot: comment })
      scanMark = here()
      tokenMark = scanMark
      comment = ''
    }
    // Inside a break of several bytes yaml.v3 sees a byte that is neither blank nor break.
    let insideBreak = false
    for (; peek < MAX_LOOK; peek++) {
      column++
      const at = scanner.index + peek
      const c = insideBreak ? -1 : at < text.length ? text.charCodeAt(at) : NUL
      if (isBlank(c)) continue
      const closesFlow = scanner.flowLevel > 0 && (c === 0x5d || c === 0x7d)
      if (closesFlow || isBreakOrEnd(c)) {
        if (closesFlow || !recentEmpty) {
          const dedented = startMark.column - 1 < nextIndent
          if (closesFlow || (firstEmpty && ((startMark.line === footLine && token.type !== VALUE) || dedented))) {
            if (comment !== '') {
              if (dedented) tokenMark = startMark
              endFoot()
            }
          } else if (comment !== '' && c !== NUL) comment += '\n'
        }
        if (!isBreak(c)) break
        firstEmpty = false
        recentEmpty = true
        column = 0
        line++
        insideBreak = isWideBreak(c)
        continue
      }
      if (comment !== '' && column - 1 < nextIndent && column !== startMark.column) endFoot()
      if (c !== HASH) break
      if (comment === '') startMark = here()
      else comment += '\n'
      recentEmpty = false
      comment += this.#takeCommentLine(at)
      // The search goes on after the line break, or after its first byte.
      peek = 0
      column = 0
      line = scanner.line
      insideBreak = isWideBreak(scanner.code)
    }
    if (comment !== '') {
      const endMark = { index: scanner.index + peek - 1, line, column }
      this.#pending.push({ scanMark, tokenMark: startMark, startMark, endMark, head: comment, line: '', foot: '' })
    }
  }

  // Moves over what was looked at and takes the rest of the line.
  #takeCommentLine(start: number): string {
    const scanner = this.#scanner
    while (scanner.index < start) {
      if (isBreak(scanner.code)) scanner.takeBreak()
      else scanner.index++
    }
    const from = scanner.index
    scanner.moveToLineEnd()
    return scanner.text.slice(from, scanner.index)
  }
}

function isWideBreak(c: number): boolean {
  return c > 0x7f && isBreak(c)
}

// How many line breaks are between here and the last character that is not blank.
function newlinesBefore({ text, index }: Scanner): number {
  let count = 0
  for (let i = index - 1; i >= 0; i--) {
    const c = text.charCodeAt(i)
    if (isBlank(c)) continue
    if (!isBreak(c)) break
    count++
    if (c === LF && i > 0 && text.charCodeAt(i - 1) === CR) i--
  }
  return count
}
