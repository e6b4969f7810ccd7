/** `flotilla logs`: the newest log lines of an agent, requested at its next check-in. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { isApiError } from '../../../core/errors.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { noSuchObject } from '../../errors/object-not-found.ts'
import { CLUSTERS, REPORTS } from '../../api/flotilla-resources.ts'
import { findResource } from '../../api/find-resource.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface LogsInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: { readonly tail?: string; readonly timeout?: string }
}

type Log = NonNullable<ClusterReport['spec']['log']>

const POLL_MS = 1_000
const MIN_WAIT_MS = 60_000
const IN_THE_CLUSTER = 'read the log in the cluster with "kubectl logs -n flotilla-agent deployment/flotilla-agent"'

/** Requests the log of an agent, waits for the report and prints the lines. */
export async function logs(name: string, input: LogsInput): Promise<void> {
  const { connection, terminal, clock, flags } = input
  const tail = tailOf(flags.tail)
  const client = clientOver(connection.rest)
  const cluster = await clusterNamed(name, client, input)
  const checkInMs = cluster.spec.checkInSeconds * 1000
  const waitMs =
    flags.timeout === undefined ? Math.max(MIN_WAIT_MS, 3 * checkInMs) : readDuration(flags.timeout, '--timeout')
  refuseOffline(cluster, await logOf(name, client))
  const asked = formatTime(clock.now())
  const body = { spec: { logsAskedAt: asked } }
  await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
  terminal.step(
    'wait',
    `requested the log of cluster "${name}"; the agent answers at its next check-in, within ${checkInMs / 1000} s`,
  )
  const until = clock.monotonicMs() + waitMs
  for (;;) {
    const log = await logOf(name, client)
    // Concurrent requests share one answer.
    if (log && log.asked >= asked) return print(log, tail, terminal)
    if (clock.monotonicMs() > until) break
    await clock.sleep(POLL_MS, input.signal)
  }
  throw new CliError(EXIT.timeout, {
    what: `cluster "${name}": the agent sent no log within ${Math.round(waitMs / 1000)} s`,
    why: 'the agent did not check in, or its version cannot send logs',
    todo: `check the cluster with "flotilla check ${name}", or ${IN_THE_CLUSTER}`,
  })
}

async function clusterNamed(name: string, client: Client, { connection }: LogsInput): Promise<Cluster> {
  try {
    return await client.get(CLUSTERS, { name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw await noSuchObject({ resource: await findResource(connection.rest, 'clusters'), name }, connection.rest)
  }
}

/** Refuses an offline cluster: the hub has no connection to a cluster except the agent's own check-ins. */
function refuseOffline({ metadata, status }: Cluster, known: Log | undefined): void {
  const available = findCondition(status?.conditions, 'Available')
  if (available?.status === 'True') return
  throw new CliError(EXIT.conflict, {
    what: `cluster "${metadata.name}" cannot send its log`,
    why: available?.message ?? 'the agent has not contacted the hub',
    todo: `${known ? `print the last log with "flotilla get clusterreport ${metadata.name} -o yaml", or ` : ''}${IN_THE_CLUSTER}`,
  })
}

async function logOf(name: string, client: Client): Promise<Log | undefined> {
  try {
    return (await client.get(REPORTS, { name })).spec.log
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

function print({ lines }: Log, tail: number, terminal: LogsInput['terminal']): void {
  if (lines.length === 0) return terminal.step('ok', 'the log is empty')
  for (const line of lines.slice(-tail)) terminal.data(`${line}\n`)
}

function tailOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new CliError(EXIT.usage, {
    what: `invalid --tail ${JSON.stringify(text)}: must be a whole number of at least 1`,
  })
}
