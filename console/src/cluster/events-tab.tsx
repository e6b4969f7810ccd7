/** Events about an object, the newest first. */
import { useMemo } from 'react'
import type { Event } from '../../../src/kinds/builtin/core.ts'
import { useList } from '../data/queries.ts'
import { Empty, Failure } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'
import { Words } from '../ui/words.tsx'
import { scrollable } from '../ui/scrollable.ts'

export function EventsTab({
  kind,
  name,
  namespace,
}: {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}) {
  const fields = { 'involvedObject.kind': kind, 'involvedObject.name': name }
  const { data, error, isPending } = useList<Event>('events', { fields, ...(namespace !== undefined && { namespace }) })
  const events = useMemo(() => (data ?? []).toSorted((a, b) => timeOf(b).localeCompare(timeOf(a))), [data])
  if (error) return <Failure error={error} what="the events" />
  if (isPending) return <Empty title="Reading the events…" />
  if (events.length === 0) return <Empty title="There were no events in the last hour." />
  return (
    <div className="scroll-x" ref={scrollable}>
      <table className="plain stack">
        <thead>
          <tr>
            <th>Last seen</th>
            <th>Type</th>
            <th>Reason</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.metadata.uid ?? event.metadata.name}>
              <td>
                <Ago at={timeOf(event)} />
              </td>
              <td>
                <span className="state" data-tone={event.type === 'Warning' ? 'bad' : 'quiet'}>
                  <span aria-hidden="true">{event.type === 'Warning' ? '!' : '·'}</span> {event.type}
                </span>
              </td>
              <td>{event.reason}</td>
              <td className="wide">
                <Words text={event.message ?? ''} />{' '}
                {(event.count ?? 1) > 1 && <span className="quiet">×{event.count}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function timeOf({ lastTimestamp, firstTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? ''
}
