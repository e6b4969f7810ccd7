// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Parses `${var}` and its functions, as Flux's envsubst does. */
import { Scanner } from './scanner.ts'
import type { Accepts } from './scanner.ts'
import { SubstituteError } from './substitute-error.ts'

/** A piece of a text: plain, or a variable with a function. */
export type Piece = string | Substitution

/** `${name}`, or `${name<operator>arguments}`. */
export interface Substitution {
  readonly name: string
  /** The characters between name and arguments, for example `:-`; empty for a plain variable. */
  readonly operator: string
  readonly args: readonly Piece[]
}

const MAX_DEPTH = 200

const anyChar: Accepts = () => true
const nameChar: Accepts = (char) => char === '_' || /^[\p{L}\p{Nd}]$/u.test(char)
const notClosing: Accepts = (char) => char !== '}'
const notSlash: Accepts = (char) => char !== '/'
const notColonNorClosing: Accepts = (char) => char !== ':' && char !== '}'
const only =
  (wanted: string): Accepts =>
  (char) =>
    char === wanted
const first =
  (wanted: string): Accepts =>
  (char, width) =>
    char === wanted && width === 1
const upToTwo =
  (...wanted: readonly string[]): Accepts =>
  (char, width) =>
    wanted.includes(char) && width < 3
const colonDefault: Accepts = (char, width) =>
  (width === 1 && char === ':') || (width === 2 && ['=', '-', '?', '+'].includes(char))
const replaceOperator: Accepts = (char, width) =>
  (width === 1 && char === '/') || (width === 2 && ['/', '#', '%'].includes(char))

/** The pieces of a text; throws SubstituteError in Flux's words. */
export function parseSubstitutions(text: string): Piece[] {
  return new Parser(text).pieces()
}

class Parser {
  readonly #scanner: Scanner

  constructor(text: string) {
    this.#scanner = new Scanner(text)
  }

  pieces(): Piece[] {
    const found: Piece[] = []
    for (;;) {
      this.#scanner.escapesBackslash = false
      const token = this.#scanner.next({ text: anyChar, open: true, escapes: true })
      if (token === 'end') return found
      found.push(token === 'text' ? this.#scanner.token : this.#substitution(0))
    }
  }

  #substitution(depth: number): Substitution {
    if (depth > MAX_DEPTH) throw new SubstituteError(`substitutions are nested more than ${MAX_DEPTH} deep`)
    this.#scanner.escapesBackslash = true
    if (this.#scanner.peek() === '#') return this.#length()
    const name = this.#text(nameChar, 'unable to parse variable name')
    switch (this.#scanner.peek()) {
      case ':':
        return ['=', '-', '?', '+'].includes(this.#scanner.peekSecond())
          ? this.#default(name, colonDefault, depth)
          : this.#substring(name, depth)
      case '=':
        return this.#default(name, first('='), depth)
      case ',':
      case '^': {
        const operator = this.#text(upToTwo(',', '^'))
        return this.#closed({ name, operator, args: [] })
      }
      case '/':
        return this.#replace(name, depth)
      case '#':
        return this.#trim(name, upToTwo('#'), depth)
      case '%':
        return this.#trim(name, upToTwo('%'), depth)
      default:
        if (this.#scanner.next({ close: true }) !== 'close') throw new SubstituteError('missing closing brace')
        return { name, operator: '', args: [] }
    }
  }

  #length(): Substitution {
    const operator = this.#text(first('#'))
    return this.#closed({ name: this.#text(nameChar), operator, args: [] })
  }

  #default(name: string, operatorChars: Accepts, depth: number): Substitution {
    const operator = this.#text(operatorChars, 'unable to parse substitution within default function')
    const args: Piece[] = []
    while (this.#scanner.peek() !== '}') args.push(this.#argument(notClosing, depth))
    return this.#closed({ name, operator, args })
  }

  #substring(name: string, depth: number): Substitution {
    const operator = this.#text(first(':'))
    const offset = this.#argument(notColonNorClosing, depth)
    const token = this.#scanner.next({ text: only(':'), close: true })
    if (token === 'close') return { name, operator, args: [offset] }
    if (token !== 'text') throw new SubstituteError('bad substitution')
    return this.#closed({ name, operator, args: [offset, this.#argument(notClosing, depth)] })
  }

  #trim(name: string, operatorChars: Accepts, depth: number): Substitution {
    const operator = this.#text(operatorChars)
    return this.#closed({ name, operator, args: [this.#argument(notClosing, depth)] })
  }

  #replace(name: string, depth: number): Substitution {
    const operator = this.#text(replaceOperator)
    const pattern = this.#argument(notSlash, depth, true)
    this.#text(only('/'))
    if (this.#scanner.peek() === '}') return this.#closed({ name, operator, args: [pattern] })
    return this.#closed({ name, operator, args: [pattern, this.#argument(notClosing, depth, true)] })
  }

  #text(accepts: Accepts, problem = 'bad substitution'): string {
    if (this.#scanner.next({ text: accepts }) !== 'text') throw new SubstituteError(problem)
    return this.#scanner.token
  }

  #argument(accepts: Accepts, depth: number, escapes = false): Piece {
    const token = this.#scanner.next({ text: accepts, open: true, escapes })
    if (token === 'open') return this.#substitution(depth + 1)
    if (token === 'text') return this.#scanner.token
    throw new SubstituteError('unable to parse substitution within function')
  }

  #closed(substitution: Substitution): Substitution {
    if (this.#scanner.next({ close: true }) !== 'close') throw new SubstituteError('bad substitution')
    return substitution
  }
}
