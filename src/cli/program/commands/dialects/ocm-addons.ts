// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
/** `addon enable|disable` and `get addons`, as commands of `flotilla ocm`. */
import { Option } from 'commander'
import type { ClusteradmInput } from '../../../commands/ocm/clusteradm/clusteradm-run.ts'
import { collect, outputOption } from '../../command-action.ts'
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

type RunOnHub = (
  run: Run,
  flags: Record<string, unknown>,
  word: (input: ClusteradmInput) => Promise<void>,
) => Promise<void>

const names = (): Option =>
  new Option('--names <names>', 'Names of the add-ons, separated by commas (repeatable)').argParser(collect)
const clusters = (): Option =>
  new Option('--clusters <names>', 'Names of the clusters, separated by commas (repeatable)').argParser(collect)

/** Adds `addon`. */
export function addAddonWords(ocm: FlotillaCommand, act: Act, runOnHub: RunOnHub): void {
  const addon = ocm
    .command('addon')
    .about('Install and remove add-ons', 'Stands for "clusteradm addon".')
    .example('Install an add-on on a cluster', 'flotilla ocm addon enable --names web --clusters store-1')
  addon
    .command('enable')
    .about(
      'Install add-ons on clusters',
      'Stands for "clusteradm addon enable". The ClusterManagementAddOn must exist.',
    )
    .example('Install an add-on on a cluster', 'flotilla ocm addon enable --names web --clusters store-1')
    .addOption(names())
    .addOption(clusters())
    .option('-n, --namespace <namespace>', 'Namespace of the add-on in the cluster')
    .option('--labels <labels>', 'Labels of the ManagedClusterAddOn, as KEY=VALUE (repeatable)', collect)
    .option('--annotate <annotations>', 'Annotations of the ManagedClusterAddOn, as KEY=VALUE (repeatable)', collect)
    .action(
      act(async (run, _words, flags) => {
        const { enableAddons } = await import('../../../commands/ocm/clusteradm/addon-words.ts')
        await runOnHub(run, flags, enableAddons)
      }),
    )
  addon
    .command('disable')
    .about('Remove add-ons from clusters', 'Stands for "clusteradm addon disable".')
    .example('Remove an add-on from a cluster', 'flotilla ocm addon disable --names web --clusters store-1')
    .addOption(names())
    .addOption(clusters())
    .option('--all-clusters', 'Remove the add-ons from all clusters')
    .action(
      act(async (run, _words, flags) => {
        const { disableAddons } = await import('../../../commands/ocm/clusteradm/addon-words.ts')
        await runOnHub(run, flags, disableAddons)
      }),
    )
}

/** Adds `get addons`. */
export function addGetAddons(get: FlotillaCommand, act: Act, runOnHub: RunOnHub): void {
  get
    .command('addons')
    .alias('addon')
    .argument('[name]', 'Name of the add-on')
    .about('Show the add-ons of clusters', 'Stands for "clusteradm get addons".')
    .example('Show the add-ons of a cluster', 'flotilla ocm get addons --clusters store-1 -o table')
    .addOption(clusters())
    .addOption(outputOption('tree', 'table', 'yaml'))
    .action(
      act(async (run, words, flags) => {
        const { getAddons } = await import('../../../commands/ocm/clusteradm/addon-words.ts')
        await runOnHub(run, flags, (input) => getAddons(words[0], input))
      }),
    )
}
