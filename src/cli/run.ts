/** One command line: finds its command in the tree, runs it and tells what went wrong. */
import { Command, CommanderError, Option } from 'commander'
import type { OutputConfiguration } from 'commander'
import { toError } from '../core/errors.ts'
import type { Connection, ConnectFlags } from './api/connect.ts'
import { explainError } from './errors/explain-error.ts'
import { EXIT, formatErrorReport } from './errors/cli-error.ts'
import type { ExitCode } from './errors/cli-error.ts'
import { findPlugin, runPlugin } from './program/plugin.ts'
import { commanderArgs } from './template/helm-flags.ts'
import { VERSION } from '../core/version.ts'
import type { Terminal } from './print/terminal.ts'
import type { Act, CliPorts } from './program/command-action.ts'
import { isHelp, usageErrorReport } from './errors/usage-error.ts'

/** What a program works with while it runs a command line. */
interface Stage {
  readonly program: Command
  ports: CliPorts
  terminal: Terminal
  exitCode: ExitCode
  scene: { server?: string; kubeconfig?: string }
}

/** Stages of commands that run alone, ready for their next run: the snapshot of the one-file executable has one. */
const free = new Map<string, Stage>()

/** Runs one command line and returns its exit code. */
export async function runCli(args: readonly string[], ports: CliPorts): Promise<number> {
  const [verb = ''] = args
  const stage = free.get(verb) ?? (await makeStage(verb, ports))
  free.delete(verb)
  Object.assign(stage, { ports, terminal: ports.terminalFor('auto'), exitCode: EXIT.ok, scene: {} })
  try {
    return await runOn(stage, args)
  } finally {
    if (ALONE.has(verb)) free.set(verb, stage)
  }
}

async function runOn(stage: Stage, args: readonly string[]): Promise<number> {
  const [verb] = args
  const { program, ports } = stage
  try {
    const plugin = verb !== undefined && !isCommand(program, verb) && findPlugin(verb, ports.environment.path)
    if (plugin) return await runPlugin(plugin, args.slice(1), ports.signal)
    await program.parseAsync(verb === 'template' ? commanderArgs(args) : args, { from: 'user' })
    return stage.exitCode
  } catch (caught) {
    const { terminal } = stage
    if (caught instanceof CommanderError) {
      if (caught.exitCode === 0) return EXIT.ok
      const trouble = usageErrorReport(caught.message, { root: program, args })
      if (!isHelp(caught)) terminal.say(formatErrorReport(trouble).trimEnd())
      // As with helm template, which knows no other failure.
      return verb === 'template' ? EXIT.failed : EXIT.usage
    }
    if (ports.signal.aborted) return EXIT.interrupted
    const { exitCode: code, trouble } = explainError(caught, stage.scene)
    terminal.say(formatErrorReport(trouble).trimEnd())
    if (code === EXIT.failed && toError(caught).name === 'TypeError') terminal.say(String(toError(caught).stack))
    // As with kubectl diff, 1 means differences and nothing else.
    return verb === 'diff' && code === EXIT.failed ? EXIT.usage : code
  }
}

async function makeStage(verb: string, ports: CliPorts): Promise<Stage> {
  const output: OutputConfiguration = {
    writeOut: (text) => stage.terminal.data(text),
    writeErr: (text) => stage.terminal.say(text.trimEnd()),
    // Told by who runs it, in the words of every other error.
    outputError: () => {},
  }
  const act: Act =
    (action) =>
    async (...received: unknown[]) => {
      const { ports, scene } = stage
      const command = received.at(-1) as Command
      const words = command.processedArgs.flat().filter((word): word is string => typeof word === 'string')
      const given = command.optsWithGlobals<Record<string, unknown> & ConnectFlags>()
      const terminal = ports.terminalFor(given['color'] as 'auto' | 'always' | 'never')
      stage.terminal = terminal
      const dryRun = given['dryRun'] === true ? (await import('./api/dry-run.ts')).createDryRun() : undefined
      // Nobody need be asked about what does not happen.
      const flags = dryRun ? { ...given, yes: true } : given
      let connection: Connection | undefined
      const connectOnce = async (): Promise<Connection> => {
        const { connect } = await import('./api/connect.ts')
        connection ??= await connect(flags, ports.environment, terminal)
        scene.server = connection.server
        scene.kubeconfig = connection.kubeconfig
        return dryRun ? { ...connection, rest: dryRun.over(connection.rest) } : connection
      }
      const run = { ...ports, terminal: dryRun?.on(terminal) ?? terminal, connect: connectOnce }
      try {
        stage.exitCode = (await action(run, words, flags)) ?? EXIT.ok
        if (dryRun?.wrote()) terminal.step('warn', 'this was a dry run: the hub checked it and stored nothing')
      } finally {
        await connection?.close()
      }
    }
  const program = await buildProgram(verb, act, output)
  const stage: Stage = { program, ports, terminal: ports.terminalFor('auto'), exitCode: EXIT.ok, scene: {} }
  return stage
}

function isCommand(program: Command, verb: string): boolean {
  return program.commands.some((command) => command.name() === verb || command.aliases().includes(verb))
}

async function buildProgram(verb: string, act: Act, output: OutputConfiguration): Promise<Command> {
  const program = new Command('flotilla')
    .description('Fleet management for Kubernetes: what should run, where, when and under whose rules.')
    .exitOverride()
    // Before the commands are made, which take it over.
    .configureOutput(output)
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand(false)
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto'))
    .option('--kubeconfig <file>', 'how to reach the hub (also FLOTILLA_KUBECONFIG, KUBECONFIG)')
    .option('--context <name>', 'the context to use (default: flotilla)')
  const alone = ALONE.get(verb)
  if (alone) (await alone())(program, act)
  else (await import('./program/add-commands.ts')).addAll(program, act)
  return program
}

/** Commands that scripts run by the hundred and people by the minute: they pay for no other command. */
const ALONE = new Map<string, () => Promise<(program: Command, act: Act) => void>>([
  ['template', async () => (await import('./program/groups/template.ts')).addRendering],
  ['get', async () => (await import('./program/groups/objects.ts')).addObjects],
])
