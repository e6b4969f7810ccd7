/** All Placements: what each selects, how many clusters, and why that is so. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { findCondition } from '../../../src/core/conditions.ts'
import { selectorText } from '../../../src/core/text/label-selector.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { stateOfPlacement } from './placement-state.ts'
import { scrollable } from '../ui/scrollable.ts'
import { FilterInput } from '../ui/filter-input.tsx'

const DEFAULTS = { q: '' } as const

export function PlacementsPage() {
  const { data, error, isPending } = useList<Placement>('placements')
  const bundles = useList<Bundle>('bundles').data
  const [{ q }, set] = useSearchValues(DEFAULTS)
  const rows = useMemo(
    () =>
      (data ?? [])
        .map((placement) => ({ placement, key: `${placement.metadata.namespace}/${placement.metadata.name}` }))
        .filter(({ key }) => key.includes(q.trim()))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    [data, q],
  )
  if (error) return <Failure error={error} what="the placements" />
  if (isPending) return <Empty title="Reading the placements…" />
  return (
    <div className="page">
      <h1 className="hidden">Placements</h1>
      <Panel
        title="Placements"
        side={
          <FilterInput
            label="Filter placements"
            hint="Filter by name"
            value={q}
            onChange={(text) => set({ q: text })}
          />
        }
      >
        {data.length === 0 ? (
          <Empty title="There is no placement yet.">
            <Command>flotilla apply -f FILE</Command>
          </Empty>
        ) : (
          <div className="scroll-x" ref={scrollable}>
            <table className="plain">
              <thead>
                <tr>
                  <th>Placement</th>
                  <th>State</th>
                  <th>Clusters</th>
                  <th>Selects</th>
                  <th>Bundles</th>
                  <th>Message</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ placement, key }) => {
                  const { metadata, spec, status } = placement
                  const { name, namespace } = metadata
                  const own = bundles?.filter(
                    (bundle) => bundle.metadata.namespace === namespace && bundle.spec.placement === name,
                  )
                  return (
                    <tr key={key} data-placement={key}>
                      <td>
                        <Link href={`/placements/${namespace}/${name}`}>{key}</Link>
                      </td>
                      <td>
                        <State state={stateOfPlacement(placement)} />
                      </td>
                      <td>{status?.selected ?? '–'}</td>
                      <td>
                        {selectorText(spec.clusterSelector ?? {}) || clustersText(spec.clusters)}
                        {spec.numberOfClusters !== undefined && `, at most ${spec.numberOfClusters}`}
                      </td>
                      <td>{own?.map((bundle) => bundle.metadata.name).join(', ') ?? '–'}</td>
                      <td className="wide">{findCondition(status?.conditions, 'Ready')?.message}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  )
}

/** Clusters by name; a Placement with an empty list selects none. */
function clustersText(names: readonly string[] | undefined): string {
  if (names === undefined) return 'all clusters'
  return names.length === 0 ? 'no cluster' : names.join(', ')
}
