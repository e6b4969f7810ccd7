/** Tokens with Go's three-token look-ahead, kept as it is because the lines of errors come from its first slot. */
import { goQuote } from './go-string.ts'
import { KEYWORDS, lex } from './lex.ts'
import type { Delimiters, Token, TokenType } from './lex.ts'

const IN_BRACKETS: ReadonlySet<TokenType> = new Set<TokenType>([...KEYWORDS, 'dot'])

/** A token as Go names it in error messages. */
export function tokenText(token: Token): string {
  if (token.type === 'eof') return 'EOF'
  if (token.type === 'error') return token.text
  if (IN_BRACKETS.has(token.type)) return `<${token.text}>`
  const runes = [...token.text]
  return runes.length > 10 ? `${goQuote(runes.slice(0, 10).join(''))}...` : goQuote(token.text)
}

/** The tokens of a template in order; up to three tokens can be given back. */
export class TokenStream {
  readonly #tokens: readonly Token[]
  #nextToken = 0
  readonly #ahead: Token[] = []
  #peekCount = 0

  constructor(text: string, delimiters?: Delimiters) {
    this.#tokens = lex(text, delimiters)
  }

  /** The line that an error is blamed on. */
  get line(): number {
    return this.#ahead[0]?.line ?? 1
  }

  /** Takes the next token. */
  next(): Token {
    if (this.#peekCount > 0) this.#peekCount -= 1
    else this.#ahead[0] = this.#read()
    return this.#ahead[this.#peekCount]!
  }

  #read(): Token {
    const token = this.#tokens[this.#nextToken]
    this.#nextToken += 1
    return token ?? this.#tokens.at(-1)!
  }

  /** Looks at the next token. */
  peek(): Token {
    if (this.#peekCount > 0) return this.#ahead[this.#peekCount - 1]!
    this.#peekCount = 1
    this.#ahead[0] = this.#read()
    return this.#ahead[0]
  }

  /** Gives the last token back. */
  backup(): void {
    this.#peekCount += 1
  }

  /** Gives the last two tokens back. */
  backup2(first: Token): void {
    this.#ahead[1] = first
    this.#peekCount = 2
  }

  /** Gives three tokens back. */
  backup3(first: Token, second: Token): void {
    this.#ahead[1] = second
    this.#ahead[2] = first
    this.#peekCount = 3
  }

  /** Takes the next token that is no space. */
  nextNonSpace(): Token {
    for (;;) {
      const token = this.next()
      if (token.type !== 'space') return token
    }
  }

  /** Looks at the next token that is no space. */
  peekNonSpace(): Token {
    if (this.#peekCount === 1) {
      const first = this.#ahead[0]!
      if (first.type !== 'space') return first
    }
    const token = this.nextNonSpace()
    this.backup()
    return token
  }
}
