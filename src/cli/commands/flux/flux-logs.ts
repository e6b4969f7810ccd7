// Tested by src/cli/commands/flux/flux-words.test.ts.
/** `flotilla flux logs`: what happened to objects of Flux, in the form of `flux logs`. */
import { clientOver } from '../../../client/create-client.ts'
import { readWholeNumber } from '../../../core/read-number.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { Event } from '../../../kinds/builtin/core.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { FLUX_GROUP, seenAt } from './flux-words.ts'
import { namespaceOf } from './flux-objects.ts'
import type { FluxInput } from './flux-objects.ts'

/** The flags besides those of all commands about objects of Flux. */
export interface FluxLogsInput extends Omit<FluxInput, 'flags'> {
  readonly flags: FluxInput['flags'] & {
    readonly kind?: string
    readonly name?: string
    readonly level?: string
    readonly since?: string
    readonly tail?: string
  }
}

/** Prints a line for each event about an object of Flux, the oldest first. */
export async function fluxLogs(input: FluxLogsInput): Promise<void> {
  const { flags, terminal } = input
  const after = flags.since === undefined ? '' : formatTime(systemClock.now() - readDuration(flags.since, '--since'))
  const tail = tailOf(flags.tail)
  const where = flags.allNamespaces ? {} : { namespace: namespaceOf(input) }
  const { items } = await clientOver(input.connection.rest).list(Event, where)
  const lines = items
    .filter(({ involvedObject }) => FLUX_GROUP.test(involvedObject.apiVersion ?? ''))
    .filter(({ involvedObject: { kind = '' } }) => isSame(kind, flags.kind))
    .filter(({ involvedObject: { name } }) => flags.name === undefined || name === flags.name)
    .filter((event) => flags.level === undefined || levelOf(event) === flags.level)
    .filter((event) => seenAt(event) >= after)
    .toSorted((a, b) => (seenAt(a) < seenAt(b) ? -1 : 1))
    .slice(-tail)
    .map((event) => {
      const { kind = '', name = '', namespace = '' } = event.involvedObject
      const message = (event.message ?? '').replaceAll(/\s+/g, ' ').trim()
      return `${seenAt(event)} ${levelOf(event)} ${kind}/${name}.${namespace} - ${message}\n`
    })
  terminal.data(lines.join(''))
}

function isSame(kind: string, wanted: string | undefined): boolean {
  return wanted === undefined || kind.toLowerCase() === wanted.toLowerCase()
}

function levelOf({ type }: Event): 'info' | 'error' {
  return type === 'Warning' ? 'error' : 'info'
}

function tailOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  const lines = readWholeNumber(text)
  if (lines !== undefined && lines > 0) return lines
  throw new CliError(EXIT.usage, {
    what: `invalid --tail ${JSON.stringify(text)}: must be a whole number of at least 1`,
  })
}
