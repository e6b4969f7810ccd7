/** One Placement: why each cluster is selected or not, and what an edit would change. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { findCondition } from '../../../src/core/conditions.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import { explainPlacement } from '../../../src/plan/projects/placement-verdicts.ts'
import type { Explained } from '../../../src/plan/projects/placement-verdicts.ts'
import { useObject } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { stateOfPlacement } from './placement-state.ts'
import { Simulate } from './simulate.tsx'
import { usePlacementView } from './use-placement-view.ts'
import { scrollable } from '../ui/scrollable.ts'
import { FilterInput } from '../ui/filter-input.tsx'
import { NoObject } from '../ui/no-object.tsx'

const DEFAULTS = { cluster: '', q: '' } as const
const MAX_ROWS = 200

interface Named {
  readonly namespace: string
  readonly name: string
}

export function PlacementPage({ namespace, name }: Named) {
  const { data: placement, error } = useObject<Placement>('placements', name, namespace)
  if (error || !placement) {
    return <NoObject error={error} noun="placement" namespace={namespace} name={name} list="/placements" />
  }
  return (
    <div className="page">
      <header className="page-head">
        <p className="crumbs">
          <Link href="/placements">Placements</Link> <span aria-hidden="true">/</span> {namespace}
        </p>
        <h1>{name}</h1>
        <p className="head-state">
          <State state={stateOfPlacement(placement)} />{' '}
          <span className="quiet">{placement.status?.selected ?? 0} clusters selected</span>
        </p>
        <p className="head-message">{findCondition(placement.status?.conditions, 'Ready')?.message}</p>
        {placement.status?.held && (
          <p className="as-command">
            <Command>{`flotilla guard release placement ${name} -n ${namespace}`}</Command>
          </p>
        )}
      </header>
      <Verdicts placement={placement} />
      <Simulate placement={placement} />
    </div>
  )
}

function Verdicts({ placement }: { readonly placement: Placement }) {
  const [{ cluster, q }, set] = useSearchValues(DEFAULTS)
  const { view, projects, error } = usePlacementView(placement)
  const explained = useMemo(() => {
    if (!view) return undefined
    const { problem, explain } = explainPlacement(placement, view, projects)
    const verdicts = view.clusters
      .map(explain)
      .toSorted((a, b) => Number(b.selected) - Number(a.selected) || (a.cluster < b.cluster ? -1 : 1))
    return { problem, verdicts }
  }, [placement, view, projects])
  if (error) {
    return (
      <Panel title="Clusters">
        <Failure error={error} what="what the decisions are made of" />
      </Panel>
    )
  }
  if (!explained) return <Empty title="Explaining the decisions…" />
  const { problem, verdicts } = explained
  const found = verdicts.filter((one) => `${one.cluster} ${one.message}`.includes(q.trim()))
  const one = verdicts.find((verdict) => verdict.cluster === cluster)
  return (
    <>
      {problem !== undefined && (
        <p className="banner" role="status">
          {problem}
        </p>
      )}
      {cluster !== '' && (
        <Panel title={`Why ${cluster}`}>
          {one ? <Checks verdict={one} placement={placement} /> : <Empty title={`There is no cluster "${cluster}".`} />}
        </Panel>
      )}
      <Panel
        title="Clusters"
        side={
          <FilterInput
            label="Filter clusters"
            hint="Filter by name or reason"
            value={q}
            onChange={(text) => set({ q: text })}
          />
        }
      >
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Cluster</th>
                <th>Decision</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, MAX_ROWS).map((verdict) => (
                <tr
                  key={verdict.cluster}
                  data-verdict={verdict.cluster}
                  data-chosen={verdict.cluster === cluster || undefined}
                >
                  <td>
                    <button
                      type="button"
                      className="as-link"
                      aria-pressed={verdict.cluster === cluster}
                      onClick={() => set({ cluster: verdict.cluster === cluster ? '' : verdict.cluster })}
                    >
                      {verdict.cluster}
                    </button>
                  </td>
                  <td>
                    <Decision verdict={verdict} />
                  </td>
                  <td className="wide">{verdict.message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {found.length > MAX_ROWS && <p className="quiet">and {found.length - MAX_ROWS} more</p>}
      </Panel>
    </>
  )
}

function Decision({ verdict: { selected, held } }: { readonly verdict: Explained }) {
  if (held) return <State state="Held" />
  return selected ? (
    <span className="state" data-tone="good">
      <span aria-hidden="true">✔</span> Selected
    </span>
  ) : (
    <State state="NotSelected" />
  )
}

const SIGNS = {
  Pass: ['✔', 'good', 'passed'],
  Stop: ['✗', 'bad', 'stopped here'],
  NotAsked: ['–', 'quiet', 'not asked'],
} as const

function Checks({ verdict, placement }: { readonly verdict: Explained; readonly placement: Placement }) {
  const { metadata } = placement
  return (
    <>
      <p>
        <Decision verdict={verdict} /> {verdict.message}.{' '}
        <Link href={`/clusters/${verdict.cluster}`}>Open the cluster</Link>
      </p>
      <div className="scroll-x" ref={scrollable}>
        <table className="plain">
          <thead>
            <tr>
              <th>Check</th>
              <th>Result</th>
              <th>Wanted</th>
              <th>Found</th>
            </tr>
          </thead>
          <tbody>
            {verdict.checks.map(({ name, outcome, wanted, observed }) => (
              <tr key={name + wanted} data-check={name} data-outcome={outcome}>
                <td>{name}</td>
                <td>
                  <span className="state" data-tone={SIGNS[outcome][1]}>
                    <span aria-hidden="true">{SIGNS[outcome][0]}</span> {SIGNS[outcome][2]}
                  </span>
                </td>
                <td>{wanted}</td>
                <td className="wide">{observed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {verdict.rank && (
        <p className="quiet">
          Score {verdict.rank.score} ={' '}
          {verdict.rank.parts.map(({ name, weight, score }) => `${name} ${score}×${weight}`).join(' + ')}
        </p>
      )}
      {verdict.wouldChange.length > 0 && (
        <p>
          The cluster would {verdict.selected ? 'not ' : ''}be selected with: {verdict.wouldChange.join(', or ')}
        </p>
      )}
      <p className="as-command">
        <Command>{`flotilla explain placement/${metadata.name} ${verdict.cluster} -n ${metadata.namespace}`}</Command>
      </p>
    </>
  )
}
