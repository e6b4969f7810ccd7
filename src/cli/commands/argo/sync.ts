// Tested by src/cli/commands/argo/applications.test.ts
/** `flotilla argo sync` and `argo wait`. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
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
  for (const app of apps) {
    if (app.operation || app.status?.operationState?.phase === 'Running') {
      throw new CliError(EXIT.conflict, {
        what: `Application "${app.metadata.name}" is being synced`,
        why: 'another operation is already in progress',
        todo: `run flotilla argo wait ${app.metadata.name} --operation`,
      })
    }
  }
  const { username } = await whoAmI(connection.rest)
  const asked = apps.map((app) => ({ app, before: app.status?.operationState?.startedAt }))
  for (const { app } of asked) {
    const { name, namespace = '' } = app.metadata
    const sync = flags.revision === undefined ? {} : { revision: flags.revision }
    const body = { operation: { sync, initiatedBy: { username } } }
    await client.patch(APPLICATIONS, { namespace, name }, { type: 'merge', body })
    if (flags.async) terminal.step('ok', `sync of Application "${name}" requested`)
  }
  if (flags.async) return EXIT.ok
  let code: ExitCode = EXIT.ok
  for (const { app, before } of asked) {
    const isOver = ({ operation, status }: Application): boolean =>
      !operation && status?.operationState?.startedAt !== before && status?.operationState?.phase !== 'Running'
    // A sync within the same second has the same time: then the end counts.
    const ended = await waitFor(client, app, input, (one) => isOver(one) || hasNewEnd(one, app))
    terminal.data(`${applicationText(ended)}\n`)
    if (ended.status?.operationState?.phase !== 'Succeeded') code = EXIT.failed
  }
  return code
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
