/** Bundles on a cluster: the target, what runs, and which Placement selected the cluster. */
import { useMemo } from 'react'
import { shortRevision } from '../../../src/core/text/short-revision.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { PlacementDecision } from '../../../src/kinds/native/placement-decision.ts'
import { useList } from '../data/queries.ts'
import { Empty, Failure } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { placedBy } from './placed-by.ts'
import type { PlacedBy } from './placed-by.ts'
import { scrollable } from '../ui/scrollable.ts'

/** A row of bundlestates. */
export interface BundleStateRow {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly bundle: string
  readonly cluster: string
  readonly state?: string
  readonly message: string
  readonly badges?: readonly string[]
  readonly waitsFor?: string
  readonly lastKnown?: string
  readonly queued?: number
  readonly firstFailing?: string
  readonly generation?: number
  readonly target?: number
  readonly ring?: string
  readonly attempted?: RowRevision
  readonly applied?: RowRevision
}

/** A revision of a bundle with its commit. Parts that are unknown are absent. */
export interface RowRevision {
  readonly generation: number
  readonly revision?: string
  readonly author?: string
  readonly subject?: string
  readonly from?: string
}

const NONE: readonly never[] = []

export function BundlesTab({ cluster }: { readonly cluster: string }) {
  const { data, error, isPending } = useList<BundleStateRow>('bundlestates', { fields: { cluster } })
  const bundles = useList<Bundle>('bundles').data ?? NONE
  const decisions = useList<PlacementDecision>('placementdecisions').data
  const rows = useMemo(
    () =>
      (data ?? [])
        .filter(({ state }) => state !== 'NotSelected')
        .map((row) => {
          const key = `${row.metadata.namespace}/${row.bundle}`
          return { row, key, placed: decisions && placedBy(key, { cluster, bundles, decisions }) }
        })
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    [data, bundles, decisions, cluster],
  )
  const others = (data ?? []).filter(({ state }) => state === 'NotSelected')
  if (error) return <Failure error={error} what="the bundles of this cluster" />
  if (isPending) return <Empty title="Reading the bundles…" />
  return (
    <>
      {rows.length === 0 ? (
        <Empty title="No bundle reaches this cluster.">No Placement that a Bundle uses selects the cluster.</Empty>
      ) : (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain stack">
            <thead>
              <tr>
                <th>Bundle</th>
                <th>State</th>
                <th>Applied</th>
                <th>Attempted</th>
                <th>Ring</th>
                <th>Target</th>
                <th>Why here</th>
                <th>Message</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ row, key, placed }) => (
                <tr key={key} data-bundle={key}>
                  <td>{key}</td>
                  <td>
                    {row.state !== undefined && <State state={row.state} />}
                    {row.lastKnown !== undefined && <div className="quiet">last known: {row.lastKnown}</div>}
                    {row.waitsFor !== undefined && <div className="quiet">waits for {row.waitsFor}</div>}
                  </td>
                  <td data-label="applied">
                    <Revision of={row.applied} />
                  </td>
                  <td data-label="attempted">
                    <Revision of={row.attempted} />
                  </td>
                  <td data-label="ring">{row.ring ?? '–'}</td>
                  <td data-label="target">
                    {row.target === undefined ? '–' : `g${row.target}`}
                    {row.queued !== undefined && <div className="quiet">g{row.queued} is queued</div>}
                  </td>
                  <td>
                    <WhyHere placed={placed} />
                  </td>
                  <td className="wide">
                    {row.firstFailing !== undefined && <strong>{row.firstFailing} </strong>}
                    {row.state === 'Ready' ? '' : row.message}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {others.length > 0 && (
        <details className="not-here">
          <summary>
            {others.length} {others.length === 1 ? 'bundle is' : 'bundles are'} not on this cluster
          </summary>
          <ul>
            {others.map(({ metadata, bundle, message }) => (
              <li key={metadata.name}>
                <strong>
                  {metadata.namespace}/{bundle}
                </strong>{' '}
                {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function Revision({ of }: { readonly of: RowRevision | undefined }) {
  if (!of) return <>–</>
  return (
    <>
      g{of.generation}
      {of.revision !== undefined && (
        <div className="quiet" title={of.from}>
          {shortRevision(of.revision)} {[of.author, of.subject].filter((part) => part !== undefined).join(': ')}
        </div>
      )}
    </>
  )
}

function WhyHere({ placed }: { readonly placed: PlacedBy | undefined }) {
  if (!placed) return <span className="quiet">unknown</span>
  return (
    <>
      placement {placed.placement}
      <div className="quiet">
        {placed.reason ?? 'the placement does not select the cluster now'}
        {placed.isEvicting && ' (being removed)'}
      </div>
    </>
  )
}
