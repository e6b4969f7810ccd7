// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `validate` and `render`: files that are not applied yet. */
export function addFiles(program: FlotillaCommand, act: Act): void {
  program
    .command('validate')
    .helpGroup(GROUP.offline)
    .argument('[dir...]', 'Directories with Flotilla objects, manifests and charts. Defaults to the working directory')
    .about(
      'Validate files before they are committed',
      'Renders each Bundle and checks the objects. With --hub, also checks references to clusters, Placements and other objects of the hub.',
    )
    .example('Validate the working directory', 'flotilla validate')
    .example('Validate against the fleet and report as SARIF', 'flotilla validate --hub -o sarif')
    .option('-f, --filename <file>', 'File or directory, or - for stdin (repeatable)', collect)
    .option('--root <dir>', 'Clone of the repository of the Sources. Defaults to the git work tree')
    .option('--hub', 'Read clusters, Placements and other objects from the hub of the kubeconfig')
    .option('--kube-version <version>', 'Kubernetes version of clusters whose version is not known')
    .option('--strict', 'Fail for warnings too')
    .addOption(outputOption('text', 'json', 'markdown', 'sarif', 'github'))
    .action(
      act(async (run, words, flags) => {
        const { validate } = await import('../../commands/preview/validate.ts')
        return await validate(words, { ...run, connect: () => run.connect(), flags })
      }),
    )
  program
    .command('render')
    .helpGroup(GROUP.offline)
    .about(
      'Render a Bundle for one cluster from local files',
      'Prints the objects that the cluster would receive. Secret values are not printed.',
    )
    .example('Render a Bundle for a cluster with given labels', 'flotilla render -f shop.yaml -l region=north')
    .example('Render a Bundle for a cluster of the hub', 'flotilla render -f shop.yaml --cluster store-07 --explain')
    .requiredOption(
      '-f, --filename <file>',
      'File with the Bundle or Fleet GitRepo, Overrides, Clusters, ConfigMaps and ClusterGroups (required, repeatable)',
      collect,
    )
    .option('--bundle <name>', 'Name of the Bundle. Required if the files hold several Bundles')
    .option('--root <dir>', 'Clone of the repository of spec.source', '.')
    .option('--cluster <name>', 'Name of a Cluster in the files, or on the hub')
    .option(
      '-l, --label <key=value>',
      'Label of the cluster, or several with commas, instead of asking the hub (repeatable)',
      collect,
    )
    .option('--kube-version <version>', 'Kubernetes version that charts see')
    .option('--explain', 'Print the origin of each value and the facts of the cluster that were read')
    .addOption(outputOption('yaml', 'json', 'name'))
    .action(
      act(async (run, _words, flags) => {
        const { render } = await import('../../commands/preview/render.ts')
        await render({ ...run, connect: () => run.connect(), flags })
      }),
    )
}

/** `diff`: a branch or working directory against the fleet. */
export function addDiff(program: FlotillaCommand, act: Act): void {
  program
    .command('diff')
    .helpGroup(GROUP.guard)
    .about(
      'Show what a branch or the working directory would change in the fleet',
      'Exits with 0 if there are no differences, with 1 if there are differences, and with a higher code on error.',
    )
    .example('Compare the working directory with the fleet', 'flotilla diff --summary')
    .example('Comment on a pull request', 'flotilla diff --branch feature --into main -o markdown')
    .option(
      '-f, --filename <dir>',
      'Directory with Flotilla objects (repeatable). Defaults to the working directory',
      collect,
    )
    .option('--root <dir>', 'Clone of the repository. Defaults to the git work tree of the directory')
    .option('--branch <revision>', 'Branch, tag or commit to compare, instead of the working directory')
    .option('--source <name>', 'Source of the repository. Defaults to the Source with a remote of the clone')
    .option('--into <branch>', 'Compare only Sources that follow this branch')
    .option('--against <revision>', 'Commit to compare with. "live" is what the hub delivers', 'live')
    .option('--bundle <name>', 'Compare only this Bundle')
    .option('--summary', 'Print one line per group of clusters')
    .addOption(outputOption('text', 'json', 'markdown'))
    .action(
      act(async (run, _words, flags) => {
        const [{ diff }, connection] = await Promise.all([import('../../commands/preview/diff.ts'), run.connect()])
        return await diff({ ...run, connection, flags })
      }),
    )
}
