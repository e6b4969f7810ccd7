/** The clusters as a table of which only the visible rows are in the document. */
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Link } from 'wouter'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { Badges, State } from '../ui/state.tsx'
import { Age, Ago } from '../ui/time.tsx'
import type { SortKey } from './arrange.ts'

const features = tableFeatures({})
const column = createColumnHelper<typeof features, FleetRow>()

/** Columns; the id of a column that can be sorted is its sort key. */
const COLUMNS = column.columns([
  column.display({
    id: 'name',
    header: 'Name',
    cell: ({ row: { original } }) => <Link href={`/clusters/${original.name}`}>{original.name}</Link>,
  }),
  column.display({
    id: 'state',
    header: 'State',
    cell: ({ row: { original } }) => (
      <>
        <State state={original.state} /> <Badges badges={original.badges} />
      </>
    ),
  }),
  column.display({ id: 'since', header: 'Since', cell: ({ row }) => <Age at={row.original.since} /> }),
  column.display({
    id: 'bundles',
    header: 'Bundles',
    cell: ({ row: { original } }) => `${original.ready}/${original.bundles}`,
  }),
  column.display({ id: 'version', header: 'Version', cell: ({ row }) => row.original.version || '–' }),
  column.display({
    id: 'seen',
    header: 'Seen',
    cell: ({ row: { original } }) => (original.isHeard ? 'now' : <Ago at={original.seen} />),
  }),
  column.display({ id: 'certificate', header: 'Cert', cell: ({ row }) => <Age at={row.original.certificate} /> }),
  column.display({
    id: 'reason',
    header: 'Reason',
    cell: ({ row: { original } }) => (original.state === 'Ready' ? '' : original.message),
  }),
])

const ROW_HEIGHT = 38
const SORTABLE: ReadonlySet<string> = new Set<SortKey>([
  'name',
  'state',
  'since',
  'version',
  'bundles',
  'seen',
  'certificate',
])

export interface FleetTableProps {
  /** In their order. */
  readonly rows: readonly FleetRow[]
  readonly sort: SortKey
  readonly isDescending: boolean
  readonly onSort: (key: SortKey) => void
  readonly onOpen: (name: string) => void
  readonly selected: ReadonlySet<string>
  /** Selects or deselects clusters. */
  readonly onSelect: (names: readonly string[], isOn: boolean) => void
}

export function FleetTable({ rows, sort, isDescending, onSort, onOpen, selected, onSelect }: FleetTableProps) {
  const body = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  // The chosen row is a cluster, not a place: it stays when others come and go.
  const [chosen, setChosen] = useState<string>()
  useLayoutEffect(() => setTop(body.current?.offsetTop ?? 0), [rows.length])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => rows[index]!.name,
  })
  const visible = virtual.getVirtualItems()
  // The table is of the visible rows: a model of thousands would be made anew with each change.
  const table = useTable({
    features,
    columns: COLUMNS,
    data: visible.map(({ index }) => rows[index]!),
    getRowId: (row) => row.name,
  })
  const models = table.getRowModel().rows
  useEffect(() => {
    const listener = (event: globalThis.KeyboardEvent): void => {
      const isFree = document.activeElement === document.body || body.current?.contains(document.activeElement)
      const step = { j: 1, k: -1 }[event.key]
      if (!isFree || event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === 'x' && chosen !== undefined) return onSelect([chosen], !selected.has(chosen))
      if (step === undefined) return
      const at = rows.findIndex(({ name }) => name === chosen)
      const next = Math.max(0, Math.min(rows.length - 1, at + step))
      setChosen(rows[next]?.name)
      virtual.scrollToIndex(next)
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [rows, chosen, virtual, selected, onSelect])
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key === 'Enter' && chosen !== undefined) onOpen(chosen)
  }
  return (
    <div
      className="fleet-table"
      role="table"
      aria-label="Clusters"
      aria-rowcount={rows.length + 1}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="fleet-head">
        <div role="row" className="fleet-row" aria-rowindex={1}>
          <div role="columnheader" data-column="select">
            <SelectAll rows={rows} selected={selected} onSelect={onSelect} />
          </div>
          {table.getHeaderGroups()[0]!.headers.map((header) => {
            const isSorted = header.id === sort
            return (
              <div
                role="columnheader"
                key={header.id}
                data-column={header.id}
                aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}
              >
                {SORTABLE.has(header.id) ? (
                  <button type="button" onClick={() => onSort(header.id as SortKey)}>
                    <table.FlexRender header={header} />
                    <span aria-hidden="true">{isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                ) : (
                  <table.FlexRender header={header} />
                )}
              </div>
            )
          })}
        </div>
      </div>
      <div role="rowgroup" ref={body} className="fleet-body" style={{ height: virtual.getTotalSize() }}>
        {visible.map(({ index, key, start }, at) => {
          const row = models[at]!
          return (
            <div
              role="row"
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              data-cluster={row.id}
              className="fleet-row"
              aria-rowindex={index + 2}
              data-chosen={row.id === chosen || undefined}
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <div role="cell" data-column="select">
                <input
                  type="checkbox"
                  aria-label={`Select ${row.id}`}
                  checked={selected.has(row.id)}
                  onChange={({ target }) => onSelect([row.id], target.checked)}
                />
              </div>
              {row.getAllCells().map((cell) => (
                <div
                  role="cell"
                  key={cell.id}
                  data-column={cell.column.id}
                  title={titleOf(cell.column.id, row.original)}
                >
                  <table.FlexRender cell={cell} />
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Selects all rows of the filter, and says by its third state that only some are. */
function SelectAll({ rows, selected, onSelect }: Pick<FleetTableProps, 'rows' | 'selected' | 'onSelect'>) {
  const box = useRef<HTMLInputElement>(null)
  const count = rows.filter(({ name }) => selected.has(name)).length
  const isSome = count > 0 && count < rows.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = isSome
  }, [isSome])
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={`Select all ${rows.length} shown clusters`}
      checked={count === rows.length}
      onChange={({ target }) =>
        onSelect(
          rows.map(({ name }) => name),
          target.checked,
        )
      }
    />
  )
}

function titleOf(column: string, { message }: FleetRow): string | undefined {
  return column === 'reason' ? message : undefined
}
