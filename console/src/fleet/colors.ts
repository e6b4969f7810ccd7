/** The colours of tiles: by state, or by the value of a label from a palette. */
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { lookOf, STATE_ORDER } from '../ui/states.ts'
import { valueOf } from './arrange.ts'

/** One entry of the legend. */
export interface Swatch {
  readonly value: string
  /** Name of a CSS variable. */
  readonly color: string
  readonly count: number
}

/** Values beyond these share the last colour. */
const PALETTE_SIZE = 8

/** Values of the list with their colours, the most frequent first; states in their own order. */
export function legendOf(rows: readonly FleetRow[], by: string): readonly Swatch[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = valueOf(row, by)
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const entries = [...counts]
  if (by === 'state') {
    return entries
      .sort(([a], [b]) => STATE_ORDER.indexOf(a) - STATE_ORDER.indexOf(b))
      .map(([value, count]) => ({ value, count, color: `--tile-${lookOf(value).tone}` }))
  }
  return entries
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([value, count], index) => ({
      value,
      count,
      color: value === '' ? '--tile-quiet' : `--hue-${Math.min(index, PALETTE_SIZE - 1)}`,
    }))
}
