// Tested by src/lua/lua.test.ts
/** `string`. */
import { isTrue, LuaTable, toNumber, toText, typeName, Unlocated } from '../run/values.ts'
import type { Budget, LuaValue } from '../run/values.ts'
import type { Arguments, Natives } from './arguments.ts'
import { formatText } from './format.ts'
import { findMatch } from './patterns.ts'
import type { Match } from './patterns.ts'

/** Functions of `string`; strings have them as methods, too. */
export const STRING: Natives = {
  byte(args, budget) {
    const text = args.text(0)
    const from = args.integer(1, 1)
    const part = slice(text, from, args.integer(2, from))
    budget.step(part.length)
    return Array.from(part, (char) => char.charCodeAt(0))
  },
  char(args, budget) {
    const codes = args.all.map((_, at) => args.integer(at) & 0xff)
    return [budget.text(String.fromCharCode(...codes))]
  },
  find: (args, budget) => find(args, budget),
  format: (args, budget) => [formatText(args, budget)],
  gmatch(args, budget) {
    const [text, pattern] = [args.text(0), args.text(1)]
    let at = 0
    const call = (): readonly LuaValue[] => {
      const found = at > text.length ? undefined : findMatch(text, pattern, at, budget)
      if (!found) return [undefined]
      at = found.to > found.from ? found.to : found.to + 1
      return captured(text, found, budget)
    }
    return [{ name: 'gmatch', call }]
  },
  gsub: (args, budget) => replace(args, budget),
  len: (args) => [args.text(0).length],
  lower: (args, budget) => [budget.text(args.text(0).replaceAll(/[A-Z]+/g, (found) => found.toLowerCase()))],
  match(args, budget) {
    const text = args.text(0)
    const found = findMatch(text, args.text(1), startOf(text, args.integer(2, 1)), budget)
    return found ? captured(text, found, budget) : [undefined]
  },
  rep(args, budget) {
    const text = args.text(0)
    const count = Math.max(0, args.integer(1))
    if (text === '') return ['']
    budget.allocate(text.length * count)
    return [text.repeat(count)]
  },
  reverse: (args, budget) => [budget.text([...args.text(0)].toReversed().join(''))],
  sub: (args, budget) => [budget.text(slice(args.text(0), args.integer(1), args.integer(2, -1)))],
  upper: (args, budget) => [budget.text(args.text(0).replaceAll(/[a-z]+/g, (found) => found.toUpperCase()))],
}

/** Positions count from 1; negative ones from the end. */
function slice(text: string, from: number, to: number): string {
  const first = from < 0 ? Math.max(text.length + from, 0) : Math.max(from, 1) - 1
  const last = to < 0 ? text.length + to + 1 : Math.min(to, text.length)
  return first < last ? text.slice(first, last) : ''
}

function startOf(text: string, from: number): number {
  return from < 0 ? Math.max(text.length + from, 0) : Math.max(from, 1) - 1
}

/** The captures of a match, or all of it if the pattern has none. */
function captured(text: string, { from, to, captures }: Match, budget: Budget): readonly LuaValue[] {
  return captures.length > 0 ? captures : [budget.text(text.slice(from, to))]
}

function find(args: Arguments, budget: Budget): readonly LuaValue[] {
  const [text, pattern] = [args.text(0), args.text(1)]
  const from = startOf(text, args.integer(2, 1))
  if (from > text.length) return [undefined]
  if (isTrue(args.all[3])) {
    budget.step(text.length)
    const at = text.indexOf(pattern, from)
    return at < 0 ? [undefined] : [at + 1, at + pattern.length]
  }
  const found = findMatch(text, pattern, from, budget)
  return found ? [found.from + 1, found.to, ...found.captures] : [undefined]
}

function replace(args: Arguments, budget: Budget): readonly LuaValue[] {
  const [text, pattern, replacement] = [args.text(0), args.text(1), args.any(2)]
  const most = args.integer(3, Infinity)
  const isAnchored = pattern.startsWith('^')
  let made = ''
  let at = 0
  let count = 0
  while (count < most) {
    const found = findMatch(text, pattern, at, budget)
    if (!found) break
    count += 1
    const part = text.slice(at, found.from) + replaced(text, found, { replacement, budget })
    budget.allocate(part.length)
    made += part
    at = found.to
    if (found.to === found.from) {
      made += text.slice(at, at + 1)
      at += 1
    }
    if (isAnchored || at > text.length) break
  }
  return [budget.text(made + text.slice(at)), count]
}

interface Replacing {
  readonly replacement: LuaValue
  readonly budget: Budget
}

function replaced(text: string, found: Match, { replacement, budget }: Replacing): string {
  const whole = text.slice(found.from, found.to)
  const captures = captured(text, found, budget)
  if (typeof replacement === 'string' || typeof replacement === 'number') {
    return toText(replacement).replaceAll(/%([\s\S]?)/g, (_, char: string) => {
      if (!/^\d$/.test(char)) return char
      // Each use is a copy, and one replacement can have thousands of them.
      if (char === '0') return budget.text(whole)
      const capture = captures[Number(char) - 1]
      if (capture === undefined) throw new Unlocated(`invalid capture index %${char} in replacement string`)
      return budget.text(toText(capture))
    })
  }
  if (replacement === undefined || typeof replacement !== 'object') {
    throw new Unlocated(
      `bad argument #3 to string.gsub (string, function or table expected, got ${typeName(replacement)})`,
    )
  }
  const value = replacement instanceof LuaTable ? replacement.get(captures[0]) : replacement.call(captures)[0]
  if (!isTrue(value)) return whole
  if (typeof value !== 'string' && toNumber(value) === undefined) {
    throw new Unlocated(`invalid replacement value (a ${typeName(value)})`)
  }
  return toText(value)
}
