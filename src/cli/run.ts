/** The command tree. Each command's code is imported only when it runs: `get` must answer in a blink. */
import { Command, CommanderError, Option } from 'commander'
import { toError } from '../core/errors.ts'
import type { CliEnvironment } from './config.ts'
import type { Connection, ConnectFlags } from './connect.ts'
import { explainError } from './explain-error.ts'
import { CliError, EXIT, EXIT_MEANINGS, formatTrouble } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { didYouMean } from './suggest.ts'
import type { Terminal } from './terminal.ts'
import { VERSION } from '../core/version.ts'

/** What the process gives to the commands. */
export interface CliPorts {
  readonly environment: CliEnvironment
  /** Aborted by Ctrl-C and by SIGTERM, with the signal's name as reason. */
  readonly signal: AbortSignal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly terminalFor: (color: 'auto' | 'always' | 'never') => Terminal
}

interface Run extends CliPorts {
  readonly terminal: Terminal
  /** Connects on demand; the run closes it. */
  readonly connect: () => Promise<Connection>
}

type Action = (run: Run, words: readonly string[], flags: Record<string, unknown>) => Promise<ExitCode | void>

/** Runs one command line and returns its exit code. */
export async function runCli(args: readonly string[], ports: CliPorts): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  const scene: { server?: string; kubeconfig?: string } = {}
  let terminal = ports.terminalFor('auto')
  const program = buildProgram((action) => async (...received: unknown[]) => {
    const command = received.at(-1) as Command
    const words = command.processedArgs.flat().filter((word): word is string => typeof word === 'string')
    const flags = command.optsWithGlobals<Record<string, unknown> & ConnectFlags>()
    terminal = ports.terminalFor(flags['color'] as 'auto' | 'always' | 'never')
    let connection: Connection | undefined
    const connectOnce = async (): Promise<Connection> => {
      const { connect } = await import('./connect.ts')
      connection ??= await connect(flags, ports.environment, terminal)
      scene.server = connection.server
      scene.kubeconfig = connection.kubeconfig
      return connection
    }
    try {
      exitCode = (await action({ ...ports, terminal, connect: connectOnce }, words, flags)) ?? EXIT.ok
    } finally {
      await connection?.close()
    }
  })
  program.configureOutput({ writeOut: (text) => terminal.data(text), writeErr: (text) => terminal.say(text.trimEnd()) })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (caught) {
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (ports.signal.aborted) return EXIT.interrupted
    const { exitCode: code, trouble } = explainError(caught, scene)
    terminal.say(formatTrouble(trouble).trimEnd())
    if (code === EXIT.failed && toError(caught).name === 'TypeError') terminal.say(String(toError(caught).stack))
    return code
  }
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}

function buildProgram(act: (action: Action) => (...received: unknown[]) => Promise<void>): Command {
  const program = new Command('flotilla')
    .description('Fleet management for Kubernetes: what should run, where, when and under whose rules.')
    .exitOverride()
    .showHelpAfterError('(see flotilla --help)')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand(false)
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto'))
    .option('--kubeconfig <file>', 'how to reach the hub (also FLOTILLA_KUBECONFIG, KUBECONFIG)')
    .option('--context <name>', 'the context to use (default: flotilla)')
  addStart(program, act)
  addClusters(program, act)
  addObjects(program, act)
  addRendering(program, act)
  addKustomize(program, act)
  addCare(program, act)
  addAbout(program, act)
  return program
}

type Act = Parameters<typeof buildProgram>[0]

function addStart(program: Command, act: Act): void {
  program
    .command('demo')
    .description('a hub, three simulated clusters and their agents on this machine')
    .option('--check', 'prove that it works and exit')
    .option('--data <dir>', 'keep the hub’s data here (default: a temporary directory)')
    .option('--clusters <n>', 'how many clusters', '3')
    .option('--timeout <seconds>', 'how long --check may take', '120')
    .option('--verbose', 'show the hub’s and the agents’ log')
    .action(
      act(async (run, _words, flags) => {
        const { demo } = await import('./commands/demo.ts')
        return await demo(run, flags)
      }),
    )
  const hub = program.command('hub').description('run a hub')
  hub
    .command('run')
    .description('a hub, embedded in a directory or with its home on a Kubernetes API')
    .option('--data <dir>', 'the directory of keys, database and blobs (made if missing)')
    .option('--listen <host:port>', 'the API (default 127.0.0.1:7443; port 0 picks a free one)')
    .option('--gateway-listen <host:port>', 'the door for agents (default 0.0.0.0:7444)')
    .option(
      '--gateway-url <url>',
      'the address agents reach the gateway at (default: https://HOST:PORT of the listener)',
    )
    .option('--console-listen <host:port>', 'the live page (default 127.0.0.1:7480)')
    .option('--metrics-listen <host:port>', 'also serve /metrics here, plain http (default: at the live page only)')
    .option('--config <file>', 'a YAML file with these settings; environment and flags win over it')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--print-config', 'print the settings and where each comes from, and exit')
    .addHelpText('after', '\n--kubeconfig FILE puts the home on the cluster of FILE instead of DIR.')
    .action(
      act(async (run, _words, flags) => {
        const { hubRun } = await import('./commands/hub-run.ts')
        return await hubRun(run, flags)
      }),
    )
  const agent = program.command('agent').description('run an agent')
  agent
    .command('run')
    .description('an agent beside the cluster of --kubeconfig FILE')
    .option('--join <code>', 'the code that `flotilla cluster add` printed; needed at the first start')
    .option('--name <cluster>', 'the name to join under, for codes made for several clusters')
    .requiredOption('--data <dir>', 'the directory of the agent’s keys and its last state')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .action(
      act(async (run, _words, flags) => {
        const { agentRun } = await import('./commands/agent-run.ts')
        return await agentRun(run, flags)
      }),
    )
}

function addClusters(program: Command, act: Act): void {
  const cluster = program.command('cluster').description('add, accept, reject and revoke clusters')
  cluster
    .command('add')
    .argument('[name]', 'the cluster’s name; or give --pattern')
    .description('make a join token and print the line to paste at the cluster')
    .option('--pattern <glob>', 'for every name like this instead of one name')
    .option('--uses <n>', 'how many clusters may join with it, for patterns', '1')
    .option('-l, --label <key=value>', 'a label the hub stamps on it (repeatable)', collect)
    .addOption(
      new Option('--accept <how>', 'accepted at the first join, by a person, or by where it comes from').choices([
        'auto',
        'manual',
        'networks',
      ]),
    )
    .option('--accept-from <cidr>', 'with --accept=networks: joins from here need no person (repeatable)', collect)
    .option('--network <cidr>', 'the token works from here only (repeatable)', collect)
    .option('--expires <duration>', 'how long the token is valid', '24h')
    .addOption(
      new Option('--profile <rights>', 'what the agent of the manifest may do in its cluster').choices([
        'full',
        'namespaced',
        'read-only',
      ]),
    )
    .option('--agent-namespace <namespace>', 'with --profile=namespaced: where it may work (repeatable)', collect)
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json', 'manifest']).default('text'))
    .action(
      act(async (run, words, flags) => {
        const { clusterAdd } = await import('./commands/cluster.ts')
        await clusterAdd(words[0], { ...run, connection: await run.connect() }, flags)
      }),
    )
  const verbs = {
    accept: ['clusterAccept', 'accept a pending cluster, or one that was turned away'],
    reject: ['clusterReject', 'turn a pending cluster away'],
    revoke: ['clusterRevoke', 'take an accepted cluster’s access away; what runs there stays'],
  } as const
  for (const [verb, [command, description]] of Object.entries(verbs)) {
    const added = cluster.command(verb).argument('<name>').description(description).option('-y, --yes', 'do not ask')
    if (verb !== 'accept') added.option('--reason <text>', 'why, for people; the agent is not told')
    added.action(
      act(async (run, words, flags) => {
        const [admission, { askYesNo }, connection] = await Promise.all([
          import('./commands/cluster-admission.ts'),
          import('./confirm.ts'),
          run.connect(),
        ])
        await admission[command](words[0]!, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
  }
}

function addObjects(program: Command, act: Act): void {
  program
    .command('get')
    .argument('<kind>', 'clusters, bundles, rollouts … or KIND/NAME')
    .argument('[names...]')
    .description('show objects')
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-o, --output <format>', 'table, wide, yaml, json, name or jsonpath=TEMPLATE', 'table')
    .option('-l, --selector <selector>', 'only objects with these labels')
    .option('--field-selector <selector>', 'only objects with these fields')
    .option('-w, --watch', 'go on with every change')
    .option('--no-headers', 'no header line')
    .option('--show-labels', 'a column with the labels')
    .option('--show-managed-fields', 'keep managedFields in yaml and json')
    .action(
      act(async (run, words, flags) => {
        const [{ get }, connection] = await Promise.all([import('./commands/get.ts'), run.connect()])
        await get(words, { ...run, connection, flags: flags as never })
      }),
    )
  program
    .command('apply')
    .description('server-side apply of files')
    .requiredOption('-f, --filename <file>', 'a YAML or JSON file, or - for stdin (repeatable)', collect)
    .option('-n, --namespace <namespace>', 'for objects that name none')
    .option('--force-conflicts', 'take over fields that others manage')
    .option('--dry-run <where>', 'server: check it there and store nothing')
    .option('--field-manager <name>', 'the name under which fields are managed', 'flotilla-cli')
    .action(
      act(async (run, _words, flags) => {
        const [{ apply }, connection] = await Promise.all([import('./commands/apply.ts'), run.connect()])
        await apply({ ...run, connection, flags: flags as never })
      }),
    )
  program
    .command('delete')
    .argument('[words...]', 'KIND NAME… or KIND/NAME…')
    .description('delete objects')
    .option('-f, --filename <file>', 'the objects of this file (repeatable)', collect)
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('-y, --yes', 'do not ask')
    .option('--ignore-not-found', 'what is gone already is fine')
    .action(
      act(async (run, words, flags) => {
        const [{ deleteObjects }, { askYesNo }, connection] = await Promise.all([
          import('./commands/delete.ts'),
          import('./confirm.ts'),
          run.connect(),
        ])
        await deleteObjects(words, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
}

function addRendering(program: Command, act: Act): void {
  program
    .command('template')
    .argument('<words...>', '[NAME] CHART')
    .description('render a Helm chart as `helm template` does, without helm and without a hub')
    .option('-f, --values <file>', 'a values file, or - for stdin (repeatable)', collect)
    .option('--set <key=value>', 'values (repeatable, or separated by commas)', collect)
    .option('--set-string <key=value>', 'values that stay strings', collect)
    .option('--set-json <key=json>', 'values in JSON', collect)
    .option('--set-file <key=path>', 'values from files', collect)
    .option('--set-literal <key=value>', 'a value taken as it stands', collect)
    .option('-n, --namespace <namespace>', 'the release’s namespace')
    .option('-s, --show-only <template>', 'only what this template gives (repeatable)', collect)
    .option('--include-crds', 'the chart’s CRDs too')
    .option('--no-hooks', 'without hooks')
    .option('--skip-tests', 'without test hooks')
    .option('--kube-version <version>', 'the cluster’s version')
    .option('-a, --api-versions <apis>', 'further API versions (repeatable, or separated by commas)', collect)
    .option('--is-upgrade', 'set .Release.IsUpgrade')
    .option('--skip-schema-validation', 'do not look at values.schema.json')
    .option('--output-dir <dir>', 'write files instead of printing')
    .option('--release-name', 'put the release’s name into the path of --output-dir')
    .option('--validate', 'not here: it asks a cluster')
    .addOption(new Option('--helm <version>', 'whose rules to follow').choices(['3', '4']).default('4'))
    .option('--frozen <file>', 'replay the random values of this file, and keep new ones in it')
    .option('--explain', 'print the template and line that wrote each line')
    .addOption(
      new Option('--engine <engine>', 'ours, or a helm binary').choices(['native', 'official']).default('native'),
    )
    .option('--shadow', 'also run helm, and compare')
    .option('--helm-binary <file>', 'the helm for --engine official and --shadow', 'helm')
    .action(
      act(async (run, words, flags) => {
        const { template } = await import('./commands/template.ts')
        return await template(words, run, flags)
      }),
    )
}

function addKustomize(program: Command, act: Act): void {
  program
    .command('kustomize')
    .description('build kustomizations without kustomize and without a hub')
    .command('build')
    .argument('[dir]', 'the directory with the kustomization', '.')
    .description('print the objects of a kustomization as `kustomize build` does')
    .option('-o, --output <path>', 'write to this file, or one file per object into this directory')
    .option('--enable-helm', 'render the charts of helmCharts')
    .option('--helm-command <path>', 'accepted and ignored: charts are rendered natively')
    .option('--helm-kube-version <version>', 'the Kubernetes version that charts see')
    .option('--helm-api-versions <versions>', 'API versions that charts see (repeatable)', collect)
    .option('--helm-debug', 'accepted and ignored')
    .option('--load-restrictor <name>', 'LoadRestrictionsNone lets kustomizations read files outside their root')
    .option('--reorder <how>', 'legacy or none')
    .option('--enable-managedby-label', 'add the label app.kubernetes.io/managed-by')
    .option('--enable-alpha-plugins', 'refused: programs and containers are not run')
    .option('--enable-exec', 'refused: programs are not run')
    .option('--network', 'refused: only containers use it')
    .option('--mount <mount>', 'refused: only containers use it', collect)
    .option('-e, --env <variable>', 'refused: only containers use it', collect)
    .action(
      act(async (run, words, flags) => {
        const { kustomizeBuild } = await import('./commands/kustomize.ts')
        return kustomizeBuild(words[0] ?? '.', run.terminal, flags)
      }),
    )
}

function addCare(program: Command, act: Act): void {
  program
    .command('backup')
    .description('copy a hub’s database and blobs, while it runs; never its keys')
    .requiredOption('--data <dir>', 'the data directory of the hub')
    .requiredOption('--to <dir>', 'a new or empty directory')
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text'))
    .action(
      act(async (run, _words, flags) => {
        const { backup } = await import('./commands/backup.ts')
        await backup(run, flags as never)
      }),
    )
  program
    .command('restore')
    .description('make a hub’s data directory from a backup')
    .requiredOption('--from <dir>', 'the backup')
    .option('--data <dir>', 'the new data directory')
    .option('--keys <dir>', 'the folder with the hub’s keys; they are put in place and open what is sealed')
    .option('--drill', 'restore into a temporary directory, read everything, and remove it')
    .action(
      act(async (run, _words, flags) => {
        const { restore } = await import('./commands/restore.ts')
        await restore(run, flags as never)
      }),
    )
  program
    .command('audit')
    .description('who changed what on the hub')
    .option('--after <sequence>', 'only records after this one')
    .option('--tail <n>', 'the last n records', '50')
    .option('--verify', 'read all records and check that their chain is unbroken')
    .addOption(new Option('-o, --output <format>', 'output').choices(['table', 'json']).default('table'))
    .action(
      act(async (run, _words, flags) => {
        const [{ audit }, connection] = await Promise.all([import('./commands/audit.ts'), run.connect()])
        await audit({ ...run, connection, flags })
      }),
    )
}

function addAbout(program: Command, act: Act): void {
  program
    .command('version')
    .description('print the version')
    .action(
      act(async ({ terminal }) => {
        terminal.data(`flotilla ${VERSION} (node ${process.versions.node}, ${process.platform} ${process.arch})\n`)
      }),
    )
  program
    .command('help')
    .argument('[words...]')
    .description('help about a command, or about exit-codes')
    .action(
      act(async ({ terminal }, words) => {
        if (words[0] === 'exit-codes') {
          terminal.data(EXIT_MEANINGS.map(([code, meaning]) => `${String(code).padStart(4)}  ${meaning}\n`).join(''))
          return
        }
        let at = program
        for (const word of words) {
          const next = at.commands.find((command) => command.name() === word)
          if (!next) {
            const names = [...at.commands.map((command) => command.name()), 'exit-codes']
            throw new CliError(EXIT.usage, {
              what: `there is no help about ${JSON.stringify(words.join(' '))}`,
              todo: didYouMean(word, names) ?? `topics: ${names.join(', ')}`,
            })
          }
          at = next
        }
        terminal.data(at.helpInformation())
      }),
    )
}
