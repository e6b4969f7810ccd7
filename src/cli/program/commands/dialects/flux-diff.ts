// Tested by src/cli/commands/flux/diff/diff-kustomization.contract.test.ts.
import type { Act } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

const splitList = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')]

/** `flux diff kustomization`. */
export function addFluxDiff(flux: FlotillaCommand, act: Act): void {
  const example = 'flotilla flux diff kustomization apps --path ./apps'
  const details =
    'Builds a local directory as the hub would, and compares the objects with those that the hub delivers to the clusters of the Kustomization. Exits with 0 without differences, with 1 with differences, and with a higher code if something could not be compared.'
  flux
    .command('diff')
    .about('Compare local files of a Flux object with the clusters', details)
    .example('Compare a directory', example)
    .command('kustomization')
    .alias('ks')
    .argument('<name>', 'Name of the Kustomization')
    .about('Compare a local directory with the clusters of a Kustomization', details)
    .example('Compare a directory', example)
    .example(
      'Compare a changed Kustomization',
      'flotilla flux diff kustomization apps --path ./apps --kustomization-file apps.yaml',
    )
    .requiredOption('--path <dir>', 'Directory to build (required)')
    .option('--kustomization-file <file>', 'File with the Kustomization. Defaults to the one on the hub')
    .option('-n, --namespace <namespace>', 'Namespace of the Kustomization', 'flux-system')
    .option(
      '--ignore-paths <patterns>',
      'Patterns of files to leave out, as in .sourceignore (comma-separated)',
      splitList,
    )
    .option('--recursive', 'Also compare the Kustomizations that the build contains')
    .option(
      '--local-sources <kind/namespace/name=dir>',
      'Directory of a source, for --recursive (comma-separated, repeatable)',
      splitList,
    )
    .option('--progress-bar [boolean]', 'Accepted for scripts of Flux: there is no progress bar')
    .action(
      act(async (run, [name = ''], flags) => {
        const { fluxDiff } = await import('../../../commands/flux/diff/diff-kustomization.ts')
        const connection = await run.connect()
        return await fluxDiff(name, { connection, terminal: run.terminal, signal: run.signal, flags })
      }),
    )
}
