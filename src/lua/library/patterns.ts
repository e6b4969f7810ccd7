// Tested by src/lua/lua.test.ts
/** Patterns of Lua: for example `%d+`, `(%a)-` and `%b()`. Each step counts, because a pattern can try many ways. */
import { Unlocated } from '../run/values.ts'
import type { Budget, LuaValue } from '../run/values.ts'

/** Where a pattern matches, and its captures. */
export interface Match {
  readonly from: number
  /** The place behind the match. */
  readonly to: number
  /** Texts, and numbers for captures of a position. */
  readonly captures: readonly LuaValue[]
}

interface Capture {
  readonly from: number
  /** Undefined while it is open; `position` for `()`. */
  to: number | 'position' | undefined
}

const MAX_CAPTURES = 32
const MAX_DEPTH = 200

/** Finds the first match at or behind a place. */
export function findMatch(text: string, pattern: string, from: number, budget: Budget): Match | undefined {
  const isAnchored = pattern.startsWith('^')
  for (let at = from; at <= text.length; at += 1) {
    const matcher = new Matcher(text, pattern, budget)
    const to = matcher.match(at, isAnchored ? 1 : 0, 0)
    if (to !== undefined) return { from: at, to, captures: matcher.captures() }
    if (isAnchored) return undefined
  }
  return undefined
}

class Matcher {
  readonly #text: string
  readonly #pattern: string
  readonly #budget: Budget
  readonly #captures: Capture[] = []

  constructor(text: string, pattern: string, budget: Budget) {
    this.#text = text
    this.#pattern = pattern
    this.#budget = budget
  }

  captures(): LuaValue[] {
    return this.#captures.map(({ from, to }) => {
      if (to === 'position') return from + 1
      if (to === undefined) throw new Unlocated('unfinished capture')
      return this.#budget.text(this.#text.slice(from, to))
    })
  }

  /** Matches the pattern from a place on; returns the place behind the match. */
  match(start: number, patternStart: number, depth: number): number | undefined {
    if (depth > MAX_DEPTH) throw new Unlocated('pattern too complex')
    let at = start
    let place = patternStart
    for (;;) {
      this.#budget.step()
      if (place >= this.#pattern.length) return at
      const char = this.#pattern[place]!
      const next = this.#pattern[place + 1]
      if (char === '(') return this.#open(at, place, depth)
      if (char === ')') return this.#close(at, place, depth)
      if (char === '$' && place + 1 === this.#pattern.length) return at === this.#text.length ? at : undefined
      if (char === '%' && next === 'b') {
        const end = this.#balanced(at, place + 2)
        if (end === undefined) return undefined
        at = end
        place += 4
        continue
      }
      if (char === '%' && next === 'f') {
        const end = this.#classEnd(place + 2)
        const isIn = (index: number) => this.#isInClass(this.#text[index] ?? '\0', place + 2, end)
        if (isIn(at - 1) || !isIn(at)) return undefined
        place = end
        continue
      }
      if (char === '%' && next !== undefined && /\d/.test(next)) {
        const repeated = this.#captured(next)
        this.#budget.read(repeated.length)
        if (!this.#text.startsWith(repeated, at)) return undefined
        at += repeated.length
        place += 2
        continue
      }
      const end = this.#classEnd(place)
      const suffix = this.#pattern[end]
      if (suffix === '*' || suffix === '+') return this.#many(at, { place, end, least: suffix === '+' ? 1 : 0, depth })
      if (suffix === '-') return this.#few(at, { place, end, depth })
      const isMatch = at < this.#text.length && this.#isInClass(this.#text[at]!, place, end)
      if (suffix === '?') {
        const found = isMatch ? this.match(at + 1, end + 1, depth + 1) : undefined
        if (found !== undefined) return found
        place = end + 1
        continue
      }
      if (!isMatch) return undefined
      at += 1
      place = end
    }
  }

  #open(at: number, place: number, depth: number): number | undefined {
    const isPosition = this.#pattern[place + 1] === ')'
    if (this.#captures.length >= MAX_CAPTURES) throw new Unlocated('too many captures')
    this.#captures.push({ from: at, to: isPosition ? 'position' : undefined })
    const count = this.#captures.length
    const found = this.match(at, place + (isPosition ? 2 : 1), depth + 1)
    if (found === undefined) this.#captures.length = count - 1
    return found
  }

  #close(at: number, place: number, depth: number): number | undefined {
    const open = this.#captures.findLast(({ to }) => to === undefined)
    if (!open) throw new Unlocated('invalid pattern capture')
    open.to = at
    const found = this.match(at, place + 1, depth + 1)
    if (found === undefined) open.to = undefined
    return found
  }

  #many(
    at: number,
    {
      place,
      end,
      least,
      depth,
    }: { readonly place: number; readonly end: number; readonly least: number; readonly depth: number },
  ): number | undefined {
    let count = 0
    while (at + count < this.#text.length && this.#isInClass(this.#text[at + count]!, place, end)) {
      this.#budget.step()
      count += 1
    }
    for (; count >= least; count -= 1) {
      const found = this.match(at + count, end + 1, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  #few(
    start: number,
    { place, end, depth }: { readonly place: number; readonly end: number; readonly depth: number },
  ): number | undefined {
    for (let at = start; ; at += 1) {
      const found = this.match(at, end + 1, depth + 1)
      if (found !== undefined) return found
      if (at >= this.#text.length || !this.#isInClass(this.#text[at]!, place, end)) return undefined
    }
  }

  #balanced(at: number, place: number): number | undefined {
    const [open, close] = [this.#pattern[place], this.#pattern[place + 1]]
    if (open === undefined || close === undefined) throw new Unlocated('unbalanced pattern')
    if (this.#text[at] !== open) return undefined
    let depth = 1
    for (let end = at + 1; end < this.#text.length; end += 1) {
      this.#budget.step()
      const char = this.#text[end]
      if (char === close) {
        depth -= 1
        if (depth === 0) return end + 1
      } else if (char === open) depth += 1
    }
    return undefined
  }

  #captured(digit: string): string {
    const capture = this.#captures[Number(digit) - 1]
    if (!capture || typeof capture.to !== 'number') throw new Unlocated(`invalid capture index %${digit}`)
    return this.#text.slice(capture.from, capture.to)
  }

  /** The place behind the class that begins here. */
  #classEnd(place: number): number {
    const char = this.#pattern[place]
    if (char === '%') {
      if (place + 1 >= this.#pattern.length) throw new Unlocated("malformed pattern (ends with '%')")
      return place + 2
    }
    if (char !== '[') return place + 1
    let at = place + (this.#pattern[place + 1] === '^' ? 2 : 1)
    do {
      if (at >= this.#pattern.length) throw new Unlocated("malformed pattern (missing ']')")
      at += this.#pattern[at] === '%' ? 2 : 1
    } while (this.#pattern[at] !== ']')
    return at + 1
  }

  #isInClass(char: string, place: number, end: number): boolean {
    const first = this.#pattern[place]!
    if (first === '.') return true
    if (first === '%') return isOfClass(char, this.#pattern[place + 1]!)
    if (first !== '[') return char === first
    const isNegated = this.#pattern[place + 1] === '^'
    let at = place + (isNegated ? 2 : 1)
    let isIn = false
    while (at < end - 1) {
      this.#budget.step()
      const one = this.#pattern[at]!
      if (one === '%') {
        isIn ||= isOfClass(char, this.#pattern[at + 1] ?? '')
        at += 2
      } else if (this.#pattern[at + 1] === '-' && at + 2 < end - 1) {
        isIn ||= one <= char && char <= this.#pattern[at + 2]!
        at += 3
      } else {
        isIn ||= one === char
        at += 1
      }
    }
    return isIn !== isNegated
  }
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  a: /[A-Za-z]/,
  c: /[\0-\x1f\x7f]/,
  d: /\d/,
  l: /[a-z]/,
  p: /[!-/:-@[-`{-~]/,
  s: /[ \t-\r]/,
  u: /[A-Z]/,
  w: /[A-Za-z0-9]/,
  x: /[0-9A-Fa-f]/,
  z: /\0/,
}

function isOfClass(char: string, letter: string): boolean {
  const known = CLASSES[letter.toLowerCase()]
  if (!known) return char === letter
  return known.test(char) === (letter === letter.toLowerCase())
}
