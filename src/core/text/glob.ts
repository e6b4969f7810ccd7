/** Whether a whole name matches a glob of `*` and `?`. */
export function matchesGlob(pattern: string, text: string): boolean {
  return matches(pattern, text, '?')
}

/** Whether a whole name matches a pattern of `*`; `?` stands for itself. */
export function matchesStars(pattern: string, text: string): boolean {
  return matches(pattern, text, undefined)
}

/** At most pattern × text steps: only the newest star is retried. */
function matches(pattern: string, text: string, anyOne: string | undefined): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (p < pattern.length && (pattern[p] === anyOne || pattern[p] === text[t])) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
