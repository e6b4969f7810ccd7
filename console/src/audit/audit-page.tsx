/** The audit log, people first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useState } from 'react'
import { read } from '../data/api.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Button, Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'
import { auditCsv, auditRows } from './audit-rows.ts'
import type { AuditRow, StoredRecord } from './audit-rows.ts'
import { scrollable } from '../ui/scrollable.ts'
import { FilterInput } from '../ui/filter-input.tsx'

const DEFAULTS = { q: '', all: '' } as const
const PAGE = 2_000
/** Records that one reading goes back at most. */
const PAGES_AT_ONCE = 5
const ENOUGH = 50
const MAX_SHOWN = 100

interface Part {
  readonly records: readonly StoredRecord[]
  /** Records up to this one were not read yet; 0 at the begin of the log. */
  readonly before: number
}

/** Reads backwards until there are enough records of people. */
async function readPart(from: number | undefined, signal: AbortSignal): Promise<Part> {
  let before = from ?? (await read<{ sequence: number }>('/audit/head', signal)).sequence
  const records: StoredRecord[] = []
  for (let pages = 0; pages < PAGES_AT_ONCE && before > 0; pages += 1) {
    const after = Math.max(0, before - PAGE)
    const path = `/audit?after=${after}&limit=${before - after}`
    records.push(...(await read<{ items: readonly StoredRecord[] }>(path, signal)).items)
    before = after
    if (auditRows(records, { all: false, text: '' }).length >= ENOUGH) break
  }
  return { records, before }
}

export function AuditPage() {
  const [{ q, all }, set] = useSearchValues(DEFAULTS)
  const text = useDeferredValue(q)
  const [shown, setShown] = useState(MAX_SHOWN)
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetching, refetch } = useInfiniteQuery({
    queryKey: ['audit'],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) => readPart(pageParam, signal),
    getNextPageParam: ({ before }: Part) => (before > 0 ? before : undefined),
  })
  const rows = useMemo(
    () => auditRows(data?.pages.flatMap(({ records }) => records) ?? [], { all: all !== '', text }),
    [data, all, text],
  )
  if (error instanceof ApiFailure && error.code === 404) {
    return (
      <Empty title="The audit log of this API is not here.">
        The hub works on a kube-apiserver, which writes its own audit log. See its flag --audit-log-path.
      </Empty>
    )
  }
  if (error) return <Failure error={error} what="the audit log" />
  if (isPending) return <Empty title="Reading the audit log…" />
  return (
    <div className="page">
      <h1 className="hidden">Audit</h1>
      <Panel
        title="Audit log"
        side={
          <div className="choices">
            <label className="check">
              <input
                type="checkbox"
                checked={all !== ''}
                onChange={({ target }) => set({ all: target.checked ? 'yes' : '' })}
              />
              Writes of the hub, too
            </label>
            <FilterInput
              label="Filter the audit log"
              hint="Filter by user, verb, object, reason"
              value={q}
              onChange={(text) => set({ q: text })}
            />
          </div>
        }
      >
        {rows.length === 0 ? (
          <Empty title={q === '' ? 'No change by a person was found.' : 'No record matches the filter.'} />
        ) : (
          <AuditTable rows={rows.slice(0, shown)} />
        )}
        <p className="actions">
          {rows.length > shown && (
            <Button onClick={() => setShown(shown + MAX_SHOWN)}>Show more of {rows.length}</Button>
          )}
          <Button onClick={() => void refetch()}>Read again</Button>
          {hasNextPage && (
            <Button aria-disabled={isFetching} onClick={() => !isFetching && void fetchNextPage()}>
              Older records
            </Button>
          )}
          <Button onClick={() => download(auditCsv(rows))}>Save as CSV</Button>
          <Command>{all === '' ? 'flotilla audit --people' : 'flotilla audit'}</Command>
          <Command>flotilla audit --verify</Command>
        </p>
      </Panel>
    </div>
  )
}

function AuditTable({ rows }: { readonly rows: readonly AuditRow[] }) {
  return (
    <div className="scroll-x" ref={scrollable}>
      <table className="plain">
        <thead>
          <tr>
            <th>When</th>
            <th>User</th>
            <th>Verb</th>
            <th>Resource</th>
            <th>Object</th>
            <th>Reason</th>
            <th>From</th>
            <th>Number</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ sequence, time, user, verb, isDenied, resource, object, reason, client, address, auditId }) => (
            <tr key={sequence} data-audit={sequence}>
              <td>
                <Ago at={time} />
              </td>
              <td>{user}</td>
              <td>
                {verb}{' '}
                {isDenied && (
                  <span className="state" data-tone="bad">
                    ✗ denied
                  </span>
                )}
              </td>
              <td>{resource}</td>
              <td>{object}</td>
              <td>{reason}</td>
              <td>
                {client} <span className="quiet">{address}</span>
              </td>
              <td title={auditId === '' ? undefined : `Audit ID ${auditId}`}>{sequence}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function download(text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = 'audit.csv'
  link.click()
  URL.revokeObjectURL(address)
}
