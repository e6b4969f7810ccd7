/** Patterns of names as Go's filepath.Match reads them, in time that grows with name and pattern alone. */

type Part = 'star' | ((char: string) => boolean)

/** Whether a pattern matches a whole name; undefined if the pattern is invalid. */
export function matchesNamePattern(pattern: string, name: string): boolean | undefined {
  const parts = partsOf([...pattern])
  return parts && matches(parts, [...name])
}

/** Only the newest star is tried again. */
function matches(parts: readonly Part[], name: readonly string[]): boolean {
  let [part, at, star, resume] = [0, 0, -1, 0]
  while (at < name.length) {
    const current = parts[part]
    if (current === 'star') {
      star = part++
      resume = at
    } else if (current?.(name[at]!)) {
      part += 1
      at += 1
    } else if (star >= 0) {
      part = star + 1
      at = ++resume
    } else return false
  }
  return parts.slice(part).every((rest) => rest === 'star')
}

function partsOf(pattern: readonly string[]): Part[] | undefined {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*') parts.push('star')
    else if (char === '?') parts.push(() => true)
    else if (char === '[') {
      const read = classOf(pattern, at + 1)
      if (!read) return undefined
      parts.push(read.part)
      at = read.end
    } else {
      if (char === '\\') at += 1
      const literal = pattern[at]
      if (literal === undefined) return undefined
      parts.push((other) => other === literal)
    }
  }
  return parts
}

/** A class behind its bracket, and where it ends. */
function classOf(pattern: readonly string[], start: number): { readonly part: Part; readonly end: number } | undefined {
  const isNegated = pattern[start] === '^'
  const ranges: (readonly [low: string, high: string])[] = []
  let at = isNegated ? start + 1 : start
  while (pattern[at] !== ']' || ranges.length === 0) {
    const low = classChar(pattern, at)
    if (!low) return undefined
    const high = pattern[low.end] === '-' ? classChar(pattern, low.end + 1) : low
    if (!high) return undefined
    ranges.push([low.char, high.char])
    at = high.end
  }
  const isIn = (char: string): boolean =>
    ranges.some(([low, high]) => codeOf(low) <= codeOf(char) && codeOf(char) <= codeOf(high))
  return { part: (char) => isIn(char) !== isNegated, end: at }
}

/** A character of a class; the class has to go on behind it. */
function classChar(
  pattern: readonly string[],
  start: number,
): { readonly char: string; readonly end: number } | undefined {
  const isEscaped = pattern[start] === '\\'
  const char = pattern[isEscaped ? start + 1 : start]
  const end = start + (isEscaped ? 2 : 1)
  if (char === undefined || (!isEscaped && (char === '-' || char === ']')) || end >= pattern.length) return undefined
  return { char, end }
}

function codeOf(char: string): number {
  return char.codePointAt(0)!
}
