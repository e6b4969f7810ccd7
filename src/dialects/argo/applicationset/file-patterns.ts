// Tested by src/dialects/argo/applicationset/generate.test.ts.
/**
 * Which files of a repository a pattern of the git generator means: git's pathspecs, in which `*` crosses slashes, or
 * the new globbing, in which it does not.
 */
import { RE2JS } from 're2js'
import { ApplicationSetError } from './applicationset-error.ts'

const MAX_PATTERN = 4096

/** The files that `git ls-files -- PATTERN` lists. */
export function matchPathspec(pattern: string, paths: readonly string[]): string[] {
  checkLength(pattern)
  const spec = readPathspec(pattern === '' ? '.' : pattern)
  const match = normalizePath(spec.text, pattern)
  const literal = spec.isCaseless ? match.toLowerCase() : match
  const wild = spec.isLiteral || !/[*?[\\]/.test(match) ? undefined : wildcard(match, spec)
  return paths.filter((path) => {
    const name = spec.isCaseless ? path.toLowerCase() : path
    const isBelow = literal === '' || literal.endsWith('/') || name[literal.length] === '/'
    const isMeant = name === literal || (name.startsWith(literal) && isBelow) || wild?.matcher(path).matches() === true
    return isMeant !== spec.isExcluded
  })
}

function checkLength(pattern: string): void {
  if (pattern.length > MAX_PATTERN) throw new ApplicationSetError(`a path has more than ${MAX_PATTERN} characters`)
}

interface Pathspec {
  readonly text: string
  readonly isLiteral: boolean
  readonly isCaseless: boolean
  readonly isExcluded: boolean
  /** `:(glob)`: `*` stops at slashes. */
  readonly isGlob: boolean
}

/** Takes the magic words off: `:(glob,icase)x`, `:!x`, `:/x`. */
function readPathspec(pattern: string): Pathspec {
  const [, long, short = '', rest = ''] = /^:(?:\(([^)]*)\)|([!^/]*)(?::)?)(.*)$/s.exec(pattern) ?? []
  if (!pattern.startsWith(':')) {
    return { text: pattern, isLiteral: false, isCaseless: false, isExcluded: false, isGlob: false }
  }
  const words = long?.split(',').filter((word) => word !== '') ?? []
  const unknown = words.find((word) => !['top', 'icase', 'literal', 'glob', 'exclude'].includes(word))
  if (unknown !== undefined) throw new ApplicationSetError(`Invalid pathspec magic '${unknown}' in '${pattern}'`)
  return {
    text: rest === '' ? '.' : rest,
    isLiteral: words.includes('literal'),
    isCaseless: words.includes('icase'),
    isExcluded: words.includes('exclude') || /[!^]/.test(short),
    isGlob: words.includes('glob'),
  }
}

/** The path without `.` and `..`; outside of the repository it is an error. */
function normalizePath(text: string, pattern: string): string {
  const parts: string[] = []
  const outside = (): never => {
    throw new ApplicationSetError(`fatal: ${pattern}: '${pattern}' is outside repository`)
  }
  if (text.startsWith('/')) outside()
  for (const part of text.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) outside()
    } else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.length > 0 && text.endsWith('/') ? `${parts.join('/')}/` : parts.join('/')
}

/** git's wildmatch as a regular expression; undefined when the pattern ends within something. */
function wildcard(pattern: string, { isCaseless, isGlob }: Pathspec): RE2JS | undefined {
  const [any, one] = isGlob ? ['[^/]*', '[^/]'] : ['.*', '.']
  let source = ''
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    if (char === '*') {
      let stars = 1
      while (chars[at + 1] === '*') [at, stars] = [at + 1, stars + 1]
      if (isGlob && stars === 2 && chars[at + 1] === '/' && (at === 1 || chars[at - 2] === '/')) {
        source += '(?:.*/)?'
        at += 1
      } else source += isGlob && stars === 2 && at === chars.length - 1 ? '.*' : any
    } else if (char === '?') source += one
    else if (char === '\\') {
      const next = chars[++at]
      if (next === undefined) return undefined
      source += RE2JS.quote(next)
    } else if (char === '[') {
      const read = readClass(chars, at + 1)
      if (!read) return undefined
      source += isGlob ? read.source.replace(/^\[\^/, '[^/') : read.source
      at = read.end
    } else source += RE2JS.quote(char)
  }
  return RE2JS.compile(source, RE2JS.DOTALL | (isCaseless ? RE2JS.CASE_INSENSITIVE : 0))
}

/** A class behind its `[`: `!` or `^` negate, ranges and escapes; undefined when it does not end. */
function readClass(
  chars: readonly string[],
  start: number,
): { readonly source: string; readonly end: number } | undefined {
  const isNot = chars[start] === '!' || chars[start] === '^'
  let at = isNot ? start + 1 : start
  const items: string[] = []
  for (let count = 0; chars[at] !== ']' || count === 0; count++) {
    const named = /^\[:([a-z]+):\]/.exec(chars.slice(at, at + 12).join(''))
    if (named) {
      items.push(`[:${named[1]}:]`)
      at += named[0].length
      continue
    }
    const low = readChar(chars, at)
    const high = low && chars[low.end] === '-' && chars[low.end + 1] !== ']' ? readChar(chars, low.end + 1) : low
    if (!low || !high) return undefined
    if (low.code <= high.code) items.push(`\\x{${low.code.toString(16)}}-\\x{${high.code.toString(16)}}`)
    at = high.end
  }
  if (items.length === 0) return { source: isNot ? '.' : '[^\\x{0}-\\x{10ffff}]', end: at }
  return { source: `[${isNot ? '^' : ''}${items.join('')}]`, end: at }
}

function readChar(
  chars: readonly string[],
  start: number,
): { readonly code: number; readonly end: number } | undefined {
  const at = chars[start] === '\\' ? start + 1 : start
  const code = chars[at]?.codePointAt(0)
  return code === undefined || at + 1 > chars.length ? undefined : { code, end: at + 1 }
}

/** The files that the new globbing finds; a directory among them is an error, since it cannot be read. */
export function matchNewGlob(pattern: string, paths: readonly string[]): string[] {
  checkLength(pattern)
  const cleaned = cleanPath(pattern)
  if (cleaned === undefined) return []
  const expression = doublestar(cleaned)
  const folders = foldersOf(paths)
  const folder = [...folders].find((one) => expression.matcher(one).matches())
  if (folder !== undefined) {
    throw new ApplicationSetError(`unable to read files: pattern ${pattern}: read ${folder || '.'}: is a directory`)
  }
  return paths.filter((path) => expression.matcher(path).matches())
}

/** The files that a pattern of `**`, `*`, `?`, `[ ]` and `{ }` matches; throws ApplicationSetError. */
export function matchDoublestar(pattern: string, paths: readonly string[]): string[] {
  checkLength(pattern)
  const expression = doublestar(pattern)
  return paths.filter((path) => expression.matcher(path).matches())
}

function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set([''])
  for (const path of paths) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at))
  }
  return folders
}

/** The path below the top; undefined when it leads out. */
function cleanPath(text: string): string | undefined {
  const parts: string[] = []
  for (const part of text.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined
    } else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** `**` is any folders, `*` stops at slashes, `{a,b}` is one of both. */
function doublestar(pattern: string): RE2JS {
  const bad = (): never => {
    throw new ApplicationSetError(`unable to list files: pattern ${pattern}: syntax error in pattern`)
  }
  const chars = [...pattern]
  let source = ''
  let depth = 0
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    const isPartStart = at === 0 || chars[at - 1] === '/'
    if (char === '*' && chars[at + 1] === '*' && isPartStart && (chars[at + 2] === '/' || at + 2 === chars.length)) {
      if (chars[at + 2] === '/') {
        source += '(?:.*/)?'
        at += 2
      } else {
        // `a/**` is `a` itself, too.
        source = source.endsWith('/') ? `${source.slice(0, -1)}(?:/.*)?` : `${source}.*`
        at += 1
      }
    } else if (char === '*') {
      while (chars[at + 1] === '*') at += 1
      source += '[^/]*'
    } else if (char === '?') source += '[^/]'
    else if (char === '{') {
      depth += 1
      source += '(?:'
    } else if (char === '}' && depth > 0) {
      depth -= 1
      source += ')'
    } else if (char === ',' && depth > 0) source += '|'
    else if (char === '[') {
      const read = readClass(chars, at + 1) ?? bad()
      source += read.source
      at = read.end
    } else if (char === '\\') {
      const next = chars[++at] ?? bad()
      source += RE2JS.quote(next)
    } else source += RE2JS.quote(char)
  }
  if (depth > 0) bad()
  return RE2JS.compile(source, RE2JS.DOTALL)
}
