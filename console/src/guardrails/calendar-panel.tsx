/** Four weeks of windows and freezes, for all clusters or as one cluster has them, in its time zone. */
import { useId, useMemo } from 'react'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import type { Window } from '../../../src/kinds/native/window.ts'
import type { ClusterWindow } from '../../../src/kinds/native/cluster-window.ts'
import { isTimeZone } from '../../../src/core/time/time.ts'
import { compileWindow, isForCluster } from '../../../src/plan/windows/window-rules.ts'
import { useObject } from '../data/queries.ts'
import { useLive, useNow } from '../data/use-live.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Empty, Panel } from '../ui/parts.tsx'
import { calendarDays } from './calendar.ts'
import type { CalendarDay } from './calendar.ts'

const DEFAULTS = { cluster: '', zone: '' } as const
const WEEKS = 4
const HOUR_MS = 3_600_000
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone

export function CalendarPanel({ windows }: { readonly windows: readonly (Window | ClusterWindow)[] }) {
  const [{ cluster, zone: wanted }, set] = useSearchValues(DEFAULTS)
  const { fleet } = useLive()
  const row = fleet.byName.get(cluster)
  const list = useId()
  const zones = [...new Set(['UTC', HERE, ...windows.flatMap(({ spec }) => spec.zone ?? [])])]
  return (
    <Panel
      title="Calendar"
      side={
        <div className="choices">
          <label>
            Cluster
            <input
              className="filter short"
              list={list}
              placeholder="all clusters"
              value={cluster}
              onChange={({ target }) => set({ cluster: target.value, zone: '' })}
            />
            <datalist id={list}>
              {fleet.rows.slice(0, 500).map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          {!row && (
            <label>
              Time zone
              <select value={wanted === '' ? HERE : wanted} onChange={({ target }) => set({ zone: target.value })}>
                {zones.map((zone) => (
                  <option key={zone}>{zone}</option>
                ))}
              </select>
            </label>
          )}
        </div>
      }
    >
      {cluster !== '' && !row ? (
        <Empty title={`There is no cluster "${cluster}".`} />
      ) : row ? (
        <OfCluster
          key={row.name}
          name={row.name}
          windows={windows.filter((one) => isForCluster(compileWindow(one), row))}
        />
      ) : (
        <Weeks windows={windows} zone={isTimeZone(wanted) ? wanted : HERE} />
      )}
    </Panel>
  )
}

function OfCluster({
  name,
  windows,
}: {
  readonly name: string
  readonly windows: readonly (Window | ClusterWindow)[]
}) {
  const { data } = useObject<Cluster>('clusters', name)
  if (!data) return <Empty title="Reading the cluster…" />
  return <Weeks windows={windows} zone={data.spec.timeZone ?? 'UTC'} />
}

function Weeks({ windows, zone }: { readonly windows: readonly (Window | ClusterWindow)[]; readonly zone: string }) {
  const hour = Math.floor(useNow() / HOUR_MS)
  const days = useMemo(
    () => calendarDays(windows, { zone, nowMs: hour * HOUR_MS, weeks: WEEKS }),
    [windows, zone, hour],
  )
  return (
    <>
      <p className="quiet">
        Times in {zone}. Windows without a zone follow the clock of each cluster and are shown as in this zone.
      </p>
      <ol className="calendar" aria-label={`Windows and freezes of ${WEEKS} weeks`}>
        {WEEKDAYS.map((day) => (
          <li key={day} className="weekday" aria-hidden="true">
            {day}
          </li>
        ))}
        {days.map((day) => (
          <Day key={day.date} day={day} />
        ))}
      </ol>
    </>
  )
}

function Day({ day: { date, day, isToday, entries, more } }: { readonly day: CalendarDay }) {
  return (
    <li
      className="day"
      data-today={isToday || undefined}
      data-empty={entries.length === 0 || undefined}
      data-day={date}
    >
      <time dateTime={date} aria-label={isToday ? `${date}, today` : date}>
        {day}
        <span className="day-date"> {date.slice(0, 7)}</span>
      </time>
      <ul>
        {entries.map(({ name, mode, from, until, reason }) => (
          <li key={`${name} ${from}`} className="day-entry" data-mode={mode} title={reason}>
            <span aria-hidden="true">{mode === 'Freeze' ? '❄' : '◷'}</span> {name}{' '}
            <span className="quiet">{from === '00:00' && until === '24:00' ? 'all day' : `${from}–${until}`}</span>
          </li>
        ))}
        {more > 0 && <li className="quiet">and {more} more</li>}
      </ul>
    </li>
  )
}
