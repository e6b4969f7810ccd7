import { Option } from 'commander'
import type { Command } from 'commander'
import { collect } from './act.ts'
import type { Act } from './act.ts'

/** Commands about charts without a hub. */
export function addRendering(program: Command, act: Act): void {
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
        const { template } = await import('../commands/template.ts')
        return await template(words, run, flags)
      }),
    )
}
