/** What rows are: computed objects with a position, and what works them out. */
import type { UnknownObject } from '../../kinds/meta.ts'

/** What works out the rows of one kind. */
export interface RowSource {
  get(namespace: string, name: string): Promise<UnknownObject | undefined>
  /** Rows in order, after a position; `where` are fields the caller selects by, which may save work. */
  rows(range: RowRange): AsyncIterable<PositionedRow>
}

/** Which rows. */
export interface RowRange {
  readonly namespace?: string
  /** The position of the last row that was seen. */
  readonly after?: readonly string[]
  readonly where: ReadonlyMap<string, string>
  /** Only these are wanted. */
  readonly among?: RowFilter
}

/** Rows of some bundles (`namespace/name`), and rows of some clusters. */
export interface RowFilter {
  bundle(key: string): boolean
  readonly clusters: ReadonlySet<string>
}

/** A row and its position, no part of which may contain `/`; it begins with the namespace of the row. */
export interface PositionedRow {
  readonly at: readonly string[]
  /** Namespace, bundle and cluster that the row is about. Defaults to the position. */
  readonly of?: readonly string[]
  /** A stored object has the name of the row and counts instead. */
  readonly isShadowed?: boolean
  readonly object: UnknownObject
}

/** The text of a row at a revision. */
export function serializeRow(object: UnknownObject, revision: number): string {
  return JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } })
}
