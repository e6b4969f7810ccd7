/** How many may be changing at once, out of a total. */

/**
 * The number a concurrency of `10` or `25%` stands for. A percentage is rounded down, so that the budget is never more
 * than was asked for, but is at least one: a rollout that may never start helps nobody.
 */
export function concurrencyOf(concurrency: number | string, total: number): number {
  if (typeof concurrency === 'number') return Math.max(0, Math.floor(concurrency))
  const percent = /^(\d+)%$/.exec(concurrency)
  if (percent) return Math.max(1, Math.floor((Number(percent[1]) * total) / 100))
  const count = Number(concurrency)
  return Number.isInteger(count) && count >= 0 ? count : 0
}
