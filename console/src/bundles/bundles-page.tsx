/** All bundles with the clusters in each state. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { findCondition } from '../../../src/core/conditions.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { lookOf } from '../ui/states.ts'
import { stateOfBundle } from './bundle-state.ts'
import { scrollable } from '../ui/scrollable.ts'
import { FilterInput } from '../ui/filter-input.tsx'

/** A row of bundlecounts. */
interface BundleCount {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly bundle: string
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
  readonly target?: number
}

const DEFAULTS = { q: '' } as const

export function BundlesPage() {
  const { data, error, isPending } = useList<Bundle>('bundles')
  const counts = useList<BundleCount>('bundlecounts').data
  const [{ q }, set] = useSearchValues(DEFAULTS)
  const rows = useMemo(
    () =>
      (data ?? [])
        .map((bundle) => ({
          bundle,
          key: `${bundle.metadata.namespace}/${bundle.metadata.name}`,
          count: counts?.find(
            ({ metadata, bundle: name }) =>
              name === bundle.metadata.name && metadata.namespace === bundle.metadata.namespace,
          ),
        }))
        .filter(({ key }) => key.includes(q.trim()))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    [data, counts, q],
  )
  if (error) return <Failure error={error} what="the bundles" />
  if (isPending) return <Empty title="Reading the bundles…" />
  return (
    <div className="page">
      <h1 className="hidden">Bundles</h1>
      <Panel
        title="Bundles"
        side={
          <FilterInput label="Filter bundles" hint="Filter by name" value={q} onChange={(text) => set({ q: text })} />
        }
      >
        {data.length === 0 ? (
          <Empty title="There is no bundle yet.">
            <Command>flotilla apply -f FILE</Command>
          </Empty>
        ) : (
          <div className="scroll-x" ref={scrollable}>
            <table className="plain">
              <thead>
                <tr>
                  <th>Bundle</th>
                  <th>State</th>
                  <th>Clusters</th>
                  <th>Target</th>
                  <th>Placement</th>
                  <th>Message</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ bundle, key, count }) => (
                  <tr key={key} data-bundle={key}>
                    <td>
                      <Link href={`/bundles/${key}`}>{key}</Link>
                    </td>
                    <td>
                      <State state={stateOfBundle(bundle)} />
                    </td>
                    <td>{count && <StateShares counts={count.counts} total={count.total} />}</td>
                    <td>{count?.target === undefined ? '–' : `g${count.target}`}</td>
                    <td>
                      <Link href={`/placements/${bundle.metadata.namespace}/${bundle.spec.placement}`}>
                        {bundle.spec.placement}
                      </Link>
                    </td>
                    <td className="wide">{findCondition(bundle.status?.conditions, 'Ready')?.message}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  )
}

/** Clusters by state as a bar with its numbers. */
function StateShares({ counts, total }: { readonly counts: Readonly<Record<string, number>>; readonly total: number }) {
  const shown = Object.entries(counts).filter(([, count]) => count > 0)
  return (
    <div className="shares">
      <span className="bar" aria-hidden="true">
        {shown.map(([state, count]) => (
          <span key={state} data-tone={lookOf(state).tone} style={{ flexGrow: count }} />
        ))}
      </span>
      <span>
        {counts['Ready'] ?? 0} of {total} ready
      </span>
      {shown
        .filter(([state]) => state !== 'Ready')
        .map(([state, count]) => (
          <State key={state} state={state} count={count} />
        ))}
    </div>
  )
}
