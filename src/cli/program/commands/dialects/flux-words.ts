// Tested by src/cli/commands/flux/flux-words.test.ts.
import { Option } from 'commander'
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'
import { addKindCommands } from './flux-kind-commands.ts'

async function inputOf(run: Run, flags: Record<string, unknown>) {
  const [words, { FLUX_COMMAND_KINDS }, connection] = await Promise.all([
    import('../../../commands/flux/flux-words.ts'),
    import('../../../commands/flux/flux-kinds.ts'),
    run.connect(),
  ])
  const input = { connection, terminal: run.terminal, signal: run.signal, flags }
  return { words, kinds: FLUX_COMMAND_KINDS, input }
}

const splitList = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')]

/** `flux events`, `logs`, `export` and `trace`. */
export function addFluxWords(flux: FlotillaCommand, act: Act): void {
  flux
    .command('events')
    .about('List events of Flux objects', 'Prints events about objects of Flux, the oldest first.')
    .example('Show the events of a Kustomization', 'flotilla flux events --for Kustomization/apps')
    .option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')
    .option('-A, --all-namespaces', 'List the events of all namespaces')
    .option('--for <kind/name>', 'Only events about this object')
    .option('--types <types>', 'Only events of these types: Normal, Warning (comma-separated)', splitList)
    .option('--no-header', 'Print no header')
    .action(
      act(async (run, _args, flags) => {
        const { words, input } = await inputOf(run, flags)
        await words.fluxEvents(input)
      }),
    )
  addLogs(flux, act)
  addExport(flux, act)
  flux
    .command('trace')
    .argument('[object...]', 'Kind and name: deployment web, or deployment/web')
    .about(
      'Show the Flux objects that deliver an object',
      'Prints the Kustomization or HelmRelease whose inventory has the object, and its sources. The inventory is in the status while all clusters have the same objects.',
    )
    .example('Show the origin of a Deployment', 'flotilla flux trace deployment web -n apps')
    .option('-n, --namespace <namespace>', 'Namespace of the object. Defaults to default')
    .option('--kind <kind>', 'Kind of the object')
    .option('--api-version <version>', 'API version of the object, for example apps/v1')
    .action(
      act(async (run, args, flags) => {
        const { words, input } = await inputOf(run, flags)
        await words.fluxTrace(args.flat(), input)
      }),
    )
}

function addExport(flux: FlotillaCommand, act: Act): void {
  const parent = flux
    .command('export')
    .about('Print Flux objects as files', 'Prints objects as YAML, without status and without what servers write.')
    .example('Save all Kustomizations', 'flotilla flux export kustomization --all')
  const details = 'Prints objects as YAML, without status and without what servers write.'
  const { commands } = addKindCommands(parent, ['Print sources as files', details])
  for (const { command, key, plural, words } of commands) {
    command
      .about(`Print ${plural} as files`, details)
      .example(`Save all ${plural}`, `flotilla flux export ${words} --all`)
      .argument('[name]', 'Name of one object')
      .option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')
      .option('--all', 'All objects of the namespace')
      .action(
        act(async (run, [name], flags) => {
          const { words: own, kinds, input } = await inputOf(run, flags)
          await own.fluxExport(kinds[key], name, input)
        }),
      )
  }
}

function addLogs(flux: FlotillaCommand, act: Act): void {
  flux
    .command('logs')
    .about(
      'Print what happened to Flux objects',
      'Prints the events about objects of Flux in the form of "flux logs". The log of the hub is the output of its process, and "flotilla logs" prints the log of an agent.',
    )
    .example('Print all problems of the last hour', 'flotilla flux logs -A --level error --since 1h')
    .option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')
    .option('-A, --all-namespaces', 'Print the lines of all namespaces')
    .option('--kind <kind>', 'Only lines about objects of this kind')
    .option('--name <name>', 'Only lines about objects of this name')
    .addOption(new Option('--level <level>', 'Only lines of this level').choices(['info', 'error']))
    .option('--since <duration>', 'Only lines of this time, for example 30m')
    .option('--tail <lines>', 'Number of lines from the end')
    .action(
      act(async (run, _args, flags) => {
        const { input } = await inputOf(run, flags)
        const { fluxLogs } = await import('../../../commands/flux/flux-logs.ts')
        await fluxLogs(input)
      }),
    )
}
