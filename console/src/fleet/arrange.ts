/** Groups, orders and values of the list: pure functions over rows. */
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { STATE_ORDER } from '../ui/states.ts'

/** Some rows that have one value in common. */
export interface Group {
  readonly key: string
  readonly rows: readonly FleetRow[]
}

export type SortKey = 'name' | 'state' | 'since' | 'version' | 'bundles' | 'seen' | 'certificate'

/** The value of a cluster for grouping and colouring: `state`, `version`, `badge`, or the key of a label. */
export function valueOf(row: FleetRow, by: string): string {
  if (by === 'state') return row.state
  if (by === 'version') return row.version
  if (by === 'badge') return row.badges
  return Object.hasOwn(row.labels, by) ? row.labels[by]! : ''
}

/**
 * Groups by a value, in a given order first and then by value; rows without one are last. An empty `by` makes one
 * group.
 */
export function groupRows(rows: readonly FleetRow[], by: string, order: readonly string[] = []): Group[] {
  if (by === '') return rows.length === 0 ? [] : [{ key: '', rows }]
  const groups = new Map<string, FleetRow[]>()
  for (const row of rows) {
    const key = valueOf(row, by)
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  const place = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length)
  return [...groups]
    .map(([key, members]) => ({ key, rows: members }))
    .sort((a, b) => place(a.key) - place(b.key) || compareValues(a.key, b.key, by))
}

function compareValues(a: string, b: string, by: string): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
  if (by === 'state') return rank(a) - rank(b)
  return a.localeCompare(b, 'en', { numeric: true })
}

/** Keys of labels, the most used first. */
export function labelKeys(rows: readonly FleetRow[]): string[] {
  const counts = new Map<string, number>()
  for (const { labels } of rows) for (const key of Object.keys(labels)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([key]) => key)
}

/** Sorts rows; equal ones stay in the order of their names. */
export function sortRows(rows: readonly FleetRow[], key: SortKey, isDescending: boolean): FleetRow[] {
  const compare = COMPARE[key]
  const sign = isDescending ? -1 : 1
  return [...rows].sort((a, b) => sign * compare(a, b) || (a.name < b.name ? -1 : 1))
}

const COMPARE: Readonly<Record<SortKey, (a: FleetRow, b: FleetRow) => number>> = {
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  state: (a, b) => rank(a.state) - rank(b.state),
  since: (a, b) => b.since - a.since,
  version: (a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }),
  bundles: (a, b) => b.bundles - b.ready - (a.bundles - a.ready),
  // In contact now comes first; then the most recent contact.
  seen: (a, b) => Number(b.isHeard) - Number(a.isHeard) || b.seen - a.seen,
  certificate: (a, b) => a.certificate - b.certificate,
}

const RANKS: ReadonlyMap<string, number> = new Map(STATE_ORDER.map((state, at) => [state, at]))

function rank(state: string): number {
  return RANKS.get(state) ?? STATE_ORDER.length
}
