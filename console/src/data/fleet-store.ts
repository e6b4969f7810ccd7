/** All clusters in the browser: a snapshot, and the changes after it. Each change replaces only the rows it has. */
import { decodeFleet } from '../../../src/hub/console/fleet-row.ts'
import type { FleetDelta, FleetRow, FleetSnapshot } from '../../../src/hub/console/fleet-row.ts'

/** The list at one moment; a new object after each change. */
export interface Fleet {
  /** Sorted by name. */
  readonly rows: readonly FleetRow[]
  readonly byName: ReadonlyMap<string, FleetRow>
}

export const EMPTY_FLEET: Fleet = { rows: [], byName: new Map() }

/** The list of a snapshot. */
export function fleetOf(snapshot: FleetSnapshot): Fleet {
  return withNames(new Map(decodeFleet(snapshot).map((row) => [row.name, row])))
}

/** The list after a change. */
export function applyDelta(fleet: Fleet, { rows, removed }: Pick<FleetDelta, 'rows' | 'removed'>): Fleet {
  const byName = new Map(fleet.byName)
  const isSameSet = removed.length === 0 && rows.every(({ name }) => byName.has(name))
  for (const name of removed) byName.delete(name)
  for (const row of rows) byName.set(row.name, row)
  // Names rarely come and go: the order stays, and sorting is saved.
  return isSameSet ? { byName, rows: fleet.rows.map(({ name }) => byName.get(name)!) } : withNames(byName)
}

function withNames(byName: ReadonlyMap<string, FleetRow>): Fleet {
  return { byName, rows: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

/** Clusters by state, and those without a state by badge; in the order of first use of `order`. */
export function countRows(rows: readonly FleetRow[]): {
  readonly total: number
  readonly states: ReadonlyMap<string, number>
  readonly apart: ReadonlyMap<string, number>
} {
  const states = new Map<string, number>()
  const apart = new Map<string, number>()
  for (const { state, isApart } of rows) {
    const counts = isApart ? apart : states
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return { total: rows.filter(({ isApart }) => !isApart).length, states, apart }
}
