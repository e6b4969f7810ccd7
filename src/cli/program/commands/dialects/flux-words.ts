// Tested by src/cli/commands/flux/flux-words.test.ts.
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

async function inputOf(run: Run, flags: Record<string, unknown>) {
  const [words, objects, connection] = await Promise.all([
    import('../../../commands/flux/flux-words.ts'),
    import('../../../commands/flux/flux-objects.ts'),
    run.connect(),
  ])
  const input = { connection, terminal: run.terminal, signal: run.signal, flags }
  return { words, kinds: objects.FLUX_COMMAND_KINDS, input }
}

const splitList = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')]

/** `flux events`, `export` and `trace`. */
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
  addExport(flux, act)
  flux
    .command('trace')
    .argument('[object...]', 'Kind and name: deployment web, or deployment/web')
    .about(
      'Show the Flux objects that deliver an object',
      'Prints the Kustomization whose inventory has the object, and its source. The inventory is in the status while all clusters have the same objects.',
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
  const add = (command: FlotillaCommand, kind: 'kustomization' | 'git', what: string, words: string): void => {
    command
      .about(`Print ${what} as files`, 'Prints objects as YAML, without status and without what servers write.')
      .example(`Save all ${what}`, `flotilla flux export ${words} --all`)
      .argument('[name]', 'Name of one object')
      .option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')
      .option('--all', 'All objects of the namespace')
      .action(
        act(async (run, [name], flags) => {
          const { words: commands, kinds, input } = await inputOf(run, flags)
          await commands.fluxExport(kinds[kind], name, input)
        }),
      )
  }
  add(parent.command('kustomization').alias('ks'), 'kustomization', 'Kustomizations', 'kustomization')
  const source = parent
    .command('source')
    .about('Print sources as files', 'Prints objects as YAML, without status and without what servers write.')
    .example('Save all GitRepositories', 'flotilla flux export source git --all')
  add(source.command('git'), 'git', 'GitRepositories', 'source git')
}
