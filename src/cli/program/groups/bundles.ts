import type { Command } from 'commander'
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about bundles: import. */
export function addBundles(program: Command, act: Act): void {
  const group = program.command('bundle').description('make bundles of what is somewhere else already')
  const imports = group.command('import').description('a Source, a Placement and a Bundle for what is at an address')
  const add = (from: 'git' | 'helm' | 'oci', what: string): Command =>
    imports
      .command(from)
      .argument('<url>')
      .description(what)
      .option('-l, --selector <labels>', 'the clusters that get it')
      .option('--all-clusters', 'every cluster gets it')
      .option('--name <name>', 'the name of all three; made of the address without it')
      .option('-n, --namespace <namespace>', 'the namespace')
      .option('--credentials <secret>', 'a Secret for the address')
      .option('-f, --values <file>', 'values for a chart')
      .option('--release-name <name>', 'the release name that a chart sees')
      .option('--apply', 'write them to the hub instead of printing them')
      .action(
        act(async (run, words, flags) => {
          const { bundleImport } = await import('../../commands/bundle/import-bundle.ts')
          await bundleImport(from, words, { ...run, flags })
        }),
      )
  add('git', 'a directory of a git repository: manifests, a kustomization or a chart')
    .option('--path <directory>', 'the directory; the whole repository without it')
    .option('--branch <name>', 'follow this branch; the default one without any of these')
    .option('--tag <name>', 'take this tag')
    .option('--semver <range>', 'follow the newest tag in this range')
    .option('--commit <id>', 'take exactly this commit')
  add('helm', 'a chart of a Helm repository, or without its name the archive at the address')
    .argument('[chart]')
    .option('--version <range>', 'the newest version in this range')
  add('oci', 'a chart or another artifact in a registry (oci://…)')
    .option('--tag <name>', 'this tag')
    .option('--semver <range>', 'the newest tag in this range')
    .option('--digest <digest>', 'exactly this manifest')
  addOther(
    imports.command('fleet'),
    act(async (run, words, flags) => {
      const { importFleet } = await import('../../commands/bundle/import-fleet.ts')
      await importFleet(words[0]!, { ...run, flags })
    }),
  )
    .argument(
      '<file>',
      'YAML with GitRepos and the ClusterGroups they name (- is stdin); or a directory with fleet.yaml files',
    )
    .description('GitRepos of Rancher Fleet, as Flotilla’s own objects')
    .option('--root <dir>', 'the repository of the GitRepos on this disk (default: .)')
    .option('--repo <url>', 'for a directory: the address the hub fetches it from')
    .option('--branch <name>', 'for a directory: the branch')
    .option('--path <directory>', 'for a directory: only this part of it (repeatable)', collect)
    .option('--name <name>', 'for a directory: the name a GitRepo of it would have; made of the address without it')
    .option('-l, --selector <labels>', 'the clusters that get all of it, whatever the targets say')
    .option('--all-clusters', 'every cluster gets all of it')
  addOther(
    imports.command('argo'),
    act(async (run, words, flags) => {
      const { importArgo } = await import('../../commands/bundle/import-argo.ts')
      await importArgo(words[0]!, { ...run, flags })
    }),
  )
    .argument('<file>', 'YAML with Applications and ApplicationSets (- is stdin)')
    .description('Applications and ApplicationSets of Argo CD, as Flotilla’s own objects')
    .option(
      '--root <[url=]dir>',
      'their git repository on this disk: decides what directories are, and lists them for generators (repeatable)',
      collect,
    )
    .option(
      '--cluster <destination=name>',
      'the cluster that Argo CD calls so, by name or address (repeatable)',
      collect,
    )
    .option('-l, --selector <labels>', 'the clusters that get all of it, whatever the destinations say')
    .option('--all-clusters', 'every cluster gets all of it')
}

/** An import of what another system was told. */
function addOther(command: Command, action: ReturnType<Act>): Command {
  return command
    .option('-n, --namespace <namespace>', 'the namespace of the objects')
    .option('--apply', 'write them to the hub instead of printing them')
    .action(action)
}
