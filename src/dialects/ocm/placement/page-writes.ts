/**
 * The order in which pages of decisions are written: a cluster that stays selected is on a page at all times, and a
 * cluster that is newly selected appears before another goes. Pure.
 */

/** The clusters of a page. */
export interface PageContent {
  readonly name: string
  readonly clusters: readonly string[]
}

/** A write of a page; without clusters it is deleted. */
export interface PageWrite {
  readonly name: string
  readonly clusters?: readonly string[]
}

/** The writes that turn pages into others: first all additions, then all removals. */
export function orderPageWrites(before: readonly PageContent[], after: readonly PageContent[]): readonly PageWrite[] {
  const present = new Map(before.map(({ name, clusters }) => [name, clusters]))
  const additions: PageWrite[] = []
  const removals: PageWrite[] = []
  for (const { name, clusters } of after) {
    const old = present.get(name)
    if (old && isSameList(old, clusters)) continue
    const left = (old ?? []).filter((cluster) => !clusters.includes(cluster))
    const isGaining = clusters.some((cluster) => !old?.includes(cluster))
    if (isGaining || !old) additions.push({ name, clusters: [...clusters, ...left] })
    if (old && (left.length > 0 || !isGaining)) removals.push({ name, clusters })
  }
  const kept = new Set(after.map(({ name }) => name))
  const gone = before.filter(({ name }) => !kept.has(name)).map(({ name }) => ({ name }))
  return [...additions, ...removals, ...gone]
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}
