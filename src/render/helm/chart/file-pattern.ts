/** Go's filepath.Match and .helmignore, which is built on it. */
import { goBytes } from '../../gotemplate/go-string.ts'

/** A pattern that Go would refuse. */
export class BadPattern extends Error {
  override readonly name = 'BadPattern'
}

/** A compiled pattern; a match takes at most pattern × text steps. */
export interface FilePattern {
  /** Whether the whole text matches. */
  test(text: string): boolean
}

/** One place of a pattern: a star, or what one character must be. */
type Part = 'Star' | ((code: number) => boolean)

const SLASH = 0x2f
const isInPart = (code: number): boolean => code !== SLASH

/** filepath.Match: `*` and `?` stop at slashes, `[…]` is a class, a backslash escapes. */
export function compilePattern(pattern: string): FilePattern {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*') parts.push('Star')
    else if (char === '?') parts.push(isInPart)
    else if (char === '[') {
      const read = readClass(pattern, at + 1)
      parts.push(read.holds)
      at = read.end
    } else {
      if (char === '\\') at += 1
      const code = pattern.codePointAt(at)
      if (code === undefined) throw new BadPattern('syntax error in pattern')
      parts.push((other) => other === code)
      if (code > 0xffff) at += 1
    }
  }
  return { test: (text) => matchesParts(parts, codesOf(text)) }
}

/** As in Go, only the newest star takes more when the rest does not match. */
function matchesParts(parts: readonly Part[], codes: readonly number[]): boolean {
  let part = 0
  let at = 0
  let star = -1
  let resume = 0
  while (at < codes.length) {
    const wanted = parts[part]
    if (wanted === 'Star') {
      star = part++
      resume = at
    } else if (wanted?.(codes[at]!)) {
      part += 1
      at += 1
    } else if (star >= 0 && codes[resume] !== SLASH) {
      part = star + 1
      at = ++resume
    } else return false
  }
  while (parts[part] === 'Star') part += 1
  return part === parts.length
}

function codesOf(text: string): readonly number[] {
  return Array.from(text, (char) => char.codePointAt(0)!)
}

/** A class behind its `[`, and where it ends. */
function readClass(
  pattern: string,
  start: number,
): { readonly holds: (code: number) => boolean; readonly end: number } {
  const isNegated = pattern[start] === '^'
  let at = isNegated ? start + 1 : start
  const ranges: (readonly [low: number, high: number])[] = []
  for (let count = 0; pattern[at] !== ']' || count === 0; count++) {
    const low = classChar(pattern, at)
    const high = pattern[low.end] === '-' ? classChar(pattern, low.end + 1) : low
    ranges.push([low.code, high.code])
    at = high.end
  }
  return { holds: (code) => ranges.some(([low, high]) => low <= code && code <= high) !== isNegated, end: at }
}

/** Reads a character of a class, which may be escaped, and returns the next position; the class must continue. */
function classChar(pattern: string, start: number): { readonly code: number; readonly end: number } {
  const at = pattern[start] === '\\' ? start + 1 : start
  const code = pattern.codePointAt(at)
  const isBare = at === start && /[-\]]/.test(pattern[start] ?? '-')
  const end = at + ((code ?? 0) > 0xffff ? 2 : 1)
  if (code === undefined || isBare || end >= pattern.length) throw new BadPattern('syntax error in pattern')
  return { code, end }
}

/** Whether a path is to be left out; directories end the walk. */
export type IgnoreRules = (path: string, isDirectory: boolean) => boolean

interface Rule {
  readonly negate: boolean
  readonly directoryOnly: boolean
  readonly matches: (path: string) => boolean
}

/** The rules of a .helmignore text, and Helm's default rules. */
export function ignoreRules(text: string): IgnoreRules {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const rules = [...lines, 'templates/.?*'].flatMap(parseRule)
  return (path, isDirectory) => {
    for (const rule of rules) {
      const applies = !rule.directoryOnly || isDirectory
      if (rule.negate) {
        if (!applies || !rule.matches(path)) return true
      } else if (applies && rule.matches(path)) return true
    }
    return false
  }
}

/** A pattern; a pattern that matches nothing where Go's Match would fail. */
export function patternOrNone(text: string): FilePattern {
  try {
    return compilePattern(text)
  } catch (error) {
    if (error instanceof BadPattern) return { test: () => false }
    throw error
  }
}

/** The longest line that Go's scanner reads. */
const MAX_LINE = 64 * 1024 - 1

function parseRule(line: string): Rule[] {
  if (goBytes(line).length > MAX_LINE) throw new BadPattern('bufio.Scanner: token too long')
  const rule = line.trim()
  if (rule === '' || rule.startsWith('#')) return []
  if (rule.includes('**')) throw new BadPattern('double-star (**) syntax is not supported')
  if (SPECIAL.test(rule)) compilePattern(rule) // or it is refused
  const negate = rule.startsWith('!')
  let pattern = negate ? rule.slice(1) : rule
  const directoryOnly = pattern.endsWith('/')
  if (directoryOnly) pattern = pattern.slice(0, -1)
  if (pattern.startsWith('/')) return [{ negate, directoryOnly, matches: matcher(pattern.slice(1)) }]
  const matches = matcher(pattern)
  const whole = pattern.includes('/')
  return [{ negate, directoryOnly, matches: (path) => matches(whole ? path : path.slice(path.lastIndexOf('/') + 1)) }]
}

const SPECIAL = /[*?[\\]/

/** filepath.Match; most patterns are a name, or `*` and an ending. */
function matcher(pattern: string): (path: string) => boolean {
  if (!SPECIAL.test(pattern)) return (path) => path === pattern
  const ending = pattern.slice(1)
  if (pattern.startsWith('*') && !SPECIAL.test(ending) && !ending.includes('/')) {
    return (path) => path.endsWith(ending) && !path.includes('/')
  }
  const compiled = patternOrNone(pattern)
  return (path) => compiled.test(path)
}
