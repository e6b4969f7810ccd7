// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `bundle import` with an address, or with files of another system. */
export function addBundles(program: FlotillaCommand, act: Act): void {
  const bundle = program
    .command('bundle')
    .helpGroup(GROUP.deliver)
    .about('Create Bundles from existing content', 'List Bundles with "flotilla get bundles".')
    .example('Import a chart', 'flotilla bundle import helm https://charts.example web --all-clusters')
  const imports = bundle
    .command('import')
    .about(
      'Create a Source, a Placement and a Bundle for existing content',
      'The objects are printed, or with --apply written to the hub.',
    )
    .example(
      'Import a directory of a git repository',
      'flotilla bundle import git https://git.example/fleet.git --path shop -l tier=store --apply',
    )
  addAddresses(imports, act)
  addFleet(imports, act)
  addArgo(imports, act)
}

function addAddresses(imports: FlotillaCommand, act: Act): void {
  const add = (from: 'git' | 'helm' | 'oci', summary: string, details: string): FlotillaCommand =>
    imports
      .command(from)
      .argument('<url>', 'Address of the content')
      .about(summary, details)
      .option('-l, --selector <labels>', 'Label selector of the clusters. Required unless --all-clusters is given')
      .option('--all-clusters', 'Place the Bundle on all clusters')
      .option('--name <name>', 'Name of the three objects. Defaults to a name made from the address')
      .option('-n, --namespace <namespace>', 'Namespace of the objects')
      .option('--credentials <secret>', 'Name of a Secret with credentials for the address')
      .option('-f, --values <file>', 'Values file for a chart')
      .option('--release-name <name>', 'Helm release name of a chart')
      .option('--apply', 'Write the objects to the hub instead of printing them')
      .action(
        act(async (run, words, flags) => {
          const { bundleImport } = await import('../../commands/bundle/import-bundle.ts')
          await bundleImport(from, words, { ...run, flags })
        }),
      )
  add('git', 'Import a directory of a git repository', 'The directory holds manifests, a kustomization or a chart.')
    .example(
      'Follow a branch',
      'flotilla bundle import git https://git.example/fleet.git --path shop --branch main -l tier=store',
    )
    .option('--path <directory>', 'Directory of the repository. Defaults to its root')
    .option('--branch <name>', 'Branch to follow. Defaults to the default branch of the repository')
    .option('--tag <name>', 'Tag to use')
    .option('--semver <range>', 'Follow the newest tag in this range')
    .option('--commit <id>', 'Commit to use')
  add('helm', 'Import a chart of a Helm repository', 'Without a chart name, the address is the one of a chart archive.')
    .example('Import a chart', "flotilla bundle import helm https://charts.example web --version '^2' -l tier=store")
    .argument('[chart]', 'Name of the chart')
    .option('--version <range>', 'Use the newest version in this range')
  add('oci', 'Import an artifact of an OCI registry', 'The artifact is a chart, or an archive of manifests.')
    .example(
      'Import a chart',
      'flotilla bundle import oci oci://registry.example/charts/web --tag 2.1.0 --all-clusters',
    )
    .option('--tag <name>', 'Tag to use')
    .option('--semver <range>', 'Follow the newest tag in this range')
    .option('--digest <digest>', 'Digest of the manifest to use')
}

function addFleet(imports: FlotillaCommand, act: Act): void {
  withTarget(imports.command('fleet'))
    .argument(
      '<file>',
      'YAML file with GitRepos and their ClusterGroups (- for stdin), or directory with fleet.yaml files',
    )
    .about(
      'Import GitRepos of Rancher Fleet',
      'The GitRepos become Sources, Placements and Bundles. The command fails for fields that it cannot import.',
    )
    .example('Import exported GitRepos', 'flotilla bundle import fleet gitrepos.yaml --root ./fleet')
    .example(
      'Import a directory',
      'flotilla bundle import fleet ./fleet --repo https://git.example/fleet.git --branch main --all-clusters',
    )
    .option('--root <dir>', 'Clone of the repository of the GitRepos. Defaults to the working directory')
    .option('--repo <url>', 'For a directory: URL of its repository')
    .option('--branch <name>', 'For a directory: branch to follow')
    .option('--path <directory>', 'For a directory: subdirectory to import (repeatable)', collect)
    .option('--name <name>', 'For a directory: name of the GitRepo. Defaults to a name made from the URL')
    .option('-l, --selector <labels>', 'Label selector of the clusters, instead of the targets')
    .option('--all-clusters', 'Place the Bundles on all clusters, instead of the targets')
    .action(
      act(async (run, words, flags) => {
        const { importFleet } = await import('../../commands/bundle/import-fleet.ts')
        await importFleet(words[0]!, { ...run, flags })
      }),
    )
}

function addArgo(imports: FlotillaCommand, act: Act): void {
  withTarget(imports.command('argo'))
    .argument('<file>', 'YAML file with Applications and ApplicationSets (- for stdin)')
    .about(
      'Import Applications and ApplicationSets of Argo CD',
      'They become Sources, Placements and Bundles. The command fails for fields that it cannot import.',
    )
    .example('Import an ApplicationSet', 'flotilla bundle import argo appset.yaml --root ./apps')
    .option(
      '--root <[url=]dir>',
      'Clone of a git repository, to read directories and to run git generators (repeatable)',
      collect,
    )
    .option(
      '--cluster <destination=name>',
      'Name of the cluster for a destination of Argo CD, by name or address (repeatable)',
      collect,
    )
    .option('-l, --selector <labels>', 'Label selector of the clusters, instead of the destinations')
    .option('--all-clusters', 'Place the Bundles on all clusters, instead of the destinations')
    .action(
      act(async (run, words, flags) => {
        const { importArgo } = await import('../../commands/bundle/import-argo.ts')
        await importArgo(words[0]!, { ...run, flags })
      }),
    )
}

function withTarget(command: FlotillaCommand): FlotillaCommand {
  return command
    .option('-n, --namespace <namespace>', 'Namespace of the objects')
    .option('--apply', 'Write the objects to the hub instead of printing them')
}
