import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `kustomize build`: a kustomization without a hub. */
export function addKustomize(program: FlotillaCommand, act: Act): void {
  program
    .command('kustomize')
    .helpGroup(GROUP.offline)
    .about('Build kustomizations', 'Works without Kustomize and without a hub.')
    .example('Build an overlay', 'flotilla kustomize build overlays/north')
    .command('build')
    .argument('[dir]', 'Directory of the kustomization', '.')
    .about('Build a kustomization', 'Prints what "kustomize build" prints.')
    .example('Build an overlay', 'flotilla kustomize build overlays/north')
    .example('Build an overlay with charts', 'flotilla kustomize build overlays/north --enable-helm')
    .option('-o, --output <path>', 'File to write, or directory for one file per object')
    .option('--enable-helm', 'Render the charts of helmCharts')
    .option('--helm-command <path>', 'Accepted and ignored: charts are rendered without Helm')
    .option('--helm-kube-version <version>', 'Kubernetes version that charts see')
    .option('--helm-api-versions <versions>', 'API versions that charts see (repeatable)', collect)
    .option('--helm-debug', 'Accepted and ignored')
    .option('--load-restrictor <name>', 'LoadRestrictionsNone allows files outside the root of the kustomization')
    .option('--reorder <how>', 'Order of the objects: "legacy" or "none"')
    .option('--enable-managedby-label', 'Add the label app.kubernetes.io/managed-by')
    .option('--enable-alpha-plugins', 'Refused: plugins are not run')
    .option('--enable-exec', 'Refused: programs are not run')
    .option('--network', 'Refused: containers are not run')
    .option('--mount <mount>', 'Refused: containers are not run', collect)
    .option('-e, --env <variable>', 'Refused: containers are not run', collect)
    .action(
      act(async (run, words, flags) => {
        const { kustomizeBuild } = await import('../../commands/preview/kustomize.ts')
        return kustomizeBuild(words[0] ?? '.', run.terminal, flags)
      }),
    )
}
