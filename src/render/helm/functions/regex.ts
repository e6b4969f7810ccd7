/** Sprig's regular expressions on RE2, with Go's rules for empty matches, splitting and `${name}` in replacements. */
import { RE2JS, RE2JSException } from 're2js'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { goQuote } from '../../gotemplate/go-string.ts'
import { nilSlice, stringSlice } from '../../gotemplate/value.ts'
import { count } from './convert.ts'

/** A match: where it starts and ends, and its groups as [start, end] (-1 when a group took no part). */
interface Match {
  readonly start: number
  readonly end: number
  readonly groups: readonly (readonly [number, number])[]
}

const compiled = new Map<string, RE2JS>()
const MAX_COMPILED = 1_000
const CUT_RUNE = /\p{Surrogate}/u

/** regexp.Compile; patterns are kept, charts use the same few again and again. */
function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern)
  if (known) return known
  if (!pattern.isWellFormed()) {
    throw new GoError(`error parsing regexp: invalid UTF-8: \`${pattern.slice(pattern.search(CUT_RUNE))}\``)
  }
  try {
    const regex = RE2JS.compile(pattern)
    if (compiled.size >= MAX_COMPILED) compiled.clear()
    compiled.set(pattern, regex)
    return regex
  } catch (error) {
    if (error instanceof RE2JSException)
      throw new GoError(`error parsing regexp: ${error.message.replace(/^error parsing regexp: /, '')}`)
    throw error
  }
}

// oxlint-disable-next-line no-control-regex -- exactly what strconv.CanBackquote refuses
const NOT_IN_BACKQUOTES = /[`\u0000-\u0008\u000a-\u001f\u007f\ufeff]|\p{Surrogate}/u

/** The functions without `must` panic on a bad pattern, and Go's panic shows it. */
function panicking(fun: GoFunction): GoFunction {
  return {
    ...fun,
    call: (args) => {
      const pattern = args[0] as string
      try {
        compile(pattern)
      } catch (error) {
        if (!(error instanceof GoError)) throw error
        const quoted = NOT_IN_BACKQUOTES.test(pattern) ? goQuote(pattern) : `\`${pattern}\``
        throw new GoError(`regexp: Compile(${quoted}): ${error.message}`)
      }
      return fun.call(args)
    },
  }
}

/** All matches as Go's regexp.FindAll sees them: an empty match right after another match does not count. */
function findAll(regex: RE2JS, text: string, limit = -1): Match[] {
  const matcher = regex.matcher(text)
  const matches: Match[] = []
  let previousEnd = -1
  let at = 0
  const most = limit < 0 ? Infinity : limit
  while (at <= text.length && matches.length < most) {
    if (!matcher.find(at)) break
    const [start, end] = [matcher.start(0), matcher.end(0)]
    if (end > start || start !== previousEnd) {
      const groups = Array.from(
        { length: matcher.groupCount() + 1 },
        (_, group) => [matcher.start(group), matcher.end(group)] as const,
      )
      matches.push({ start, end, groups })
    }
    previousEnd = end
    if (end > start) at = end
    else at = end + (text.codePointAt(end) !== undefined && text.codePointAt(end)! > 0xffff ? 2 : 1)
    if (end > start) continue
  }
  return matches
}

/** Go's Regexp.Expand: `$1`, `$name`, `${name}`, `$$`; an unknown name is nothing. */
function expand(template: string, text: string, match: Match, names: Readonly<Record<string, number>>): string {
  return template.replace(/\$(?:\$|\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))/g, (whole, braced?: string, plain?: string) => {
    if (whole === '$$') return '$'
    const name = braced ?? plain!
    const group = /^\d+$/.test(name) ? Number(name) : names[name]
    const found = group === undefined ? undefined : match.groups[group]
    return found && found[0] >= 0 ? text.slice(found[0], found[1]) : ''
  })
}

function replaceAll(pattern: string, text: string, replace: (match: Match, regex: RE2JS) => string): string {
  const regex = compile(pattern)
  let out = ''
  let last = 0
  for (const match of findAll(regex, text)) {
    out += text.slice(last, match.start) + replace(match, regex)
    last = match.end
  }
  return out + text.slice(last)
}

/** Go's Regexp.Split. */
function split(pattern: string, text: string, limit: number): string[] {
  const regex = compile(pattern)
  if (limit === 0) return []
  if (pattern !== '' && text === '') return ['']
  const parts: string[] = []
  let begin = 0
  let end = 0
  for (const match of findAll(regex, text, limit)) {
    if (limit > 0 && parts.length === limit - 1) break
    end = match.start
    if (match.end !== 0) parts.push(text.slice(begin, end))
    begin = match.end
  }
  if (end !== text.length) parts.push(text.slice(begin))
  return parts
}

const match = goFunction(['string', 'string'], ([pattern, text]) =>
  compile(pattern as string)
    .matcher(text as string)
    .find(),
)
const find = goFunction(['string', 'string'], ([pattern, text]) => {
  const [first] = findAll(compile(pattern as string), text as string, 1)
  return first ? (text as string).slice(first.start, first.end) : ''
})
const all = goFunction(['string', 'string', 'int'], ([pattern, text, limit]) => {
  const found = findAll(compile(pattern as string), text as string, count(limit))
  if (found.length === 0) return nilSlice('[]string')
  return stringSlice(found.map(({ start, end }) => (text as string).slice(start, end)))
})
const replace = goFunction(['string', 'string', 'string'], ([pattern, text, template]) =>
  replaceAll(pattern as string, text as string, (found, regex) =>
    expand(template as string, text as string, found, regex.namedGroups()),
  ),
)
const replaceLiteral = goFunction(['string', 'string', 'string'], ([pattern, text, literal]) =>
  replaceAll(pattern as string, text as string, () => literal as string),
)
const splitBy = goFunction(['string', 'string', 'int'], ([pattern, text, limit]) => {
  const parts = split(pattern as string, text as string, count(limit))
  return count(limit) === 0 ? nilSlice('[]string') : stringSlice(parts)
})

/** Regular expressions. */
export const REGEX_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  regexMatch: goFunction(['string', 'string'], (args) => {
    try {
      return match.call(args)
    } catch (error) {
      if (error instanceof GoError) return false
      throw error
    }
  }),
  mustRegexMatch: match,
  regexFind: panicking(find),
  mustRegexFind: find,
  regexFindAll: panicking(all),
  mustRegexFindAll: all,
  regexReplaceAll: panicking(replace),
  mustRegexReplaceAll: replace,
  regexReplaceAllLiteral: panicking(replaceLiteral),
  mustRegexReplaceAllLiteral: replaceLiteral,
  regexSplit: panicking(splitBy),
  mustRegexSplit: splitBy,
  regexQuoteMeta: goFunction(['string'], ([text]) => (text as string).replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
}
