/** Gives the comments that the scanner found to the nodes they are about, as yaml.v3's parser does. */
import type { YamlNode } from '../node.ts'
import type { Scanner } from './scanner.ts'
import { BLOCK_END, BLOCK_MAPPING_START, BLOCK_SEQUENCE_START } from './token.ts'
import type { Token } from './token.ts'
import { YamlError } from '../yaml.ts'

/** Comments waiting for a node. */
interface Waiting {
  readonly head: string
  readonly line: string
  readonly foot: string
}

/** Stands between scanner and parser; without comments it hands tokens through. */
export class CommentCollector {
  readonly #scanner: Scanner
  #head = ''
  #line = ''
  #foot = ''
  /** About the collection inside a list item rather than about its first entry. */
  #stem = ''
  #deferred: YamlError | undefined

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  /** The next token, after taking in the comments up to it. */
  peek(): Token {
    const token = this.#scanner.peek()
    const { comments } = this.#scanner
    if (!comments) return token
    for (let comment = comments.next(token.index); comment; comment = comments.next(token.index)) {
      // The end of a block has no head: it waits for what follows.
      if (comment.head !== '' && token.type === BLOCK_END) break
      this.#head = joined(this.#head, comment.head)
      this.#foot = joined(this.#foot, comment.foot)
      this.#line = joined(this.#line, comment.line)
      comments.drop()
    }
    return token
  }

  /** Takes all that waits. */
  take(): Waiting {
    const waiting = { head: this.#head, line: this.#line, foot: this.#foot }
    this.#head = ''
    this.#line = ''
    this.#foot = ''
    this.#stem = ''
    return waiting
  }

  /** Gives all that waits to a scalar, an alias or the start of a flow collection. */
  giveTo(node: YamlNode): void {
    if (!this.#scanner.comments) return
    const { head, line, foot } = this.take()
    node.headComment = head
    node.lineComment = line
    node.footComment = foot
  }

  /** Gives a collection what stands at its end. */
  giveEndTo(node: YamlNode): void {
    if (!this.#scanner.comments) return
    const { line, foot } = this.take()
    node.lineComment = line
    node.footComment = foot
  }

  /** Gives a block collection the comment above the list item that it is. */
  giveStemTo(node: YamlNode): void {
    node.headComment = this.#stem
    this.#stem = ''
  }

  /** Takes what belongs to the whole document: all above the last empty line. */
  takeDocumentHead(): string {
    const head = this.#head
    for (let i = head.length - 1; i > 0; i--) {
      if (head[i] !== '\n') continue
      const cut = i === head.length - 1 ? i : head[i - 1] === '\n' ? i - 1 : -1
      if (cut < 0) continue
      this.#head = head.slice(i + 1)
      return head.slice(0, cut)
    }
    return ''
  }

  /** Skips a `-`: what was said above it is about a collection that follows it as a whole. */
  skipEntry(): void {
    const stemLength = this.#head.length
    this.#scanner.skip()
    if (stemLength === 0) return
    let next: Token
    try {
      next = this.peek()
    } catch (error) {
      // yaml.v3 goes on here and fails at the end of the node, unless another failure comes first.
      if (!(error instanceof YamlError)) throw error
      this.#deferred = error
      return
    }
    if (next.type !== BLOCK_SEQUENCE_START && next.type !== BLOCK_MAPPING_START) return
    this.#stem = this.#head.slice(0, stemLength)
    this.#head = this.#head.slice(stemLength + 1)
  }

  /** Fails with what `skipEntry` put off. */
  checkDeferred(): void {
    if (this.#deferred) throw this.#deferred
  }

  /** A comment below the key that was just read is about the entry before it. */
  moveFootToPrior(mapping: YamlNode, key: YamlNode): void {
    if (key.footComment === '') return
    const priorKey = mapping.content.at(-2)
    if (!priorKey) return
    priorKey.footComment = key.footComment
    key.footComment = ''
  }
}

function joined(before: string, more: string): string {
  if (more === '') return before
  return before === '' ? more : `${before}\n${more}`
}
