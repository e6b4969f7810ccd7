// Tested by src/cli/commands/handover/handover.test.ts
/** `flotilla handover <system> status`: which cluster is in which step. */
import { clientOver } from '../../../client/create-client.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Connection } from '../../api/connect.ts'
import { CLUSTERS, listAll, REPORTS } from '../../api/flotilla-resources.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import { relativeTime } from '../../print/print-time.ts'
import type { Terminal } from '../../print/terminal.ts'
import { stateOf } from './handover-state.ts'
import type { HandoverState } from './handover-state.ts'

/** What the list needs. */
export interface HandoverStatusInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly clock: Pick<Clock, 'now'>
  readonly flags: { readonly selector?: string; readonly output?: string }
}

/** Prints one line for each cluster with a handover from the system. */
export async function handoverStatus(
  from: string,
  { connection, terminal, clock, flags }: HandoverStatusInput,
): Promise<void> {
  const client = clientOver(connection.rest)
  const select = flags.selector === undefined ? {} : { labelSelector: flags.selector }
  const [clusters, reports] = await Promise.all([listAll(client, CLUSTERS, select), listAll(client, REPORTS)])
  const reportOf = new Map(reports.map((report) => [report.metadata.name, report]))
  const states = clusters.flatMap(({ metadata: { name }, spec: { handover } }) =>
    handover?.from === from ? [stateOf(name, handover, reportOf.get(name))] : [],
  )
  if (flags.output === 'json') return terminal.data(`${JSON.stringify({ from, clusters: states }, undefined, 2)}\n`)
  if (states.length > 0) terminal.data(table(states, clock.now()))
  const without = clusters.length - states.length
  terminal.step('ok', `${plural(states.length, 'cluster')} with a handover from ${from}, ${without} without`)
}

function table(states: readonly HandoverState[], now: number): string {
  const count = (value: number | undefined) => (value === undefined ? '-' : String(value))
  const rows = states.map(({ cluster, step, state, differing, left, since, by, message }) => [
    cluster,
    step,
    state,
    count(differing),
    count(left),
    relativeTime(since, now),
    by ?? '-',
    message ?? '',
  ])
  return alignColumns([['CLUSTER', 'STEP', 'STATE', 'DIFFERING', 'IN NO BUNDLE', 'SINCE', 'BY', 'MESSAGE'], ...rows])
}
