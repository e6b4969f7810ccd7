/**
 * Cuts a text into tokens as go-yaml's scanner does, with its errors. Indentation becomes BLOCK-… tokens, and a KEY
 * token is put in front of what turns out to be a key once its `:` is seen.
 */
import { COLON, DASH, DOT, HASH, NUL, QUESTION, SPACE, TAB, isBlankOrEnd, isBreak } from '../chars.ts'
import { CommentScanner } from './scan-comment.ts'
import { scanBlockScalar } from './scan-block-scalar.ts'
import { scanPlainScalar, scanQuotedScalar } from './scan-flow-scalar.ts'
import { scanAnchor, scanDirective, scanTag } from './scan-tag.ts'
import type { Input } from './input.ts'
import { TextCursor } from './text-cursor.ts'
import type { Reading } from './text-cursor.ts'
import * as t from './token.ts'
import { Token, markOf } from './token.ts'
import type { Mark } from './token.ts'

// A key without `?` ends on its line and within so many characters.
const MAX_KEY_CHARACTERS = 1024

/** What may turn out to be a key, one per flow level. */
interface SimpleKey extends Mark {
  possible: boolean
  /** In the block context at the current indentation, nothing but a key may stand. */
  required: boolean
  tokenNumber: number
  index: number
  line: number
  column: number
}

/** The stream of tokens of a text. */
export class Scanner extends TextCursor {
  /** The indentation of the block collection around, -1 outside. */
  indent = -1
  flowLevel = 0
  simpleKeyAllowed = true
  /** All tokens from `#head` on are still to be parsed; a few before are kept for comments. */
  readonly tokens: Token[] = []
  /** Only with the 1.2 resolver: Kustomize keeps comments. */
  readonly comments: CommentScanner | undefined
  #head = 0
  #parsed = 0
  #available = false
  readonly #indents: number[] = []
  readonly #simpleKeys: SimpleKey[] = [noKey()]
  /**
   * Which flow level's key the queue waits for at a token number. As in go-yaml an entry may outlive its key and then
   * stands for the next key of that level.
   */
  readonly #awaited = new Map<number, number>()
  readonly #lookahead: number

  constructor(input: Input, reading: Reading) {
    super(input, reading)
    this.comments = reading.resolver === '1.2' ? new CommentScanner(this) : undefined
    this.#lookahead = this.comments ? 2 : 0
    this.checkEnd()
    this.tokens.push(new Token(t.STREAM_START, this, 0))
  }

  /** The next token. */
  peek(): Token {
    if (!this.#available) this.#fetchMore()
    return this.tokens[this.#head]!
  }

  /** Takes the token that was peeked at. */
  skip(): void {
    this.#available = false
    this.#parsed++
    this.#head++
    if (this.#head >= 4096) {
      this.tokens.splice(0, this.#head - 2)
      this.#head = 2
    }
  }

  /** Adds a token that starts and ends here. */
  append(type: number, width = 0): void {
    this.tokens.push(new Token(type, this, width))
  }

  #fetchMore(): void {
    while (this.tokens.length - this.#head <= this.#lookahead || this.#headMayBeKey()) this.#fetchNext()
    this.#available = true
  }

  #headMayBeKey(): boolean {
    const level = this.#awaited.get(this.#parsed)
    const key = level === undefined ? undefined : this.#simpleKeys[level]
    return key !== undefined && this.#isPossible(key)
  }

  #fetchNext(): void {
    const scanMark = this.comments ? markOf(this) : this
    this.#moveToToken(scanMark)
    this.#unrollIndent(this.column, scanMark)
    this.checkEnd(4)
    const c = this.code
    if (c === NUL) return this.#fetchStreamEnd()
    if (this.column === 0) {
      if (c === 0x25) return this.#fetchDirective()
      if ((c === DASH || c === DOT) && this.isDocumentIndicator()) {
        return this.#fetchDocumentIndicator(c === DASH ? t.DOCUMENT_START : t.DOCUMENT_END)
      }
    }
    if (!this.comments) return this.#fetchToken(c)
    const last = this.tokens.at(-1)!
    // What follows `:` or `,` on the line belongs to what stands before.
    const commentMark = c === (this.flowLevel === 0 ? COLON : 0x2c) ? last : markOf(this)
    this.#fetchToken(c)
    // A lone `-` has no comment of its own: it is about what follows.
    if (this.tokens.at(-1)!.type !== t.BLOCK_ENTRY) this.comments.scanLineComment(commentMark)
  }

  #fetchToken(c: number): void {
    switch (c) {
      case 0x5b: // [
        return this.#fetchFlowStart(t.FLOW_SEQUENCE_START)
      case 0x7b: // {
        return this.#fetchFlowStart(t.FLOW_MAPPING_START)
      case 0x5d: // ]
        return this.#fetchFlowEnd(t.FLOW_SEQUENCE_END)
      case 0x7d: // }
        return this.#fetchFlowEnd(t.FLOW_MAPPING_END)
      case 0x2c: // ,
        return this.#fetchFlowEntry()
      case DASH:
        if (isBlankOrEnd(this.codeAt(1))) return this.#fetchBlockEntry()
        break
      case QUESTION:
        if (this.flowLevel > 0 || isBlankOrEnd(this.codeAt(1))) return this.#fetchKey()
        break
      case COLON:
        if (this.flowLevel > 0 || isBlankOrEnd(this.codeAt(1))) return this.#fetchValue()
        break
      case 0x2a: // *
        return this.#fetchSimple(scanAnchor(t.ALIAS))
      case 0x26: // &
        return this.#fetchSimple(scanAnchor(t.ANCHOR))
      case 0x21: // !
        return this.#fetchSimple(scanTag)
      case 0x7c: // |
      case 0x3e: // >
        if (this.flowLevel === 0) return this.#fetchBlockScalar()
        return this.#failToken()
      case 0x27: // '
      case 0x22: // "
        return this.#fetchSimple(scanQuotedScalar)
      case HASH:
      case 0x25: // %
      case 0x40: // @
      case 0x60: // `
      case TAB:
        return this.#failToken()
      default:
        break
    }
    this.#fetchSimple(scanPlainScalar)
  }

  #failToken(): never {
    this.fail('found character that cannot start any token', this)
  }

  // Moves over blanks, comments and line breaks.
  #moveToToken(scanMark: Mark): void {
    for (;;) {
      // go-yaml looks for a byte order mark at the start of its buffer; here that is the start of the text.
      if (this.index === 0 && this.code === 0xfeff) this.moveTo(1)
      let i = this.index
      const tabs = this.flowLevel > 0 || !this.simpleKeyAllowed
      let c = this.text.charCodeAt(i)
      const otherBlank = tabs ? TAB : SPACE
      while (c === SPACE || c === otherBlank) c = this.text.charCodeAt(++i)
      this.index = i
      if (this.comments) {
        this.comments.turnEntryComment()
        if (c === HASH) this.comments.scanComments(scanMark)
      } else if (c === HASH) this.moveToLineEnd()
      if (!isBreak(this.code)) break
      this.takeBreak()
      if (this.flowLevel === 0) this.simpleKeyAllowed = true
    }
  }

  #isPossible(key: SimpleKey): boolean {
    if (!key.possible) return false
    const tooLong = key.index + MAX_KEY_CHARACTERS < this.index && this.charactersSince(key.index) > MAX_KEY_CHARACTERS
    if (key.line >= this.line && !tooLong) return true
    if (key.required) this.fail("could not find expected ':'", key)
    key.possible = false
    return false
  }

  #saveSimpleKey(): void {
    if (!this.simpleKeyAllowed) return
    const required = this.flowLevel === 0 && this.indent === this.column
    this.#removeSimpleKey()
    const key = this.#simpleKeys.at(-1)!
    key.possible = true
    key.required = required
    key.tokenNumber = this.#nextTokenNumber()
    this.#awaited.set(key.tokenNumber, this.#simpleKeys.length - 1)
    key.index = this.index
    key.line = this.line
    key.column = this.column
  }

  #removeSimpleKey(): void {
    const key = this.#simpleKeys.at(-1)!
    if (!key.possible) return
    if (key.required) this.fail("could not find expected ':'", key)
    key.possible = false
    this.#awaited.delete(key.tokenNumber)
  }

  #nextTokenNumber(): number {
    return this.#parsed + this.tokens.length - this.#head
  }

  #insert(number: number, type: number, mark: Mark): void {
    const token = new Token(type, mark, 0)
    // A key that was already handed out comes too late to be put in front; the parser will complain.
    if (number < this.#parsed) this.tokens.push(token)
    else this.tokens.splice(this.#head + number - this.#parsed, 0, token)
  }

  #rollIndent(column: number, number: number, type: number, mark: Mark): void {
    if (this.flowLevel > 0 || this.indent >= column) return
    this.#indents.push(this.indent)
    this.indent = column
    this.#checkDepth()
    this.#insert(number === -1 ? this.#nextTokenNumber() : number, type, mark)
  }

  #checkDepth(): void {
    const { maxDepth } = this.reading
    if (this.#indents.length + this.flowLevel > maxDepth) {
      this.fail(`exceeded max depth of ${maxDepth}`, this.#simpleKeys.at(-1))
    }
  }

  #unrollIndent(column: number, scanMark: Mark): void {
    if (this.flowLevel > 0 || this.indent <= column) return
    let mark: Mark = this.comments ? { ...markOf(scanMark), index: scanMark.index - 1 } : this
    while (this.indent > column) {
      if (this.comments) mark = this.comments.blockEndMark(this.indent, mark)
      this.tokens.push(new Token(t.BLOCK_END, mark, 0))
      this.indent = this.#indents.pop()!
    }
  }

  // What every token of its own line has in common: all blocks and keys before it end.
  #endBlocks(): void {
    this.#unrollIndent(-1, this)
    this.#removeSimpleKey()
    this.simpleKeyAllowed = false
  }

  #fetchStreamEnd(): void {
    this.forceLine()
    this.#endBlocks()
    this.append(t.STREAM_END)
  }

  #fetchDirective(): void {
    this.#endBlocks()
    this.tokens.push(scanDirective(this))
  }

  #fetchDocumentIndicator(type: number): void {
    this.#endBlocks()
    this.append(type)
    this.moveTo(this.index + 3)
  }

  #fetchFlowStart(type: number): void {
    this.#saveSimpleKey()
    this.#simpleKeys.push({ ...noKey(), ...markOf(this), tokenNumber: this.#nextTokenNumber() })
    this.flowLevel++
    this.#checkDepth()
    this.simpleKeyAllowed = true
    this.append(type, 1)
    this.index++
  }

  #fetchFlowEnd(type: number): void {
    this.#removeSimpleKey()
    if (this.flowLevel > 0) {
      this.flowLevel--
      // After an empty `[]` or `{}` this is the number of the bracket, so it is no longer awaited as a key, as in
      // go-yaml.
      this.#awaited.delete(this.#simpleKeys.pop()!.tokenNumber)
    }
    this.simpleKeyAllowed = false
    this.append(type, 1)
    this.index++
  }

  #fetchFlowEntry(): void {
    this.#removeSimpleKey()
    this.simpleKeyAllowed = true
    this.append(t.FLOW_ENTRY, 1)
    this.index++
  }

  #fetchBlockEntry(): void {
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) this.fail('block sequence entries are not allowed in this context', this)
      this.#rollIndent(this.column, -1, t.BLOCK_SEQUENCE_START, this)
    }
    this.#removeSimpleKey()
    this.simpleKeyAllowed = true
    this.append(t.BLOCK_ENTRY, 1)
    this.index++
  }

  #fetchKey(): void {
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) this.fail('mapping keys are not allowed in this context', this)
      this.#rollIndent(this.column, -1, t.BLOCK_MAPPING_START, this)
    }
    this.#removeSimpleKey()
    this.simpleKeyAllowed = this.flowLevel === 0
    this.append(t.KEY, 1)
    this.index++
  }

  #fetchValue(): void {
    const key = this.#simpleKeys.at(-1)!
    if (this.#isPossible(key)) {
      this.#insert(key.tokenNumber, t.KEY, key)
      this.#rollIndent(key.column, key.tokenNumber, t.BLOCK_MAPPING_START, key)
      key.possible = false
      this.#awaited.delete(key.tokenNumber)
      this.simpleKeyAllowed = false
    } else {
      if (this.flowLevel === 0) {
        if (!this.simpleKeyAllowed) this.fail('mapping values are not allowed in this context', this)
        this.#rollIndent(this.column, -1, t.BLOCK_MAPPING_START, this)
      }
      this.simpleKeyAllowed = this.flowLevel === 0
    }
    this.append(t.VALUE, 1)
    this.index++
  }

  // Whatever may be a key, and is followed by none.
  #fetchSimple(scan: (scanner: Scanner) => Token): void {
    this.#saveSimpleKey()
    this.simpleKeyAllowed = false
    this.tokens.push(scan(this))
    this.checkEnd()
  }

  #fetchBlockScalar(): void {
    this.#removeSimpleKey()
    this.simpleKeyAllowed = true
    this.tokens.push(scanBlockScalar(this))
    this.checkEnd()
  }
}

function noKey(): SimpleKey {
  return { possible: false, required: false, tokenNumber: 0, index: 0, line: 0, column: 0 }
}
