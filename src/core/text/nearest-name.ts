/** Nearest names, for typos. */

/** The candidate a typo most likely meant, or undefined when none is near. */
export function nearestName(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Edits (insert, delete, replace, swap neighbours) between two words; stops counting at `limit`. */
export function editDistance(a: string, b: string, limit = Infinity): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = a[row - 1] === b[column - 1] ? 0 : 1
      let cost = Math.min(last[column]! + 1, now[column - 1]! + 1, last[column - 1]! + replaced)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1)
      }
      now.push(cost)
    }
    beforeLast = last
    last = now
  }
  return Math.min(limit, last[b.length]!)
}
