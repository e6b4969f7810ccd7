/**
 * Globs of Argo CD (gobwas/glob): `*` stops at separators, `**` does not, `?`, `[abc]`, `[!a-z]`, `{a,b}` and `\`. They
 * are matched in linear time.
 */
import { RE2JS } from 're2js'

/** The longest pattern that is read; a longer one matches nothing. */
const MAX_PATTERN = 4096
const MAX_KEPT = 1000
const kept = new Map<string, RE2JS | undefined>()

// A single place alone is asked for no character, too: the library takes the end of the text for one.
const LONE_PLACE = /^(?:\?|\[!(?:.-.|[^\]\\]+)\])$/su

/** Whether a whole text fits a pattern. A pattern that is not valid fits nothing. */
export function matchesArgoGlob(pattern: string, text: string, separators = ''): boolean {
  if (text === '' && LONE_PLACE.test(pattern)) return true
  return compileArgoGlob(pattern, separators)?.matcher(text).matches() ?? false
}

/** The pattern as a regular expression; undefined when it is not valid. */
export function compileArgoGlob(pattern: string, separators = ''): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN) return undefined
  const key = `${separators}\n${pattern}`
  if (kept.has(key)) return kept.get(key)
  const source = new GlobReader(pattern, separators).read()
  const compiled = source === undefined ? undefined : RE2JS.compile(source, RE2JS.DOTALL)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(key, compiled)
  return compiled
}

class GlobReader {
  readonly #chars: readonly string[]
  readonly #any: string
  #at = 0

  constructor(pattern: string, separators: string) {
    this.#chars = [...pattern]
    this.#any = separators === '' ? '.' : `[^${[...separators].map(RE2JS.quote).join('')}]`
  }

  read(): string | undefined {
    let source = ''
    let depth = 0
    while (this.#at < this.#chars.length) {
      const char = this.#chars[this.#at++]!
      if (char === '{') {
        depth += 1
        source += '(?:'
      } else if (char === '}' && depth > 0) {
        depth -= 1
        source += ')'
      } else if (char === ',' && depth > 0) source += '|'
      else if (char === '[') {
        const range = this.#range()
        if (range === undefined) return undefined
        source += range
      } else source += this.#plain(char)
    }
    return depth === 0 ? source : undefined
  }

  #plain(char: string): string {
    if (char === '?') return this.#any
    if (char === '*') {
      if (this.#chars[this.#at] !== '*') return `${this.#any}*`
      this.#at += 1
      return '.*'
    }
    if (char !== '\\') return RE2JS.quote(char)
    const next = this.#chars[this.#at++]
    return next === undefined ? '' : RE2JS.quote(next)
  }

  /** `[abc]`, `[a-c]` and both with `!`; undefined when it does not end. */
  #range(): string | undefined {
    const isNot = this.#chars[this.#at] === '!'
    if (isNot) this.#at += 1
    const [low, dash, high, close] = this.#chars.slice(this.#at, this.#at + 4)
    if (dash === '-' && low !== undefined) {
      if (close !== ']' || high === undefined || high < low) return undefined
      this.#at += 4
      return `[${isNot ? '^' : ''}${classChar(low)}-${classChar(high)}]`
    }
    const items: string[] = []
    for (;;) {
      let char = this.#chars[this.#at++]
      if (char === undefined) return undefined
      if (char === ']') break
      if (char === '\\') char = this.#chars[this.#at++]
      if (char === undefined) return undefined
      items.push(classChar(char))
    }
    return items.length === 0 ? undefined : `[${isNot ? '^' : ''}${items.join('')}]`
  }
}

function classChar(char: string): string {
  return /^[A-Za-z0-9]$/.test(char) ? char : `\\x{${char.codePointAt(0)!.toString(16)}}`
}
