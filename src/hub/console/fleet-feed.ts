/**
 * The list of clusters with its changes, numbered: a browser asks for what is newer than what it has. A change is kept
 * as a name, never as a copy of the row, so that a slow reader gets each row once, as it is then.
 */
import { encodeFleet } from './fleet-row.ts'
import type { FleetDelta, FleetRow, FleetSnapshot } from './fleet-row.ts'

/** The numbered list. */
export interface FleetFeed {
  readonly epoch: string
  revision(): number
  put(row: FleetRow): void
  remove(name: string): void
  snapshot(): FleetSnapshot
  /** Changes after a revision; undefined if the feed no longer knows them and the snapshot is needed. */
  since(revision: number): FleetDelta | undefined
}

/** Changes that are remembered; a reader that is further behind takes the snapshot. */
const MAX_CHANGES = 20_000

/** Makes an empty list. */
export function createFleetFeed(epoch: string, maxChanges = MAX_CHANGES): FleetFeed {
  const rows = new Map<string, FleetRow>()
  // The name of change `first + i` is names[i].
  let names: string[] = []
  let first = 1

  const revision = (): number => first + names.length - 1

  function note(name: string): void {
    names.push(name)
    if (names.length <= maxChanges) return
    const dropped = names.length - Math.floor(maxChanges / 2)
    names = names.slice(dropped)
    first += dropped
  }

  return {
    epoch,
    revision,
    put(row) {
      rows.set(row.name, row)
      note(row.name)
    },
    remove(name) {
      if (rows.delete(name)) note(name)
    },
    snapshot: () => encodeFleet([...rows.values()], { epoch, revision: revision() }),
    since(from) {
      if (from < first - 1 || from > revision()) return undefined
      const changed = [...new Set(names.slice(from - first + 1))]
      return {
        revision: revision(),
        rows: changed.flatMap((name) => rows.get(name) ?? []),
        removed: changed.filter((name) => !rows.has(name)),
      }
    },
  }
}
