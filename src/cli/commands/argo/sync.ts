// Tested by src/cli/commands/argo/applications.test.ts
/** `flotilla argo sync` and `argo wait`. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { APPLICATIONS } from './application.ts'
import type { Application } from './application.ts'
import { applicationText, findApplication } from './applications.ts'
import type { ArgoInput } from './applications.ts'

export interface SyncInput extends ArgoInput {
  readonly signal: AbortSignal
  readonly flags: ArgoInput['flags'] & {
    readonly async?: boolean
    readonly revision?: string
    readonly prune?: boolean
    readonly force?: boolean
    readonly strategy?: string
    readonly syncOption?: readonly string[]
    readonly retryLimit?: string
    readonly timeout?: string
    readonly sync?: boolean
    readonly health?: boolean
    readonly operation?: boolean
  }
}

const LOOK_MS = 500

/** Asks for a sync of Applications, and waits for its end. */
export async function argoSync(words: readonly string[], input: SyncInput): Promise<ExitCode> {
  const { connection, terminal, flags } = input
  const client = clientOver(connection.rest)
  const apps = await Promise.all(words.map((word) => findApplication(client, word, flags.namespace)))
  const operation = operationOf(flags)
  for (const app of apps) refuseRunning(app)
  const { username } = await whoAmI(connection.rest)
  for (const app of apps) {
    const { name, namespace = '' } = app.metadata
    const body = { operation: { ...operation, initiatedBy: { username } } }
    await client.patch(APPLICATIONS, { namespace, name }, { type: 'merge', body })
    if (flags.async) terminal.step('ok', `sync of Application "${name}" requested`)
  }
  if (flags.async) return EXIT.ok
  let code: ExitCode = EXIT.ok
  for (const app of apps) {
    const ended = await waitForEnd(app, input)
    if (ended !== EXIT.ok) code = ended
  }
  return code
}

/** The operation that the flags ask for. */
function operationOf(flags: SyncInput['flags']): object {
  const { revision, prune, force, strategy, syncOption, retryLimit } = flags
  if (strategy !== undefined && strategy !== 'apply' && strategy !== 'hook')
    throw new CliError(EXIT.usage, { what: `--strategy is apply or hook, found ${JSON.stringify(strategy)}` })
  const how = force ? { force: true } : {}
  const isPlain = strategy === undefined && !force
  const sync = compact({
    revision,
    prune: prune ? true : undefined,
    syncOptions: syncOption,
    syncStrategy: isPlain ? undefined : strategy === 'apply' ? { apply: how } : { hook: how },
  })
  return { sync, ...(retryLimit === undefined ? {} : { retry: { limit: readRetries(retryLimit) } }) }
}

function readRetries(text: string): number {
  if (/^(-1|\d{1,3})$/.test(text)) return Number.parseInt(text, 10)
  throw new CliError(EXIT.usage, { what: `--retry-limit ${text} is not a number of retries` })
}

/** Refuses a second operation. */
export function refuseRunning({ metadata, operation, status }: Application): void {
  if (!operation && status?.operationState?.phase !== 'Running') return
  throw new CliError(EXIT.conflict, {
    what: `Application "${metadata.name}" is being synced`,
    why: 'another operation is already in progress',
    todo: `run flotilla argo wait ${metadata.name} --operation`,
  })
}

/** Waits for the end of the operation that came after `before`, and prints the Application. */
export async function waitForEnd(before: Application, input: SyncInput): Promise<ExitCode> {
  const client = clientOver(input.connection.rest)
  const started = before.status?.operationState?.startedAt
  const isOver = ({ operation, status }: Application): boolean =>
    !operation && status?.operationState?.startedAt !== started && status?.operationState?.phase !== 'Running'
  // A sync within the same second has the same time: then the end counts.
  const ended = await waitFor(client, before, input, (one) => isOver(one) || hasNewEnd(one, before))
  input.terminal.data(`${applicationText(ended)}\n`)
  return ended.status?.operationState?.phase === 'Succeeded' ? EXIT.ok : EXIT.failed
}

function hasNewEnd(now: Application, before: Application): boolean {
  const end = now.status?.operationState
  return !now.operation && end?.phase !== 'Running' && end?.finishedAt !== before.status?.operationState?.finishedAt
}

/** Waits until Applications are synced and healthy, or their operation has ended. */
export async function argoWait(words: readonly string[], input: SyncInput): Promise<ExitCode> {
  const { connection, terminal, flags } = input
  const client = clientOver(connection.rest)
  const isAll = !flags.sync && !flags.health && !flags.operation
  const isDone = ({ operation, status }: Application): boolean =>
    (!(isAll || flags.sync) || status?.sync?.status === 'Synced') &&
    (!(isAll || flags.health) || status?.health?.status === 'Healthy') &&
    (!(isAll || flags.operation) || (!operation && status?.operationState?.phase !== 'Running'))
  for (const word of words) {
    const app = await findApplication(client, word, flags.namespace)
    terminal.data(`${applicationText(await waitFor(client, app, input, isDone))}\n`)
  }
  return EXIT.ok
}

async function waitFor(
  client: Client,
  app: Application,
  { flags, signal }: SyncInput,
  isDone: (app: Application) => boolean,
): Promise<Application> {
  const { name, namespace = '' } = app.metadata
  const limit = readSeconds(flags.timeout)
  const until = limit === undefined ? Infinity : systemClock.monotonicMs() + limit * 1000
  for (;;) {
    const now = await client.get(APPLICATIONS, { namespace, name }, signal)
    if (isDone(now)) return now
    if (systemClock.monotonicMs() >= until) {
      const { sync, health, operationState } = now.status ?? {}
      throw new CliError(EXIT.timeout, {
        what: `Application "${name}" did not get there within ${limit} s`,
        why: `sync status ${sync?.status ?? 'Unknown'}, health ${health?.status ?? 'Unknown'}, operation ${operationState?.phase ?? 'none'}`,
        todo: `run flotilla argo get ${namespace}/${name}`,
      })
    }
    await systemClock.sleep(LOOK_MS, signal)
  }
}

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text === '0') return undefined
  if (/^[1-9]\d{0,6}$/.test(text)) return Number.parseInt(text, 10)
  throw new CliError(EXIT.usage, { what: `--timeout ${text} is not a number of seconds` })
}
