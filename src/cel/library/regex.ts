/** Regular expressions by RE2, which never takes more than linear time. */
import { RE2JS } from 're2js'
import { ArrayList, CelFailure } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Overload } from './overload.ts'

const MAX_COMPILED = 500
const compiled = new Map<string, RE2JS>()

/** A compiled pattern; an error names what is wrong with it. */
export function compileRegex(pattern: string): RE2JS {
  const known = compiled.get(pattern)
  if (known) return known
  let made: RE2JS
  try {
    made = RE2JS.compile(pattern)
  } catch (error) {
    throw new CelFailure(
      `error parsing regexp: ${error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''}`,
    )
  }
  // Oldest out: patterns come from stored rules, of which there are few, or from data, of which there may be many.
  if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value!)
  compiled.set(pattern, made)
  return made
}

function findAll(text: string, pattern: string, limit = -1n): ArrayList {
  const matcher = compileRegex(pattern).matcher(text)
  const found: string[] = []
  const most = limit < 0n ? Infinity : Number(limit)
  let end = -1
  while (found.length < most && matcher.find()) {
    // As in Go, an empty match right after a match is none.
    if (matcher.start() !== matcher.end() || matcher.start() !== end) found.push(matcher.group() ?? '')
    end = matcher.end()
  }
  return new ArrayList(found)
}

function find(text: string, pattern: string): string {
  const matcher = compileRegex(pattern).matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

const matches = (text: string, pattern: string): boolean => compileRegex(pattern).matcher(text).find()

/** `matches`, `find` and `findAll`. */
export const REGEX: readonly Overload[] = parseOverloads({
  matches: ['matches(string, string): bool', matches],
  matches_string: ['string::matches(string): bool', matches],
  string_find_string: ['string::find(string): string', find],
  string_find_all_string: ['string::findAll(string): list<string>', findAll],
  string_find_all_string_int: ['string::findAll(string, int): list<string>', findAll],
})
