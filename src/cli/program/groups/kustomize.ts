import type { Command } from 'commander'
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about kustomizations without a hub. */
export function addKustomize(program: Command, act: Act): void {
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
        const { kustomizeBuild } = await import('../../commands/preview/kustomize.ts')
        return kustomizeBuild(words[0] ?? '.', run.terminal, flags)
      }),
    )
}
