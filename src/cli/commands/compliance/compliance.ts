// Tested by src/cli/commands/compliance/compliance.test.ts
/** `flotilla compliance`: which clusters are compliant, by Policy, set, cluster, standard and control. */
import { clientOver } from '../../../client/create-client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import type { ResourceType } from '../../../kinds/meta.ts'
import { listReadable, readIfAllowed } from '../../api/read-if-allowed.ts'
import { listAll } from '../../api/flotilla-resources.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { relativeTime } from '../../print/print-time.ts'
import type { Terminal } from '../../print/terminal.ts'
import {
  chooseRows,
  COMPLIANCE_GROUPS,
  COMPLIANCE_STATES,
  complianceRows,
  countRows,
  engineRows,
  policyName,
  shownCluster,
} from '../../../plan/fleet/compliance-rows.ts'
import type {
  ComplianceGroup,
  ComplianceRow,
  ComplianceState,
  ShownPolicy,
} from '../../../plan/fleet/compliance-rows.ts'
import { DUTY_STATES, dutyState } from '../../../plan/fleet/duties.ts'
import { rowsAt } from './compliance-history.ts'
import { readWord } from './flag-words.ts'
import { engineResults, refuseWithout } from './engine-results.ts'
import { printCells } from './print-cells.ts'
import type { CellFormat } from './print-cells.ts'

export interface ComplianceInput {
  readonly connection: Pick<Connection, 'rest'> & Partial<Pick<Connection, 'namespace'>>
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly flags: {
    readonly namespace?: string
    readonly by?: string
    readonly policy?: string
    readonly set?: string
    readonly cluster?: string
    readonly standard?: string
    readonly control?: string
    readonly state?: string
    readonly notSince?: string
    readonly asOf?: string
    readonly duty?: string
    readonly results?: boolean
    readonly engine?: string
    readonly severity?: string
    readonly output?: CellFormat | 'json'
  }
}

const POLICIES: ResourceType<ShownPolicy> = {
  group: 'policy.open-cluster-management.io',
  version: 'v1',
  kind: 'Policy',
  plural: 'policies',
  scope: 'Namespaced',
}

/** Prints counts by group, or one line for each Policy and cluster if rows are chosen. */
export async function compliance({ connection, terminal, flags }: ComplianceInput): Promise<void> {
  if (flags.results) return engineResults({ connection, terminal, flags })
  refuseWithout(flags, ['engine', 'severity'])
  const by = readWord(flags.by, '--by', COMPLIANCE_GROUPS)
  const state = readState(flags.state)
  const nowMs = systemClock.now()
  const client = clientOver(connection.rest)
  const { items: policies } = await listReadable(
    'policies',
    { namespace: flags.namespace, connection, terminal },
    (scope) => listAll(client, POLICIES, scope),
  )
  if (flags.asOf !== undefined) {
    if (flags.duty !== undefined) throw new CliError(EXIT.usage, { what: '--duty cannot be used with --as-of' })
    const timeMs = timeOf(flags.asOf, nowMs, '--as-of')
    if (timeMs > nowMs) throw new CliError(EXIT.usage, { what: `invalid --as-of ${JSON.stringify(flags.asOf)}: the time is in the future` }) // prettier-ignore
    const { rows, gaps } = await rowsAt(connection, { cluster: flags.cluster, timeMs, policies })
    const inScope = rows.filter(({ namespace }) => flags.namespace === undefined || namespace === flags.namespace)
    for (const gap of gaps) terminal.say(`the history is not complete: ${gap}`)
    terminal.say(`states as the clusters had reported them by ${formatTime(timeMs)}; clusters that were offline then have their last state`) // prettier-ignore
    return print(inScope, { terminal, flags, by, state, nowMs: timeMs, isEmpty: rows.length === 0 })
  }
  const clusters = await readIfAllowed('clusters', listAll(client, Cluster, {}))
  const reports = await readIfAllowed('clusterreports', listAll(client, ClusterReport, {}))
  const refused = [clusters, reports].flatMap((one) => one.refused ?? [])
  if (refused.length > 0)
    terminal.say(`not shown: you may not list ${refused.join(' and ')}; clusters that no binding selects, messages and times are missing`) // prettier-ignore
  const shown = clusters.items.map(shownCluster)
  const engines = flags.namespace === undefined ? engineRows(shown, reports.items) : []
  if (engines.length > 0 && flags.notSince !== undefined)
    terminal.say('not shown: policies of engines in clusters, because engines do not say since when; see --results')
  const rows = complianceRows({
    policies,
    clusters: clusters.refused === undefined ? shown : undefined,
    reports: reports.refused === undefined ? reports.items : undefined,
  })
  const all = [...rows, ...engines]
  print(all, { terminal, flags, by, state, nowMs, isEmpty: all.length === 0 && policies.length === 0 })
}

interface Printing extends Pick<ComplianceInput, 'terminal' | 'flags'> {
  readonly by: ComplianceGroup | undefined
  readonly state: ComplianceState | undefined
  /** The time that the rows are about. */
  readonly nowMs: number
  /** True if there are no rows at all. */
  readonly isEmpty: boolean
}

function print(rows: readonly ComplianceRow[], { terminal, flags, by, state, nowMs, isEmpty }: Printing): void {
  const notSince = flags.notSince === undefined ? undefined : timeOf(flags.notSince, nowMs, '--not-since')
  const { policy, set, cluster, standard, control } = flags
  const dutyIn = readWord(flags.duty, '--duty', [...DUTY_STATES, 'Any'])
  const duty = dutyIn && { state: dutyIn, nowMs }
  const chosen = chooseRows(rows, { policy, set, cluster, standard, control, state, duty, notSince })
  const listing = [policy, cluster, flags.state, flags.duty, flags.notSince]
  const isList = by === undefined && listing.some((flag) => flag !== undefined)
  const output = flags.output ?? 'table'
  if (output === 'json') {
    const data = isList
      ? { rows: chosen.map((row) => withDutyState(row, nowMs)) }
      : { by: by ?? 'policy', groups: countRows(chosen, by ?? 'policy') }
    terminal.data(`${JSON.stringify({ at: formatTime(nowMs), ...data }, undefined, 2)}\n`)
    return
  }
  if (chosen.length === 0) {
    terminal.say(isEmpty ? 'No policies found.' : 'No policy on any cluster matches.')
    return
  }
  const { header, cells } = isList ? rowCells(chosen, nowMs, output) : countCells(chosen, by ?? 'policy', nowMs, output)
  terminal.data(printCells(output, header, cells))
}

interface Cells {
  readonly header: readonly string[]
  readonly cells: readonly (readonly string[])[]
}

/** An age for people, a time for programs. */
function when(time: string | undefined, nowMs: number, output: CellFormat): string {
  if (time === undefined) return ''
  return output === 'table' ? relativeTime(time, nowMs) : time
}

function withDutyState({ duty, ...row }: ComplianceRow, nowMs: number): object {
  return duty ? { ...row, duty: { ...duty, state: dutyState(duty, nowMs) } } : row
}

/** The cells of duties; times, also for people: a deadline is no age. */
function dutyCells({ duty }: ComplianceRow, nowMs: number): string[] {
  if (!duty) return ['', '', '', '']
  return [dutyState(duty, nowMs), duty.binding, duty.deadline, duty.compliedAt ?? '']
}

function rowCells(rows: readonly ComplianceRow[], nowMs: number, output: CellFormat): Cells {
  const hasDuties = rows.some(({ duty }) => duty)
  if (hasDuties) {
    const { header, cells } = rowCells(rows.map(({ duty: _duty, ...row }) => row), nowMs, output) // prettier-ignore
    const message = header.length - 1
    return {
      header: [...header.slice(0, message), 'Duty', 'Binding', 'Deadline', 'Complied', header[message]!],
      cells: cells.map((line, index) => [...line.slice(0, message), ...dutyCells(rows[index]!, nowMs), line[message]!]),
    }
  }
  return {
    header: ['Policy', 'Cluster', 'State', 'Since', 'Last state', 'Last heard', 'Message'],
    cells: rows.map(({ cluster, state, since, last = '', lastHeard, message = '', ...policy }) => [
      policyName(policy),
      cluster,
      state,
      when(since, nowMs, output),
      last,
      when(lastHeard, nowMs, output),
      message.replaceAll(/\s+/g, ' '),
    ]),
  }
}

function countCells(rows: readonly ComplianceRow[], by: ComplianceGroup, nowMs: number, output: CellFormat): Cells {
  return {
    header: [`${by[0]!.toUpperCase()}${by.slice(1)}`, 'Compliant', 'NonCompliant', 'Pending', 'Unknown', 'Offline', 'Not selected', 'Last heard'], // prettier-ignore
    cells: countRows(rows, by).map(({ group, counts, lastHeard }) => [
      group,
      ...COMPLIANCE_STATES.map((state) => String(counts[state])),
      when(lastHeard, nowMs, output),
    ]),
  }
}

function readState(text: string | undefined): ComplianceState | undefined {
  return readWord(text, '--state', COMPLIANCE_STATES)
}

/** A time, or how long ago. */
function timeOf(text: string, nowMs: number, flag: string): number {
  // The end of a day.
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? parseTime(`${text}T23:59:59Z`) : undefined
  return day === undefined ? (parseTime(text) ?? nowMs - readDuration(text, flag)) : Math.min(day, nowMs)
}
