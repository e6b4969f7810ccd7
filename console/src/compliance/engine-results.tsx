/** What policy engines in clusters found: the sums of `flotilla compliance --results`. Reports are read on request. */
import { useMemo } from 'react'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { shownCluster } from '../../../src/plan/fleet/compliance-rows.ts'
import {
  clusterResults,
  incompleteResults,
  RESULT_GROUPS,
  showResults,
} from '../../../src/plan/fleet/engine-results.ts'
import type { ResultGroup } from '../../../src/plan/fleet/engine-results.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { scrollable } from '../ui/scrollable.ts'

const DEFAULTS = { results: '' } as const
const MAX_GROUPS = 300

export function EngineResults() {
  const [{ results }, set] = useSearchValues(DEFAULTS)
  const by = RESULT_GROUPS.find((one) => one === results)
  return (
    <Panel
      title="Results of policy engines in clusters"
      side={
        <label>
          By
          <select value={by ?? ''} onChange={({ target }) => set({ results: target.value })}>
            <option value="">not shown</option>
            {RESULT_GROUPS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      }
    >
      {by && <Sums by={by} />}
      <p className="as-command">
        <Command>{`flotilla compliance --results${by ? ` --by ${by}` : ''}`}</Command>
      </p>
    </Panel>
  )
}

function Sums({ by }: { readonly by: ResultGroup }) {
  const reports = useList<ClusterReport>('clusterreports')
  const clusters = useList<Cluster>('clusters')
  const all = useMemo(
    () => (reports.data && clusters.data ? clusterResults(clusters.data.map(shownCluster), reports.data) : undefined),
    [reports.data, clusters.data],
  )
  const error = reports.error ?? clusters.error
  if (error) return <Failure error={error} what="the results" />
  if (!all) return <Empty title="Reading the results…" />
  const { groups } = showResults(all, by, {})
  if (groups.length === 0) return <Empty title="No cluster has a policy engine that reports results." />
  return (
    <>
      {incompleteResults(all).map((line) => (
        <p className="banner" role="status" key={line}>
          Not complete: {line}.
        </p>
      ))}
      <div className="scroll-x" ref={scrollable}>
        <table className="plain numbers">
          <thead>
            <tr>
              <th>{`${by[0]!.toUpperCase()}${by.slice(1)}`}</th>
              {['Fail', 'Warn', 'Error', 'Pass', 'Skip', 'Clusters', 'Offline'].map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups
              .slice(0, MAX_GROUPS)
              .map(({ group, fail, warn, error: errors, pass, skip, clusters: heard, offline }) => (
                <tr key={group} data-group={group}>
                  <td>{group === '-' ? `no ${by}` : group}</td>
                  {[fail, warn, errors, pass, skip, heard, offline].map((count, index) => (
                    // The columns are fixed.
                    // eslint-disable-next-line react/no-array-index-key
                    <td key={index}>{count ?? '–'}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {groups.length > MAX_GROUPS && <p className="quiet">and {groups.length - MAX_GROUPS} more</p>}
    </>
  )
}
