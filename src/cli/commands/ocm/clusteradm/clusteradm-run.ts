// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** What the words of `clusteradm` have in common. */
import { clientOver } from '../../../../client/create-client.ts'
import type { Client } from '../../../../client/client.ts'
import type { Clock } from '../../../../core/time/clock.ts'
import type { Connection } from '../../../api/connect.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import type { Terminal } from '../../../print/terminal.ts'

/** What a word receives. */
export interface ClusteradmInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: Readonly<Record<string, unknown>>
  /** The program in printed commands: `clusteradm`, or `flotilla ocm`. */
  readonly program: string
}

export function clientOf({ connection }: Pick<ClusteradmInput, 'connection'>): Client {
  return clientOver(connection.rest)
}

/** Says which command of Flotilla a word stands for. */
export function standsFor({ terminal }: Pick<ClusteradmInput, 'terminal'>, command: string): void {
  terminal.step('next', `the same with Flotilla: ${command}`)
}

/** The names of a flag like `--clusters a,b`, which can be repeated. At least one is required. */
export function namesOf(flags: ClusteradmInput['flags'], flag: string): readonly string[] {
  const given = flags[flag]
  const names = (Array.isArray(given) ? given.map(String) : [])
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length > 0) return [...new Set(names)]
  throw new CliError(EXIT.usage, { what: `missing --${flag}`, todo: `give names with --${flag} NAME,NAME` })
}

/** The text of a flag; undefined if the flag was not given. */
export function optionalText(flags: ClusteradmInput['flags'], flag: string): string | undefined {
  const given = flags[flag]
  return typeof given === 'string' ? given : undefined
}

/** The text of a flag that is required. */
export function textOf(flags: ClusteradmInput['flags'], flag: string, option: string): string {
  const given = optionalText(flags, flag)
  if (given !== undefined && given !== '') return given
  throw new CliError(EXIT.usage, { what: `missing ${option}` })
}
