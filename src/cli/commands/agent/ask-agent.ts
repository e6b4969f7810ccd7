// Tested by src/cli/commands/agent/logs.test.ts and src/cli/commands/drift/values.test.ts
/** Questions to the agent of a cluster: the Cluster names the question, and the next report has the answer. */
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

export interface AskInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: { readonly timeout?: string }
}

/** A question to an agent, in words for its messages. */
export interface AgentQuestion<T> {
  /** What the agent sends, for example `log`. */
  readonly noun: string
  /** Part of the Cluster's spec that asks. */
  readonly spec: (asked: string) => object
  /** The answer to a question of this time, if the report has it. */
  readonly answer: (report: ClusterReport['spec'], asked: string) => T | undefined
  /** What to do when the cluster is offline, and when the agent does not answer, by its last report. */
  readonly elsewhere: (last: ClusterReport['spec'] | undefined) => { readonly offline: string; readonly silent: string }
}

const POLL_MS = 1_000
const MIN_WAIT_MS = 60_000

/** Asks the agent of a cluster, and waits for the report with the answer. */
export async function askAgent<T>(name: string, input: AskInput, question: AgentQuestion<T>): Promise<T> {
  const { connection, terminal, clock, flags } = input
  const { noun } = question
  const client = clientOver(connection.rest)
  const cluster = await clusterNamed(name, client, input)
  const checkInMs = cluster.spec.checkInSeconds * 1000
  const waitMs =
    flags.timeout === undefined ? Math.max(MIN_WAIT_MS, 3 * checkInMs) : readDuration(flags.timeout, '--timeout')
  const { offline, silent } = question.elsewhere(await reportOf(name, client))
  refuseOffline(cluster, { noun, offline })
  const asked = formatTime(clock.now())
  const body = { spec: question.spec(asked) }
  await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
  terminal.step(
    'wait',
    `requested the ${noun} of cluster "${name}"; the agent answers at its next check-in, within ${checkInMs / 1000} s`,
  )
  const until = clock.monotonicMs() + waitMs
  for (;;) {
    const report = await reportOf(name, client)
    const answer = report && question.answer(report, asked)
    if (answer !== undefined) return answer
    if (clock.monotonicMs() > until) break
    await clock.sleep(POLL_MS, input.signal)
  }
  throw new CliError(EXIT.timeout, {
    what: `cluster "${name}": the agent sent no ${noun} within ${Math.round(waitMs / 1000)} s`,
    why: `the agent did not check in, its version cannot send the ${noun}, or the clock of this machine is more than a minute ahead of the hub's`,
    todo: silent,
  })
}

/** Report of a cluster; undefined before its first report. */
async function reportOf(name: string, client: Client): Promise<ClusterReport['spec'] | undefined> {
  try {
    return (await client.get(REPORTS, { name })).spec
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

async function clusterNamed(name: string, client: Client, { connection }: AskInput): Promise<Cluster> {
  try {
    return await client.get(CLUSTERS, { name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw await noSuchObject({ resource: await findResource(connection.rest, 'clusters'), name }, connection.rest)
  }
}

/** Refuses an offline cluster: the hub has no connection to a cluster except the agent's own check-ins. */
function refuseOffline(
  { metadata: { name }, status }: Cluster,
  { noun, offline }: { readonly noun: string; readonly offline: string },
): void {
  const available = findCondition(status?.conditions, 'Available')
  if (available?.status === 'True') return
  throw new CliError(EXIT.conflict, {
    what: `cluster "${name}" cannot send its ${noun}`,
    why: available?.message ?? 'the agent has not contacted the hub',
    todo: offline,
  })
}
