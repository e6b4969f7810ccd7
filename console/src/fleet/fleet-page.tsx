/** The fleet in one look: counts, what needs a person, the heat map and the table. */
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { countRows } from '../data/fleet-store.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { Command, Empty, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { lookOf, STATE_ORDER } from '../ui/states.ts'
import { ringOrder } from '../rollouts/rollout-rows.ts'
import { groupRows, labelKeys, sortRows } from './arrange.ts'
import type { SortKey } from './arrange.ts'
import { Attention } from './attention.tsx'
import { legendOf } from './colors.ts'
import { FreezeButton } from '../guardrails/freeze-button.tsx'
import { FleetTable } from './fleet-table.tsx'
import { Selection } from './selection.tsx'
import { labelSelectorOf, parseFilter, selectedStates, toggleState } from './filter.ts'
import { HeatMap, titleOf } from './heat-map.tsx'
import { useSearchValues } from './use-search.ts'
import { FilterInput } from '../ui/filter-input.tsx'

const DEFAULTS = { q: '', group: 'ring', color: 'state', sort: 'state', order: 'asc' } as const

export function FleetPage() {
  const { fleet, link, problem } = useLive()
  const [values, set] = useSearchValues(DEFAULTS)
  const [, go] = useLocation()
  const open = useCallback((name: string) => go(`/clusters/${name}`), [go])
  if (link === 'loading') return <Empty title="Reading the clusters…" />
  if (link === 'refused') {
    return (
      <Empty title="You may not see the clusters.">
        <p>{problem}</p>
        <p>
          Other pages show what your rights allow. The ClusterRoles view, edit and admin do not include clusters; an
          administrator can make one that does, and bind it to you:
        </p>
        <Command>
          kubectl create clusterrole see-clusters --verb=get,list,watch --resource=clusters.flotilla.dev
        </Command>
      </Empty>
    )
  }
  if (fleet.rows.length === 0 && link === 'lost') {
    return <Empty title="The clusters could not be read.">{problem}</Empty>
  }
  if (fleet.rows.length === 0) {
    return (
      <Empty title="No cluster has joined yet.">
        <p>Add the first one. The command prints one line to paste where the cluster can be reached.</p>
        <Command>flotilla cluster add NAME</Command>
      </Empty>
    )
  }
  return (
    <div className="fleet-page">
      <h1 className="hidden">Fleet</h1>
      <Counts rows={fleet.rows} q={values.q} onToggle={(state) => set({ q: toggleState(values.q, state) })} />
      <div className="fleet-upper">
        <FleetMap rows={fleet.rows} values={values} set={set} onOpen={open} />
        <Attention />
      </div>
      <Listing rows={fleet.rows} values={values} set={set} onOpen={open} />
    </div>
  )
}

const NO_SELECTION: ReadonlySet<string> = new Set()

type Values = Readonly<Record<keyof typeof DEFAULTS, string>>

interface PartProps {
  readonly rows: readonly FleetRow[]
  readonly values: Values
  readonly set: (changes: Readonly<Record<string, string>>) => void
  readonly onOpen: (name: string) => void
}

/** Rows that the filter selects; typing stays ahead of them. */
function useFiltered(rows: readonly FleetRow[], q: string): readonly FleetRow[] {
  const wanted = useDeferredValue(q)
  return useMemo(() => (wanted.trim() === '' ? rows : rows.filter(parseFilter(wanted))), [rows, wanted])
}

function Counts({
  rows,
  q,
  onToggle,
}: {
  readonly rows: readonly FleetRow[]
  readonly q: string
  readonly onToggle: (state: string) => void
}) {
  const { total, states, apart } = useMemo(() => countRows(rows), [rows])
  const selected = selectedStates(q)
  const shown = [...states].sort(([a], [b]) => STATE_ORDER.indexOf(a) - STATE_ORDER.indexOf(b))
  return (
    <div className="counts" role="group" aria-label="Clusters by state">
      <strong className="total">
        {total.toLocaleString('en')} {total === 1 ? 'cluster' : 'clusters'}
      </strong>
      <span className="bar" aria-hidden="true">
        {shown.map(([state, count]) => (
          <span key={state} data-tone={lookOf(state).tone} style={{ flexGrow: count }} />
        ))}
      </span>
      {[...shown, ...apart].map(([state, count]) => (
        <button
          type="button"
          key={state}
          className="count-button"
          aria-pressed={selected.has(state.toLowerCase())}
          onClick={() => onToggle(state)}
        >
          <State state={state} count={count} />
        </button>
      ))}
    </div>
  )
}

function FleetMap({ rows, values, set, onOpen }: PartProps) {
  const keys = useMemo(() => labelKeys(rows), [rows])
  const filtered = useFiltered(rows, values.q)
  // A fleet without the label of the default shows one group.
  const groupBy = values.group === 'ring' && !keys.includes('ring') ? '' : values.group
  const rollouts = useList<Rollout>('rollouts').data
  const groups = useMemo(() => groupRows(filtered, groupBy, ringOrder(rollouts ?? [])), [filtered, groupBy, rollouts])
  const legend = useMemo(() => legendOf(filtered, values.color), [filtered, values.color])
  const choices = ['state', 'version', 'badge', ...keys]
  const legendId = 'heat-legend'
  return (
    <Panel
      title="Map"
      side={
        <div className="choices">
          <label>
            Group by
            <select value={groupBy} onChange={({ target }) => set({ group: target.value })}>
              <option value="">nothing</option>
              {choices.map((key) => (
                <option key={key}>{key}</option>
              ))}
            </select>
          </label>
          <label>
            Colour by
            <select value={values.color} onChange={({ target }) => set({ color: target.value })}>
              {choices.map((key) => (
                <option key={key}>{key}</option>
              ))}
            </select>
          </label>
        </div>
      }
    >
      <HeatMap groups={groups} groupBy={groupBy} colorBy={values.color} legend={legend} onOpen={onOpen} />
      <ul className="legend" id={legendId} aria-label={`Colours by ${values.color}`}>
        {legend.slice(0, 12).map(({ value, color, count }) => (
          <li key={value}>
            {values.color === 'state' ? (
              <span className="swatch-sign" data-tone={lookOf(value).tone} aria-hidden="true">
                {lookOf(value).sign}
              </span>
            ) : (
              <span className="swatch" style={{ background: `var(${color})` }} aria-hidden="true" />
            )}
            {titleOf(value, values.color)} <span className="quiet">{count}</span>
          </li>
        ))}
        {legend.length > 12 && <li className="quiet">and {legend.length - 12} more values</li>}
      </ul>
    </Panel>
  )
}

function Listing({ rows, values, set, onOpen }: PartProps) {
  const filtered = useFiltered(rows, values.q)
  const sort = values.sort as SortKey
  const isDescending = values.order === 'desc'
  const sorted = useMemo(() => sortRows(filtered, sort, isDescending), [filtered, sort, isDescending])
  const onSort = useCallback(
    (key: SortKey) => set({ sort: key, order: key === sort && !isDescending ? 'desc' : 'asc' }),
    [set, sort, isDescending],
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(NO_SELECTION)
  const onSelect = useCallback((names: readonly string[], isOn: boolean) => {
    setSelected((before) => {
      const next = new Set(before)
      for (const name of names)
        if (isOn) next.add(name)
        else next.delete(name)
      return next
    })
  }, [])
  return (
    <Panel
      title="Clusters"
      side={
        <div className="listing-tools">
          <FreezeButton selector={labelSelectorOf(values.q)} />
          <FilterInput
            label="Filter clusters"
            hint="Filter: text, state:failed, region:north"
            value={values.q}
            onChange={(text) => set({ q: text })}
          />
        </div>
      }
    >
      <Selection rows={rows} selected={selected} onClear={() => setSelected(NO_SELECTION)} />
      <p className="found" role="status">
        {filtered.length === rows.length
          ? ''
          : `${filtered.length.toLocaleString('en')} of ${rows.length.toLocaleString('en')} shown`}
      </p>
      {sorted.length === 0 ? (
        <Empty title="No cluster matches the filter.">
          <button type="button" className="button plain" onClick={() => set({ q: '' })}>
            Clear the filter
          </button>
        </Empty>
      ) : (
        <FleetTable
          rows={sorted}
          sort={sort}
          isDescending={isDescending}
          onSort={onSort}
          onOpen={onOpen}
          selected={selected}
          onSelect={onSelect}
        />
      )}
    </Panel>
  )
}
