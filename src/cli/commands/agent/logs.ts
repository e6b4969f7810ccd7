/** `flotilla logs`: the newest lines of an agent's own log, asked for through its next check-in. */
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

/** What `logs` works with. */
export interface LogsInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: { readonly tail?: string; readonly timeout?: string }
}

type Log = NonNullable<ClusterReport['spec']['log']>

const LOOK_MS = 1_000
const LEAST_WAIT_MS = 60_000
const AT_THE_SITE = 'look there: kubectl logs -n flotilla-agent deployment/flotilla-agent'

/** Asks the agent of a cluster for its log, waits for the answer, and prints it. */
export async function logs(name: string, input: LogsInput): Promise<void> {
  const { connection, terminal, clock, flags } = input
  const tail = tailOf(flags.tail)
  const client = clientOver(connection.rest)
  const cluster = await clusterNamed(name, client, input)
  const checkInMs = cluster.spec.checkInSeconds * 1000
  const waitMs =
    flags.timeout === undefined ? Math.max(LEAST_WAIT_MS, 3 * checkInMs) : readDuration(flags.timeout, '--timeout')
  refuseDeaf(cluster, await logOf(name, client))
  const asked = formatTime(clock.now())
  const body = { spec: { logsAskedAt: asked } }
  await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
  terminal.step('wait', `asked ${name}; its agent hears of it at its next check-in, within ${checkInMs / 1000} s`)
  const until = clock.monotonicMs() + waitMs
  for (;;) {
    const log = await logOf(name, client)
    // Somebody who asked at the same time gets the same answer.
    if (log && log.asked >= asked) return print(log, tail, terminal)
    if (clock.monotonicMs() > until) break
    await clock.sleep(LOOK_MS, input.signal)
  }
  throw new CliError(EXIT.timeout, {
    what: `the agent of ${name} sent no log within ${Math.round(waitMs / 1000)} s`,
    why: 'it did not check in meanwhile, or is of a version that cannot',
    todo: `see how it does: flotilla check ${name}; or ${AT_THE_SITE}`,
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

/** A cluster that is not heard cannot be asked: nobody has a way in. */
function refuseDeaf({ metadata, status }: Cluster, known: Log | undefined): void {
  const available = findCondition(status?.conditions, 'Available')
  if (available?.status === 'True') return
  throw new CliError(EXIT.conflict, {
    what: `cluster ${metadata.name} cannot be asked for its log`,
    why: available?.message ?? 'its agent has not been heard',
    todo: `${known ? `what it last sent: flotilla get clusterreport ${metadata.name} -o yaml; or ` : ''}${AT_THE_SITE}`,
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
  if (lines.length === 0) return terminal.step('ok', 'its log is empty')
  for (const line of lines.slice(-tail)) terminal.data(`${line}\n`)
}

function tailOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new CliError(EXIT.usage, { what: `--tail ${text}`, why: 'want a whole number from 1' })
}
