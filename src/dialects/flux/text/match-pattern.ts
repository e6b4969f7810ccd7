// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Shell patterns of `${var#pattern}`: `*`, `?`, `[…]` and `\`, where `*` also matches slashes. */
import { runeAt } from './byte-text.ts'

type PatternStep =
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] }

/** Compiles a pattern to a test of whole texts, both as byte texts; undefined for a pattern that is malformed. */
export function compileShellPattern(pattern: string): ((text: string) => boolean) | undefined {
  const steps = readPattern(pattern)
  return steps && ((text) => matchesSteps(steps, text))
}

// Two marks remember the last star and where it began to match, which keeps the work below pattern times text.
function matchesSteps(steps: readonly PatternStep[], text: string): boolean {
  let at = 0
  let step = 0
  let star = -1
  let retry = 0
  while (at < text.length) {
    const rune = runeAt(text, at)!
    const current = steps[step]
    if (current?.kind === 'star') {
      star = step
      retry = at
      step += 1
    } else if (current && matchesChar(current, rune.char)) {
      at += rune.width
      step += 1
    } else if (star >= 0) {
      retry += runeAt(text, retry)!.width
      at = retry
      step = star + 1
    } else {
      return false
    }
  }
  return steps.slice(step).every(({ kind }) => kind === 'star')
}

function matchesChar(step: PatternStep, char: string): boolean {
  if (step.kind === 'any') return true
  if (step.kind === 'char') return step.char === char
  if (step.kind === 'star') return false
  const point = char.codePointAt(0)!
  const inside = step.ranges.some(([low, high]) => low.codePointAt(0)! <= point && point <= high.codePointAt(0)!)
  return inside !== step.negated
}

function readPattern(pattern: string): PatternStep[] | undefined {
  const steps: PatternStep[] = []
  let at = 0
  const take = (): string | undefined => {
    const rune = runeAt(pattern, at)
    at += rune?.width ?? 0
    return rune?.char
  }
  for (let char = take(); char !== undefined; char = take()) {
    if (char === '*') steps.push({ kind: 'star' })
    else if (char === '?') steps.push({ kind: 'any' })
    else if (char === '[') {
      const read = readClass(pattern, at)
      if (!read) return undefined
      steps.push(read.step)
      at = read.end
    } else if (char === '\\') {
      const escaped = take()
      if (escaped === undefined) return undefined
      steps.push({ kind: 'char', char: escaped })
    } else steps.push({ kind: 'char', char })
  }
  return steps
}

function readClass(pattern: string, start: number): { readonly step: PatternStep; readonly end: number } | undefined {
  let at = start
  const negated = pattern[at] === '^'
  if (negated) at += 1
  const ranges: [string, string][] = []
  const takeChar = (): string | undefined => {
    if (pattern[at] === '-' || pattern[at] === ']') return undefined
    if (pattern[at] === '\\') at += 1
    const rune = runeAt(pattern, at)
    at += rune?.width ?? 0
    // A class must be closed, so a character is never the last.
    return rune && at < pattern.length ? rune.char : undefined
  }
  while (pattern[at] !== ']' || ranges.length === 0) {
    const low = takeChar()
    if (low === undefined) return undefined
    let high: string | undefined = low
    if (pattern[at] === '-') {
      at += 1
      high = takeChar()
      if (high === undefined) return undefined
    }
    ranges.push([low, high])
  }
  return { step: { kind: 'class', negated, ranges }, end: at + 1 }
}
