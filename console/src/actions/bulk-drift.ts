/** Reverts or accepts the same drift of several clusters at once, each with the Override of its own. */
import type { DriftedBundle } from '../../../src/plan/drift/drift-override.ts'
import type { BulkAction } from './bulk-actions.ts'
import { commandForEach, typedNumber } from './bulk-actions.ts'
import { driftActions } from './drift-actions.ts'

/** The clusters of one cause, each with the drift of its bundle. */
export interface DriftedClusters {
  /** `namespace/name`. */
  readonly bundle: string
  readonly clusters: readonly { readonly cluster: string; readonly drift: NonNullable<DriftedBundle['drift']> }[]
}

/** None for a single cluster, which has its own buttons; an accept that cannot be expressed is left out. */
export function bulkDriftActions({ bundle, clusters }: DriftedClusters): readonly BulkAction[] {
  if (clusters.length < 2) return []
  const drifts = new Map(clusters.map(({ cluster, drift }) => [cluster, drift]))
  const names = [...drifts.keys()]
  const offered = driftActions(names[0]!, { bundle, drift: drifts.get(names[0]!)! })
  return offered.flatMap((sample, at): readonly BulkAction[] => {
    const actionFor = (name: string) => driftActions(name, { bundle, drift: drifts.get(name)! })[at]!
    // Clusters of a cause have the same fields, but other drift of the bundle may be unlike.
    const able = names.filter((name) => actionFor(name).problem === undefined)
    if (able.length === 0) return []
    const verb = sample.title.toLowerCase()
    const [, name = ''] = bundle.split('/')
    return [
      {
        sample: actionFor(able[0]!),
        names: able,
        command: commandForEach(able, {
          command: `flotilla drift ${verb} $name --bundle ${name}`,
          asks: sample.asks,
        }),
        typed: typedNumber(able.length),
        actionFor,
      },
    ]
  })
}
