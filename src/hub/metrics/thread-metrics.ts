/** What each thread of the hub counts. A list per thread, so that the docs page and the scrape cannot disagree. */
import type { Clock } from '../../core/time/clock.ts'
import type { Handler } from '../../core/http.ts'
import { measureHandler } from '../../core/measured-handler.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { JournalStats } from '../../journal/journal-writer.ts'
import { parseTime } from '../../core/time/time.ts'
import { HUB_PARTS, RESTART_CAUSES } from '../../plan/fleet/hub-health.ts'
import type { HubAuthority } from '../../plan/fleet/hub-health.ts'
import { routeLabel, verbLabel } from './request-labels.ts'

interface Measuring {
  readonly clock: Clock
  readonly metrics: Metrics
}

/** The API's handler, measured. */
export function measureApi(handle: Handler, measuring: Measuring): Handler {
  return measureHandler(handle, {
    ...measuring,
    prefix: 'flotilla_api',
    what: 'callers of the API',
    labels: ['verb'],
    labelsOf: verbLabel,
  })
}

/** The gateway's handler, measured. */
export function measureGateway(handle: Handler, measuring: Measuring): Handler {
  return measureHandler(handle, {
    ...measuring,
    prefix: 'flotilla_gateway',
    what: 'agents',
    labels: ['route'],
    labelsOf: routeLabel,
  })
}

/** Declares the database's size; the answer sets it. */
export function declareDatabaseSize(metrics: Metrics): (bytes: number) => void {
  const gauge = metrics.gauge({
    name: 'flotilla_store_bytes',
    help: 'Size of the database file and of its write-ahead log.',
  })
  return (bytes) => gauge({}, bytes)
}

/** Declares the number of open follow streams; the answer sets it. */
export function declareStreams(metrics: Metrics): (count: number) => void {
  const gauge = metrics.gauge({ name: 'flotilla_gateway_streams', help: 'Agents that follow their document now.' })
  return (count) => gauge({}, count)
}

/** Declares the figures of journals; the answer sets them. */
export function declareJournals(metrics: Metrics): (journals: readonly JournalStats[]) => void {
  const labels = ['stream']
  const lag = metrics.gauge({
    name: 'flotilla_journal_lag_seconds',
    help: 'Age of the oldest record that is not in the journal yet. More than 60 means that the journal cannot write.',
    labels,
  })
  const waiting = metrics.gauge({
    name: 'flotilla_journal_waiting_records',
    help: 'Records that are not in the journal yet. A crash of the gateway loses them.',
    labels,
  })
  const written = metrics.counter({
    name: 'flotilla_journal_records_total',
    help: 'Records written to the journal.',
    labels,
  })
  const lost = metrics.counter({
    name: 'flotilla_journal_lost_records_total',
    help: 'Records that the journal did not take because its buffer was full.',
    labels,
  })
  const told = new Map<string, JournalStats>()
  return (journals) => {
    for (const stats of journals) {
      const { stream } = stats
      const before = told.get(stream)
      lag({ stream }, stats.lagMs / 1000)
      waiting({ stream }, stats.waiting)
      written({ stream }, stats.written - (before?.written ?? 0))
      lost({ stream }, stats.lost - (before?.lost ?? 0))
      told.set(stream, stats)
    }
  }
}

/** Declares the restarts and the state of the parts of a hub. */
export function declareParts(metrics: Metrics) {
  const restarts = metrics.counter({
    name: 'flotilla_part_restarts_total',
    help: 'Restarts of threads and loops of the hub by cause: error, exit, memory, silent (no answer), start.',
    labels: ['part', 'cause'],
  })
  const running = metrics.gauge({
    name: 'flotilla_part_running',
    help: 'Whether a thread or loop of the hub runs: 1, or 0 while it is down or unstable. Parts without work have no value.',
    labels: ['part'],
  })
  for (const part of HUB_PARTS) for (const cause of RESTART_CAUSES) restarts({ part, cause }, 0)
  return { restarts, running }
}

/** Declares the ends of the hub's CAs; the answer sets them. A CA whose end is unknown has NaN. */
export function declareAuthorities(metrics: Metrics): (authorities: readonly HubAuthority[], nowMs: number) => void {
  const gauge = metrics.gauge({
    name: 'flotilla_ca_expiry_seconds',
    help: 'Seconds until the certificate of a CA of the hub expires; negative when expired.',
    labels: ['ca'],
  })
  return (authorities, nowMs) => {
    for (const { name, notAfter } of authorities) gauge({ ca: name }, ((parseTime(notAfter) ?? NaN) - nowMs) / 1000)
  }
}

/** Declares whether the hub is in maintenance; the answer sets it. */
export function declareMaintenance(metrics: Metrics): (isOn: boolean) => void {
  const gauge = metrics.gauge({
    name: 'flotilla_hub_maintenance',
    help: 'Whether the hub is in maintenance and decides nothing: 1, or 0 while it works.',
  })
  return (isOn) => gauge({}, isOn ? 1 : 0)
}

/** Declares the hub's version; the answer says it. */
export function declareBuildInfo(metrics: Metrics): (version: string) => void {
  const gauge = metrics.gauge({
    name: 'flotilla_build_info',
    help: 'The version that runs; always 1.',
    labels: ['version'],
  })
  return (version) => gauge({ version }, 1)
}
