// Tested by src/cli/errors/usage-error.test.ts.
/** Runs one command line: finds its command, runs the command and prints its error. */
import { CommanderError } from 'commander'
import type { Command, OutputConfiguration } from 'commander'
import { toError } from '../core/errors.ts'
import type { Connection, ConnectFlags } from './api/connect.ts'
import { explainError } from './errors/explain-error.ts'
import { EXIT, formatErrorReport } from './errors/cli-error.ts'
import type { ExitCode } from './errors/cli-error.ts'
import { createProgram } from './program/flotilla-command.ts'
import type { FlotillaCommand } from './program/flotilla-command.ts'
import { findPlugin, runPlugin } from './program/plugin.ts'
import { commanderArgs } from './template/helm-flags.ts'
import type { Terminal } from './print/terminal.ts'
import type { Act, CliPorts } from './program/command-action.ts'
import { cobraError, isHelp, usageErrorReport } from './errors/usage-error.ts'

/** A program with the state of its current run. */
interface PreparedProgram {
  readonly program: FlotillaCommand
  ports: CliPorts
  terminal: Terminal
  exitCode: ExitCode
  /** The hub that the command connected to, for error messages. */
  hub: { server?: string; kubeconfig?: string }
}

/** Programs with a single command, ready for the next run. The snapshot of the one-file executable has one of them. */
const prepared = new Map<string, PreparedProgram>()

/** Runs one command line and returns its exit code. */
export async function runCli(args: readonly string[], ports: CliPorts): Promise<number> {
  const [verb = ''] = args
  const ready = prepared.get(verb) ?? (await prepare(verb, ports))
  prepared.delete(verb)
  Object.assign(ready, { ports, terminal: ports.terminalFor('auto'), exitCode: EXIT.ok, hub: {} })
  try {
    return await runPrepared(ready, args)
  } finally {
    if (SINGLE.has(verb)) prepared.set(verb, ready)
  }
}

async function runPrepared(ready: PreparedProgram, args: readonly string[]): Promise<number> {
  const [verb] = args
  const { program, ports } = ready
  try {
    const plugin = verb !== undefined && !isCommand(program, verb) && findPlugin(verb, ports.environment.path)
    if (plugin) return await runPlugin(plugin, args.slice(1), ports.signal)
    await program.parseAsync(verb === 'template' ? commanderArgs(args) : args, { from: 'user' })
    return ready.exitCode
  } catch (caught) {
    const { terminal } = ready
    if (caught instanceof CommanderError) {
      if (caught.exitCode === 0) return EXIT.ok
      if (!isHelp(caught)) {
        const report = formatErrorReport(usageErrorReport(caught, { program, args })).trimEnd()
        // `policy` prints what the commands of Open Cluster Management print.
        terminal.say(verb === 'policy' ? cobraError(caught, report) : report)
      }
      // `helm template` and the commands of Open Cluster Management exit with 1 for usage errors too.
      return verb === 'template' || verb === 'policy' ? EXIT.failed : EXIT.usage
    }
    if (ports.signal.aborted) return EXIT.interrupted
    const { exitCode: code, report } = explainError(caught, ready.hub)
    terminal.say(formatErrorReport(report).trimEnd())
    if (code === EXIT.failed && toError(caught).name === 'TypeError') terminal.say(String(toError(caught).stack))
    // As in `kubectl diff`, exit code 1 of `diff` means that there are differences.
    return verb === 'diff' && code === EXIT.failed ? EXIT.usage : code
  }
}

async function prepare(verb: string, ports: CliPorts): Promise<PreparedProgram> {
  const output: OutputConfiguration = {
    writeOut: (text) => ready.terminal.data(text),
    writeErr: (text) => ready.terminal.say(text.trimEnd()),
    // The caller of `parseAsync` prints the error, in the format of all errors.
    outputError: () => {},
  }
  const act: Act =
    (action) =>
    async (...received: unknown[]) => {
      const { ports, hub } = ready
      const command = received.at(-1) as Command
      const words = command.processedArgs.flat().filter((word): word is string => typeof word === 'string')
      const given = command.optsWithGlobals<Record<string, unknown> & ConnectFlags>()
      const terminal = ports.terminalFor(given['color'] as 'auto' | 'always' | 'never')
      ready.terminal = terminal
      const dryRun = given['dryRun'] === true ? (await import('./api/dry-run.ts')).createDryRun() : undefined
      // A dry run changes nothing, so it needs no confirmation.
      const flags = dryRun ? { ...given, yes: true } : given
      let connection: Connection | undefined
      const connectOnce = async (instead: ConnectFlags = flags): Promise<Connection> => {
        const { connect } = await import('./api/connect.ts')
        connection ??= await connect(instead, ports.environment, terminal)
        hub.server = connection.server
        hub.kubeconfig = connection.kubeconfig
        return dryRun ? { ...connection, rest: dryRun.over(connection.rest) } : connection
      }
      const run = { ...ports, terminal: dryRun?.on(terminal) ?? terminal, connect: connectOnce }
      try {
        ready.exitCode = (await action(run, words, flags)) ?? EXIT.ok
        if (dryRun?.wrote()) terminal.step('warn', 'dry run: the hub validated the change and stored nothing')
      } finally {
        await connection?.close()
      }
    }
  const program = await buildProgram(verb, act, output)
  const ready: PreparedProgram = { program, ports, terminal: ports.terminalFor('auto'), exitCode: EXIT.ok, hub: {} }
  return ready
}

function isCommand(program: Command, verb: string): boolean {
  return program.commands.some((command) => command.name() === verb || command.aliases().includes(verb))
}

async function buildProgram(verb: string, act: Act, output: OutputConfiguration): Promise<FlotillaCommand> {
  // Commands copy the output configuration of their parent when they are added.
  const program = createProgram({ hasVersion: verb === '' || verb.startsWith('-') }).configureOutput(output)
  const single = SINGLE.get(verb)
  if (single) (await single())(program, act)
  else (await import('./program/add-commands.ts')).addAll(program, act)
  return program
}

/** Commands that scripts run often. They start without the declarations of the other commands. */
const SINGLE = new Map<string, () => Promise<(program: FlotillaCommand, act: Act) => void>>([
  ['template', async () => (await import('./program/commands/chart.ts')).addTemplate],
  ['get', async () => (await import('./program/commands/object.ts')).addGet],
])
