/**
 * The number of clusters that a concurrency of `10` or `25%` allows out of a total. A percentage is rounded down, so
 * that the budget is never exceeded, and is at least one, because a rollout with no slot would never start.
 */
export function concurrencyOf(concurrency: number | string, total: number): number {
  if (typeof concurrency === 'number') return Math.max(0, Math.floor(concurrency))
  const percent = /^(\d+)%$/.exec(concurrency)
  if (percent) return Math.max(1, Math.floor((Number(percent[1]) * total) / 100))
  const count = Number(concurrency)
  return Number.isInteger(count) && count >= 0 ? count : 0
}
