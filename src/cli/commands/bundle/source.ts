/** `flotilla source poll`, `suspend`, `resume` and `accept`. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { Source } from '../../../kinds/native/source.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What these commands work with. */
export interface SourceInput {
  readonly connection: Pick<Connection, 'rest' | 'namespace'>
  readonly terminal: Terminal
  readonly flags: { readonly namespace?: string; readonly yes?: boolean }
  readonly confirm: (question: string) => Promise<boolean>
}

/** Asks for news at once. */
export async function sourcePoll(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (source.spec.suspend) {
    throw new CliError(EXIT.conflict, {
      what: `source ${name} is suspended, so nobody is asked`,
      todo: `flotilla source resume ${name}`,
    })
  }
  const annotations = { 'flotilla.dev/poll': `cli ${formatTime(systemClock.now())} ${systemClock.monotonicMs()}` }
  await patch(source, { metadata: { annotations } }, input)
  input.terminal.step('ok', `source ${name} is asked for news now`)
  next(name, input)
}

/** Stops asking; the last artifact goes on serving. */
export async function sourceSuspend(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (source.spec.suspend) return input.terminal.step('ok', `source ${name} was suspended already`)
  await patch(source, { spec: { suspend: true } }, input)
  const revision = source.status?.artifact?.revision
  input.terminal.step(
    'ok',
    `source ${name} suspended; bundles ${revision ? `go on with ${revision}` : 'have nothing yet'}`,
  )
}

/** Asks again. */
export async function sourceResume(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (!source.spec.suspend) return input.terminal.step('ok', `source ${name} is not suspended`)
  await patch(source, { spec: { suspend: false } }, input)
  input.terminal.step('ok', `source ${name} resumed`)
  next(name, input)
}

/** Takes a revision that is held because it does not follow the last one. */
export async function sourceAccept(name: string, input: SourceInput): Promise<void> {
  const { terminal } = input
  const source = await sourceNamed(name, input)
  const { held, artifact } = source.status ?? {}
  if (!held) throw new CliError(EXIT.conflict, { what: `source ${name} holds nothing back` })
  const question = `source ${name} goes from ${artifact?.revision ?? 'nothing'} to ${held.revision}, which does not follow it; bundles of it change`
  await requireConfirmation(question, input)
  // The resourceVersion: what was shown is what is released.
  const { resourceVersion } = source.metadata
  await patch(source, { metadata: { resourceVersion }, spec: { accept: held.accept } }, input)
  terminal.step('ok', `source ${name} takes ${held.revision}`)
  next(name, input)
}

function next(name: string, { terminal }: SourceInput): void {
  terminal.step('next', `flotilla get source ${name} -w`)
}

function namespaceOf({ connection, flags }: SourceInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}

async function sourceNamed(name: string, input: SourceInput): Promise<Source> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  try {
    return await client.get(Source, { namespace, name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { items } = await client.list(Source, { namespace, limit: 500 })
    const names = items.map(({ metadata }) => metadata.name)
    const todo = didYouMean(name, names) ?? `flotilla get sources -n ${namespace}`
    throw new CliError(EXIT.notFound, { what: `there is no source ${JSON.stringify(name)} in ${namespace}`, todo })
  }
}

async function patch(source: Source, body: object, input: SourceInput): Promise<void> {
  const key = { namespace: namespaceOf(input), name: source.metadata.name }
  await clientOver(input.connection.rest).patch(Source, key, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
