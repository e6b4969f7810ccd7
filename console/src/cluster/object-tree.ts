/** Objects of a cluster as a tree: bundle, then kind, then object. */
import { STATE_ORDER } from '../ui/states.ts'

/** A row of bundleobjects. */
export interface ObjectRow {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly bundle: string
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
  }
  readonly state: string
  readonly message?: string
}

export interface KindBranch {
  readonly kind: string
  readonly objects: readonly ObjectRow[]
}

export interface BundleBranch {
  /** `namespace/name`. */
  readonly bundle: string
  /** Objects by state, the worst first. */
  readonly counts: readonly (readonly [state: string, count: number])[]
  readonly kinds: readonly KindBranch[]
}

/** The tree; branches by name, objects with the worst first. */
export function objectTree(rows: readonly ObjectRow[]): readonly BundleBranch[] {
  const bundles = Map.groupBy(rows, ({ metadata, bundle }) => `${metadata.namespace ?? ''}/${bundle}`)
  return [...bundles].sort(byKey).map(([bundle, members]) => ({
    bundle,
    counts: countStates(members),
    kinds: [...Map.groupBy(members, ({ object }) => object.kind)]
      .sort(byKey)
      .map(([kind, objects]) => ({ kind, objects: objects.toSorted(worstFirst) })),
  }))
}

function countStates(rows: readonly ObjectRow[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => STATE_ORDER.indexOf(a) - STATE_ORDER.indexOf(b))
}

function worstFirst(a: ObjectRow, b: ObjectRow): number {
  return STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state) || (a.object.name < b.object.name ? -1 : 1)
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
