/** Which clusters are compliant with policies, now or at an earlier time: the rows of `flotilla compliance`. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { parseTime } from '../../../src/core/time/time.ts'
import { readComplianceRecord } from '../../../src/kinds/fields/compliance-record.ts'
import type { ComplianceRecord } from '../../../src/kinds/fields/compliance-record.ts'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import {
  chooseRows,
  COMPLIANCE_GROUPS,
  COMPLIANCE_STATES,
  complianceRows,
  countRows,
  policyName,
  rowsAtTime,
  shownCluster,
} from '../../../src/plan/fleet/compliance-rows.ts'
import type {
  ComplianceGroup,
  ComplianceRow,
  ComplianceState,
  ShownPolicy,
} from '../../../src/plan/fleet/compliance-rows.ts'
import { dutyState } from '../../../src/plan/fleet/duties.ts'
import { readText } from '../data/api.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Ago } from '../ui/time.tsx'
import { EngineResults } from './engine-results.tsx'
import { scrollable } from '../ui/scrollable.ts'

const DEFAULTS = { by: 'policy', group: '', state: '', at: '' } as const
const MAX_ROWS = 300
const HISTORY = '/apis/view.flotilla.dev/v1alpha1/clusters/-/compliance'

/** Choices of the page, as its address has them. */
interface Choice {
  readonly by: ComplianceGroup
  /** A value of `by`; empty: all. */
  readonly group: string
  readonly state: ComplianceState | undefined
}

export function CompliancePage() {
  const [{ by: byText, group, state: stateText, at }, set] = useSearchValues(DEFAULTS)
  const by = COMPLIANCE_GROUPS.find((one) => one === byText) ?? 'policy'
  const state = COMPLIANCE_STATES.find((one) => one === stateText)
  const isDetailed = group !== '' || state !== undefined
  const policies = useList<ShownPolicy>('policies')
  const now = useNowRows(policies.data, isDetailed && at === '')
  const history = useHistory(at, policies.data)
  const { rows, notes } = at === '' ? now : history
  const error = policies.error ?? (at === '' ? undefined : history.error)
  if (policies.error instanceof ApiFailure && policies.error.code === 404) {
    return (
      <div className="page">
        <Empty title="Policies are not served.">
          <p>The kind Policy of Open Cluster Management is served while the dialect &quot;ocm&quot; is on.</p>
          <Command>flotilla hub run --dialects ocm</Command>
        </Empty>
        <EngineResults />
      </div>
    )
  }
  if (policies.isPending) return <Empty title="Reading the policies…" />
  return (
    <div className="page">
      <h1 className="hidden">Compliance</h1>
      <Panel
        title={at === '' ? 'Compliance' : `Compliance at the end of ${at}`}
        side={
          <div className="choices">
            <label>
              By
              <select value={by} onChange={({ target }) => set({ by: target.value, group: '' })}>
                {COMPLIANCE_GROUPS.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
            <label>
              On the day
              <input
                type="date"
                className="filter date"
                value={at}
                onChange={({ target }) => set({ at: target.value })}
              />
            </label>
          </div>
        }
      >
        {error && <Failure error={error} what={at === '' ? 'the policies' : 'the history of compliance'} />}
        {notes.map((note) => (
          <p className="banner" role="status" key={note}>
            {note}
          </p>
        ))}
        {!error && rows === undefined && <Empty title="Reading the history…" />}
        {rows && rows.length === 0 && <NoRows hasPolicies={(policies.data ?? []).length > 0} isPast={at !== ''} />}
        {rows && rows.length > 0 && <Counts rows={rows} choice={{ by, group, state }} set={set} />}
        <p className="as-command">
          <Command>{commandOf({ by, group, state }, at)}</Command>
        </p>
      </Panel>
      {rows && isDetailed && <Rows rows={chosenOf(rows, { by, group, state })} />}
      <EngineResults />
    </div>
  )
}

function NoRows({ hasPolicies, isPast }: { readonly hasPolicies: boolean; readonly isPast: boolean }) {
  if (isPast) return <Empty title="No cluster had reported a policy by then." />
  if (hasPolicies) return <Empty title="No policy is enabled, or there is no cluster." />
  return (
    <Empty title="There is no policy yet.">
      <p>A Policy says which objects clusters must have, or must not have. Apply one together with its binding.</p>
      <Command>flotilla apply -f FILE</Command>
    </Empty>
  )
}

function commandOf({ by, group, state }: Choice, at: string): string {
  const name = by === 'policy' ? (group.split('/')[1] ?? group) : group
  return [
    'flotilla compliance',
    ...(group === '' ? [`--by ${by}`] : [`--${by} '${name}'`]),
    ...(state ? [`--state ${state}`] : []),
    ...(at === '' ? [] : [`--as-of ${at}`]),
  ].join(' ')
}

function chosenOf(rows: readonly ComplianceRow[], { by, group, state }: Choice): readonly ComplianceRow[] {
  const inState = chooseRows(rows, { state })
  if (group === '') return inState
  if (by === 'policy') return inState.filter((row) => policyName(row) === group)
  // Rows without a standard, control or set are counted under "-".
  if (group === '-') {
    return inState.filter(
      (row) => (by === 'set' ? row.sets : by === 'standard' ? row.standards : row.controls).length === 0,
    )
  }
  return chooseRows(inState, { [by]: group })
}

interface KnownRows {
  /** Undefined while they are read. */
  readonly rows: readonly ComplianceRow[] | undefined
  readonly notes: readonly string[]
  readonly error?: Error | null
}

/** The rows of now. Messages and times are in the reports of clusters, which are read only where rows are shown. */
function useNowRows(policies: readonly ShownPolicy[] | undefined, isDetailed: boolean): KnownRows {
  const { fleet, link } = useLive()
  const reports = useList<ClusterReport>('clusterreports', {}, isDetailed)
  const clusters = useList<Cluster>('clusters', {}, isDetailed)
  const rows = useMemo(() => {
    const detailed = isDetailed && reports.data && clusters.data
    const listed = fleet.rows
      .filter(({ isApart }) => !isApart)
      .map(({ name, state, waitsFor, isHeard, seen }) => ({
        name,
        isAccepted: waitsFor !== 'acceptance',
        isOffline: state === 'Offline' || (state === 'NotSelected' && !isHeard && seen > 0),
        lastSeen: seen > 0 ? new Date(seen * 1000).toISOString() : undefined,
      }))
    return complianceRows({
      policies: policies ?? [],
      clusters: detailed ? clusters.data.map(shownCluster) : link === 'refused' ? undefined : listed,
      reports: detailed ? reports.data : undefined,
    })
  }, [policies, isDetailed, reports.data, clusters.data, fleet, link])
  const refused = isDetailed && (reports.error ?? clusters.error)
  return {
    rows,
    notes: [
      ...(link === 'refused' ? ['You may not list clusters: those that no binding selects are missing.'] : []),
      ...(refused ? [`Messages and times are not shown: ${refused.message}.`] : []),
    ],
  }
}

/** The rows at the end of a day, from the journal of the hub. */
function useHistory(day: string, policies: readonly ShownPolicy[] | undefined): KnownRows {
  const { data, error } = useQuery({
    queryKey: ['compliance-history'],
    enabled: day !== '',
    queryFn: ({ signal }) => readHistory(signal),
  })
  const timeMs = Math.min(parseTime(`${day}T23:59:59Z`) ?? 0, Date.now())
  const rows = useMemo(
    () => (data && policies ? rowsAtTime(data.records, { timeMs, policies }) : undefined),
    // The time moves on while today is shown; the rows are those of the moment of reading.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [data, policies, day],
  )
  return {
    rows: error ? undefined : rows,
    notes: [
      ...(rows ? ['States as the clusters had reported them by then; offline clusters have their last state.'] : []),
      ...(data?.gaps ?? []).map((gap) => `The history is not complete: ${gap}.`),
    ],
    error,
  }
}

async function readHistory(
  signal: AbortSignal,
): Promise<{ readonly records: readonly ComplianceRecord[]; readonly gaps: readonly string[] }> {
  const text = await readText(HISTORY, { method: 'POST', signal })
  const values = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly type?: string; readonly message?: string })
  if (!values.some(({ type }) => type === 'end')) throw new ApiFailure(0, 'Incomplete', 'the history ended early')
  return {
    records: values.flatMap((value) => readComplianceRecord(value) ?? []),
    gaps: values.flatMap(({ type, message = '' }) => (type === 'gap' ? [message] : [])),
  }
}

const TITLES: Readonly<Record<ComplianceState, string>> = {
  Compliant: 'Compliant',
  NonCompliant: 'Non-compliant',
  Pending: 'Pending',
  Unknown: 'Unknown',
  Offline: 'Offline',
  NotSelected: 'Not selected',
}

function Counts({
  rows,
  choice: { by, group, state },
  set,
}: {
  readonly rows: readonly ComplianceRow[]
  readonly choice: Choice
  readonly set: (changes: Readonly<Record<string, string>>) => void
}) {
  const groups = useMemo(() => countRows(rows, by), [rows, by])
  return (
    <div className="scroll-x" ref={scrollable}>
      <table className="plain numbers">
        <thead>
          <tr>
            <th>{`${by[0]!.toUpperCase()}${by.slice(1)}`}</th>
            {COMPLIANCE_STATES.map((one) => (
              <th key={one}>{TITLES[one]}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ group: name, counts }) => (
            <tr key={name} data-group={name} data-chosen={name === group || undefined}>
              <td>
                <button
                  type="button"
                  className="as-link"
                  aria-pressed={name === group}
                  onClick={() => set({ group: name === group ? '' : name, state: '' })}
                >
                  {name === '-' ? `no ${by}` : name}
                </button>
              </td>
              {COMPLIANCE_STATES.map((one) => (
                <td key={one}>
                  {counts[one] === 0 ? (
                    <span className="quiet">0</span>
                  ) : (
                    <button
                      type="button"
                      className="as-link"
                      aria-label={`${counts[one]} ${TITLES[one]}, ${name}`}
                      aria-pressed={name === group && one === state}
                      onClick={() => set({ group: name, state: one })}
                    >
                      {counts[one]}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Rows({ rows }: { readonly rows: readonly ComplianceRow[] }) {
  const order = (row: ComplianceRow): number => COMPLIANCE_STATES.indexOf(row.state)
  const sorted = rows.toSorted((a, b) => bad(order(a)) - bad(order(b)) || (a.cluster < b.cluster ? -1 : 1))
  return (
    <Panel title="Policies on clusters" side={<span className="badge">{rows.length}</span>}>
      {rows.length === 0 ? (
        <Empty title="No policy on any cluster matches." />
      ) : (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Policy</th>
                <th>Cluster</th>
                <th>State</th>
                <th>Since</th>
                <th>Message</th>
              </tr>
            </thead>
            <tbody>
              {sorted
                .slice(0, MAX_ROWS)
                .map(({ engine, namespace, policy, cluster, state, since, last, lastHeard, message, duty }) => (
                  <tr key={`${policyName({ engine, namespace, policy })} ${cluster}`} data-row={`${policy} ${cluster}`}>
                    <td>{policyName({ engine, namespace, policy })}</td>
                    <td>
                      <Link href={`/clusters/${cluster}`}>{cluster}</Link>
                    </td>
                    <td>
                      <State state={state} />
                      {last !== undefined && <div className="quiet">last state {TITLES[last]}</div>}
                      {duty && (
                        <div className="quiet">
                          {dutyState(duty, Date.now())}, deadline {duty.deadline}
                          {duty.compliedAt !== undefined && `, complied ${duty.compliedAt}`}
                        </div>
                      )}
                    </td>
                    <td>
                      <Ago at={lastHeard ?? since} />
                    </td>
                    <td className="wide">{message}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > MAX_ROWS && <p className="quiet">and {rows.length - MAX_ROWS} more</p>}
    </Panel>
  )
}

/** Clusters that are not compliant come first, those that are last. */
function bad(order: number): number {
  return order === 0 ? COMPLIANCE_STATES.length : order
}
