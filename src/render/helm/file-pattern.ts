/** Go's filepath.Match and .helmignore, which is built on it. */

/** A pattern that Go would refuse. */
export class BadPattern extends Error {
  override readonly name = 'BadPattern'
}

/** filepath.Match: `*` and `?` stop at slashes, `[…]` is a class, a backslash escapes. */
export function compilePattern(pattern: string): RegExp {
  let source = ''
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*') source += '[^/]*'
    else if (char === '?') source += '[^/]'
    else if (char === '\\') {
      at += 1
      if (at >= pattern.length) throw new BadPattern('syntax error in pattern')
      source += quote(pattern[at]!)
    } else if (char === '[') {
      const close = classEnd(pattern, at)
      source += classSource(pattern.slice(at + 1, close))
      at = close
    } else source += quote(char)
  }
  return new RegExp(`^${source}$`, 'su')
}

function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

function classEnd(pattern: string, open: number): number {
  for (let at = open + 1; at < pattern.length; at++) {
    if (pattern[at] === '\\') at += 1
    else if (pattern[at] === ']' && at > open + 1 && !(at === open + 2 && pattern[open + 1] === '^')) return at
  }
  throw new BadPattern('syntax error in pattern')
}

function classSource(body: string): string {
  const negated = body.startsWith('^')
  const items = negated ? body.slice(1) : body
  let source = ''
  for (let at = 0; at < items.length; at++) {
    const char = items[at]!
    if (char === '\\') {
      at += 1
      source += `\\${items[at]}`
    } else source += char === '-' && at > 0 && at < items.length - 1 ? '-' : /[\\\]^[-]/.test(char) ? `\\${char}` : char
  }
  return negated ? `[^${source}]` : `[${source}]`
}

/** Whether a path is to be left out; directories end the walk. */
export type IgnoreRules = (path: string, isDirectory: boolean) => boolean

interface Rule {
  readonly negate: boolean
  readonly directoryOnly: boolean
  readonly matches: (path: string) => boolean
}

/** The rules of a .helmignore text, and the ones that always hold. */
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

function parseRule(line: string): Rule[] {
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
  const regex = compilePattern(pattern)
  return (path) => regex.test(path)
}
