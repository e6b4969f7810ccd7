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

export interface SourceInput {
  readonly connection: Pick<Connection, 'rest' | 'namespace'>
  readonly terminal: Terminal
  readonly flags: { readonly namespace?: string; readonly yes?: boolean }
  readonly confirm: (question: string) => Promise<boolean>
}

export async function sourcePoll(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (source.spec.suspend) {
    throw new CliError(EXIT.conflict, {
      what: `source "${name}" is suspended`,
      todo: `resume it with "flotilla source resume ${name}"`,
    })
  }
  const annotations = { 'flotilla.dev/poll': `cli ${formatTime(systemClock.now())} ${systemClock.monotonicMs()}` }
  await patch(source, { metadata: { annotations } }, input)
  input.terminal.step('ok', `source "${name}" will be fetched now`)
  next(name, input)
}

export async function sourceSuspend(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (source.spec.suspend) return input.terminal.step('ok', `source "${name}" is already suspended`)
  await patch(source, { spec: { suspend: true } }, input)
  const revision = source.status?.artifact?.revision
  input.terminal.step(
    'ok',
    `source "${name}" suspended; ${revision ? `Bundles continue to use ${revision}` : 'it has no artifact yet'}`,
  )
}

export async function sourceResume(name: string, input: SourceInput): Promise<void> {
  const source = await sourceNamed(name, input)
  if (!source.spec.suspend) return input.terminal.step('ok', `source "${name}" is not suspended`)
  await patch(source, { spec: { suspend: false } }, input)
  input.terminal.step('ok', `source "${name}" resumed`)
  next(name, input)
}

/** Accepts a revision that does not descend from the last. */
export async function sourceAccept(name: string, input: SourceInput): Promise<void> {
  const { terminal } = input
  const source = await sourceNamed(name, input)
  const { held, artifact } = source.status ?? {}
  if (!held) throw new CliError(EXIT.conflict, { what: `source "${name}" has no guarded revision to accept` })
  const question = `accept revision ${held.revision} of source "${name}", which does not descend from ${artifact?.revision ?? 'an earlier revision'} and changes its Bundles`
  await requireConfirmation(question, input)
  // The resourceVersion makes sure that exactly the shown revision is accepted.
  const { resourceVersion } = source.metadata
  await patch(source, { metadata: { resourceVersion }, spec: { accept: held.accept } }, input)
  terminal.step('ok', `source "${name}" accepted ${held.revision}`)
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
    const todo = didYouMean(name, names) ?? `list Sources with "flotilla get sources -n ${namespace}"`
    throw new CliError(EXIT.notFound, {
      what: `source ${JSON.stringify(name)} not found in namespace "${namespace}"`,
      todo,
    })
  }
}

async function patch(source: Source, body: object, input: SourceInput): Promise<void> {
  const key = { namespace: namespaceOf(input), name: source.metadata.name }
  await clientOver(input.connection.rest).patch(Source, key, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
