/** Lists and counts in messages: "a, b, c and 9 more", "1 cluster", "2 clusters". */

/** Lists at most `most` distinct names and the number of the rest: `a, b, c and 9 more`. */
export function nameSome(names: readonly string[], most = 3): string {
  const distinct = [...new Set(names)]
  const shown = distinct.slice(0, most).join(', ')
  return distinct.length > most ? `${shown} and ${distinct.length - most} more` : shown
}

/** A count with its noun: `plural(1, 'cluster')` is "1 cluster"; `many` is an irregular plural. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`
}

/** `1,234,567`. */
export function groupDigits(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
