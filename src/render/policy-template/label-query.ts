/** Label selectors in text form as Kubernetes' labels.Parse reads them, with its messages. */
import type { Labels } from '../../core/text/label-selector.ts'
import { GoError } from '../gotemplate/function.ts'

/** A parsed selector. */
export interface LabelQuery {
  readonly matches: (labels: Labels) => boolean
  /** The selector for the API, with its terms in the order of their keys. */
  readonly text: string
}

interface Term {
  readonly key: string
  readonly text: string
  readonly matches: (value: string | undefined) => boolean
}

interface Token {
  readonly type: 'end' | 'word' | 'symbol'
  readonly text: string
}

const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+))/y
const OPERATORS = 'in, notin, =, ==, !=, gt, lt'

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [, symbol, word] = match
    tokens.push(symbol === undefined ? { type: 'word', text: word! } : { type: 'symbol', text: symbol })
  }
  return tokens
}

/** Parses a selector; all terms must hold. A GoError has the message of Kubernetes. */
export function parseLabelQuery(text: string): LabelQuery {
  const terms = new LabelParser(tokensOf(text)).terms()
  terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return {
    text: terms.map((term) => term.text).join(','),
    matches: (labels) =>
      terms.every(({ key, matches }) => matches(Object.hasOwn(labels, key) ? labels[key] : undefined)),
  }
}

const END: Token = { type: 'end', text: '' }

class LabelParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  terms(): Term[] {
    const terms: Term[] = []
    for (;;) {
      const token = this.#peek()
      if (token.type === 'end') return terms
      if (token.type === 'symbol' && token.text !== '!') {
        throw new GoError(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      }
      terms.push(this.#requirement())
      const after = this.#next()
      if (after.type === 'end') return terms
      if (after.text !== ',') throw new GoError(`found '${after.text}', expected: ',' or 'end of string'`)
      const following = this.#peek()
      if (following.type !== 'word' && following.text !== '!') {
        throw new GoError(`found '${following.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): Term {
    try {
      return this.#term()
    } catch (caught) {
      if (!(caught instanceof GoError)) throw caught
      throw new GoError(`unable to parse requirement: ${caught.message}`)
    }
  }

  #term(): Term {
    const isAbsence = this.#peek().text === '!'
    if (isAbsence) this.#next()
    const name = this.#next()
    if (name.type !== 'word') throw new GoError(`found '${name.text}', expected: identifier`)
    const key = name.text
    if (isAbsence) return { key, text: `!${key}`, matches: (value) => value === undefined }
    const following = this.#peek()
    if (following.type === 'end' || following.text === ',') {
      return { key, text: key, matches: (value) => value !== undefined }
    }
    const operator = this.#next().text
    switch (operator) {
      case 'in':
      case 'notin': {
        const values = this.#values()
        const isIn = operator === 'in'
        return {
          key,
          text: `${key} ${operator} (${[...values].sort().join(',')})`,
          matches: (value) => (value === undefined ? !isIn : values.includes(value) === isIn),
        }
      }
      case '=':
      case '==':
      case '!=': {
        const wanted = this.#exactValue()
        const isEqual = operator !== '!='
        return {
          key,
          text: `${key}${isEqual ? '=' : '!='}${wanted}`,
          matches: (value) => (value === wanted) === isEqual,
        }
      }
      case '<':
      case '>': {
        const limit = this.#exactValue()
        if (!WHOLE.test(limit)) {
          throw new GoError(
            `values[0][${key}]: Invalid value: "${limit}": for 'Gt', 'Lt' operators, the value must be an integer`,
          )
        }
        const compares = (value: bigint): boolean => (operator === '>' ? value > BigInt(limit) : value < BigInt(limit))
        return {
          key,
          text: `${key}${operator}${limit}`,
          matches: (value) => value !== undefined && WHOLE.test(value) && compares(BigInt(value)),
        }
      }
      default:
        throw new GoError(`found '${operator}', expected: ${OPERATORS}`)
    }
  }

  #values(): string[] {
    const open = this.#next()
    if (open.text !== '(') throw new GoError(`found '${open.text}', expected: '('`)
    const values: string[] = []
    for (let token = this.#next(); token.text !== ')'; token = this.#next()) {
      if (token.type === 'end') throw new GoError(`found '', expected: ',' or ')'`)
      if (token.type === 'word') values.push(token.text)
      else if (token.text === ',' && this.#peek().text === ',') values.push('')
    }
    return values.length === 0 ? [''] : values
  }

  #exactValue(): string {
    const { type, text } = this.#peek()
    if (type === 'end' || text === ',') return ''
    if (type !== 'word') throw new GoError(`found '${text}', expected: identifier`)
    this.#next()
    return text
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END
  }

  #next(): Token {
    const token = this.#peek()
    this.#at += 1
    return token
  }
}

const WHOLE = /^-?\d{1,19}$/
