/** What commands are given. In this folder is the tree; each command's code is imported only when it runs: `get` must answer in a blink. */
import type { Command } from 'commander'
import type { CliEnvironment } from '../config.ts'
import type { Connection } from '../api/connect.ts'
import type { ExitCode } from '../errors/cli-error.ts'
import type { Terminal } from '../print/terminal.ts'

/** What the process gives to the commands. */
export interface CliPorts {
  readonly environment: CliEnvironment
  /** Aborted by Ctrl-C and by SIGTERM, with the signal's name as reason. */
  readonly signal: AbortSignal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly terminalFor: (color: 'auto' | 'always' | 'never') => Terminal
  /** The folder of the files that threads are started from, where it is not found from this program's code. */
  readonly threadsFolder?: () => URL
  /** Where bytes go that are no UTF-8, when not to the process's own stdout. */
  readonly writeBytes?: (bytes: Uint8Array) => void
}

/** What one run of a command works with. */
export interface Run extends CliPorts {
  readonly terminal: Terminal
  /** Connects on demand; the run closes it. */
  readonly connect: () => Promise<Connection>
}

/** A command’s code: its arguments in order, its flags with the global ones. */
export type Action = (run: Run, words: readonly string[], flags: Record<string, unknown>) => Promise<ExitCode | void>

/** Turns a command's code into what commander calls. */
export type Act = (action: Action) => (...received: unknown[]) => Promise<void>

/** A command that lets the hub check what it would write. */
export function withDryRun(command: Command): Command {
  return command.option('--dry-run', 'let the hub check it, and store nothing')
}

/** Gathers a repeatable flag. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}
