/**
 * What a command receives when it runs. The folder `commands/` declares the commands; their code is imported when they
 * run, so that `flotilla get` starts without the code of the other commands.
 */
import { Option } from 'commander'
import type { CliEnvironment } from '../config.ts'
import type { Connection, ConnectFlags } from '../api/connect.ts'
import type { ExitCode } from '../errors/cli-error.ts'
import type { FullScreen } from '../print/full-screen.ts'
import type { Terminal } from '../print/terminal.ts'
import type { FlotillaCommand } from './flotilla-command.ts'

/** What the process offers to its commands: environment, signal and streams. */
export interface CliPorts {
  readonly environment: CliEnvironment
  /** Aborted by Ctrl-C and by SIGTERM, with the signal's name as reason. */
  readonly signal: AbortSignal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly terminalFor: (color: 'auto' | 'always' | 'never') => Terminal
  /** Takes the terminal as a whole. Resolves to undefined if there is none. */
  readonly openScreen?: () => Promise<FullScreen | undefined>
  /** Folder of the thread entry files. Defaults to the folder of this program's code. */
  readonly threadsFolder?: () => URL
  /** Receives bytes that are not UTF-8. Defaults to the stdout of the process. */
  readonly writeBytes?: (bytes: Uint8Array) => void
}

/** What one run of a command receives. */
export interface Run extends CliPorts {
  readonly terminal: Terminal
  /**
   * Connects to the hub at the first call, by the flags of the command or `instead`. The connection is closed when the
   * command ends.
   */
  readonly connect: (instead?: ConnectFlags) => Promise<Connection>
}

/** The code of a command: `words` are its arguments in order, `flags` include the global flags. */
export type Action = (run: Run, words: readonly string[], flags: Record<string, unknown>) => Promise<ExitCode | void>

/** Wraps an action as a commander action handler. */
export type Act = (action: Action) => (...received: unknown[]) => Promise<void>

/** Adds `--dry-run`: the hub checks the write and stores nothing. */
export function withDryRun(command: FlotillaCommand): FlotillaCommand {
  return command.option('--dry-run', 'Let the hub validate the change without storing it')
}

/** Adds `-n`: the namespace of the named object. */
export function withNamespace(command: FlotillaCommand): FlotillaCommand {
  return command.option('-n, --namespace <namespace>', 'Namespace. Defaults to the namespace of the kubeconfig context')
}

/** Adds `-y`: for commands that ask before they change something. */
export function withYes(command: FlotillaCommand): FlotillaCommand {
  return command.option('-y, --yes', 'Do not ask for confirmation')
}

/** `-o` with its formats; the first is the default. */
export function outputOption(...formats: readonly [string, ...string[]]): Option {
  return new Option('-o, --output <format>', 'Output format').choices(formats).default(formats[0])
}

/** Gathers the values of a repeatable flag. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}
