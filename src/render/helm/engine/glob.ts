/** `.Files.Glob`: the gobwas/glob syntax with `/` as separator. */
import { RE2JS } from 're2js'

/** Compiles a glob; undefined when its syntax is wrong (Helm then takes every file). Matching takes linear time. */
export function compileGlob(pattern: string): { test(path: string): boolean } | undefined {
  const source = new GlobParser(pattern).sequence(false)
  if (source === undefined) return undefined
  const compiled = RE2JS.compile(source, RE2JS.DOTALL)
  return { test: (path) => compiled.matcher(path).matches() }
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/

class GlobParser {
  readonly #text: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#text = [...pattern]
  }

  /** Up to the end, or inside braces up to `,` or `}`. */
  sequence(inBraces: boolean): string | undefined {
    let source = ''
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!
      if (inBraces && (char === ',' || char === '}')) return source
      this.#at += 1
      const part = this.#part(char)
      if (part === undefined) return undefined
      source += part
    }
    return inBraces ? undefined : source
  }

  #part(char: string): string | undefined {
    switch (char) {
      case '*':
        if (this.#text[this.#at] !== '*') return '[^/]*'
        while (this.#text[this.#at] === '*') this.#at += 1
        return '.*'
      case '?':
        return '[^/]'
      case '\\': {
        const next = this.#text[this.#at]
        if (next === undefined) return undefined
        this.#at += 1
        return quote(next)
      }
      case '[':
        return this.#characters()
      case '{':
        return this.#alternatives()
      default:
        return quote(char)
    }
  }

  #alternatives(): string | undefined {
    const options: string[] = []
    for (;;) {
      const option = this.sequence(true)
      if (option === undefined) return undefined
      options.push(option)
      const end = this.#text[this.#at]
      this.#at += 1
      if (end === '}') return `(?:${options.join('|')})`
    }
  }

  #characters(): string | undefined {
    const close = this.#text.indexOf(']', this.#at)
    if (close < 0) return undefined
    const body = this.#text.slice(this.#at, close)
    this.#at = close + 1
    const negated = body[0] === '!'
    if (negated) body.shift()
    if (body.length === 0) return undefined
    const set = body.map((char, index) => {
      if (char === '-' && body.length === 3 && index === 1) return '-'
      return /[\\\]^[-]/.test(char) ? `\\${char}` : char
    })
    return `[${negated ? '^' : ''}${set.join('')}]`
  }
}

function quote(char: string): string {
  return SPECIAL.test(char) ? `\\${char}` : char
}
