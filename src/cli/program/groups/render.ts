import { Option } from 'commander'
import type { Command } from 'commander'
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** `render`: what one cluster gets of a bundle. */
export function addRender(program: Command, act: Act): void {
  program
    .command('render')
    .description('the objects one cluster would get of a bundle, from files on this disk')
    .requiredOption(
      '-f, --filename <file>',
      'the Bundle or a Fleet GitRepo; also Overrides, Clusters, ConfigMaps and ClusterGroups (repeatable)',
      collect,
    )
    .option('--bundle <name>', 'which one, where the files hold several')
    .option('--root <dir>', 'the repository that spec.source stands for', '.')
    .option('--cluster <name>', 'a Cluster of the files, or of the hub')
    .option('-l, --label <key=value>', 'a label of the cluster, instead of asking the hub (repeatable)', collect)
    .option('--kube-version <version>', 'what charts see as the version of the cluster')
    .option('--explain', 'say where each value came from, and what of the cluster was read')
    .addOption(new Option('-o, --output <format>', 'output').choices(['yaml', 'json', 'name']).default('yaml'))
    .action(
      act(async (run, _words, flags) => {
        const { render } = await import('../../commands/preview/render.ts')
        await render({ ...run, connect: () => run.connect(), flags })
      }),
    )
}
