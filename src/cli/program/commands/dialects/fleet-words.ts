// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { Argument } from 'commander'
import { collect } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `fleet`: the words of Rancher Fleet's command. */
export function addFleetWords(program: FlotillaCommand, act: Act): void {
  const fleet = program
    .command('fleet')
    .helpGroup(GROUP.offline)
    .about(
      'Use the commands of Rancher Fleet',
      'test, target and "apply --output" work without a hub. The flags are those of the command fleet.',
    )
    .example('Show what a cluster would receive', 'flotilla fleet test ./apps/web -l env=prod')
    .example('Deliver a directory', 'flotilla fleet apply web ./apps/web')
  addApply(fleet, act)
  addOffline(fleet, act)
  fleet
    .command('deploy')
    .argument('[words...]', 'Not used')
    .allowUnknownOption()
    .about('Explain why bundles are deployed only through the hub', 'Prints what to use in place of "fleet deploy".')
    .example('Show what to use', 'flotilla fleet deploy')
    .action(
      act(async () => {
        const { fleetDeploy } = await import('../../../commands/fleet/fleet.ts')
        fleetDeploy()
      }),
    )
  fleet
    .command('cleanup')
    .addArgument(new Argument('<kind>', 'Kind of the objects').choices(['clusterregistration', 'gitjob']))
    .about(
      'Delete requests of Fleet agents that were not granted',
      'Agents of Fleet that still run create ClusterRegistrations, which the hub does not grant. Objects that Fleet granted stay.',
    )
    .example('Delete all requests', 'flotilla fleet cleanup clusterregistration')
    .option('-n, --namespace <namespace>', 'Workspace. Defaults to all workspaces')
    .action(
      act(async (run, [kind = ''], flags) => {
        const { fleetCleanup } = await import('../../../commands/fleet/fleet.ts')
        await fleetCleanup(kind, { ...run, connect: () => run.connect(), flags })
      }),
    )
}

function addApply(fleet: FlotillaCommand, act: Act): void {
  fleet
    .command('apply')
    .argument('<name>', 'Name of the bundles; the name of each bundle begins with it')
    .argument('[path...]', 'Directories. Defaults to the working directory')
    .about(
      'Make Bundles of directories and deliver them',
      'Each directory with a fleet.yaml becomes a Bundle of fleet.cattle.io that carries its files. Bundles of directories that are gone are not deleted.',
    )
    .example('Deliver two directories', 'flotilla fleet apply shop ./web ./db -n fleet-default')
    .example('Print the Bundles', 'flotilla fleet apply shop ./web -o -')
    .option('-n, --namespace <namespace>', 'Workspace of the Bundles. Defaults to fleet-default')
    .option('-f, --file <file>', 'Settings for all directories, in place of their fleet.yaml')
    .option('-o, --output <file>', 'Write the Bundles to a file (- for stdout) and do not apply them')
    .option('-l, --label <key=value>', 'Label of the Bundles (repeatable)', collect)
    .option('--commit <commit>', 'Commit, as a label of the Bundles')
    .option('--targets-file <file>', 'File with targets. Defaults to the ClusterGroup default')
    .option('--target-namespace <namespace>', 'Namespace of all objects')
    .option('-a, --service-account <name>', 'Service account of the agent in namespace cattle-fleet-system')
    .option('--paused', 'Let the changes wait')
    .option('--keep-resources', 'Keep the objects when the Bundles are deleted')
    .option('--delete-namespace', 'Delete namespaces that the Bundles created')
    .option('--correct-drift', 'Correct changes that were made in the cluster')
    .option('--correct-drift-force', 'Recreate objects that cannot be corrected')
    .option('--sync-generation <number>', 'A new number delivers again')
    .option('-c, --compress', 'Compress all files')
    .action(
      act(async (run, words, flags) => {
        const { fleetApply } = await import('../../../commands/fleet/fleet.ts')
        await fleetApply(words, { ...run, connect: () => run.connect(), flags })
      }),
    )
}

function addOffline(fleet: FlotillaCommand, act: Act): void {
  fleet
    .command('test')
    .argument('[path]', 'Directory. Defaults to the working directory')
    .about(
      'Print what a cluster receives, without a hub',
      'Compiles a directory or a Bundle and renders it for a cluster with the given name, labels and group. Fails if no target selects the cluster.',
    )
    .example('Render for a cluster with given labels', 'flotilla fleet test ./web -l env=prod')
    .example('Render a Bundle for a target', 'flotilla fleet test -b bundle.yaml -t prod')
    .option('-b, --bundle-file <file>', 'File with Bundles, in place of a directory (- for stdin)')
    .option('-f, --file <file>', 'Settings for all directories, in place of their fleet.yaml')
    .option('--targets-file <file>', 'File with targets. Defaults to the ClusterGroup default')
    .option('-N, --name <name>', 'Name of the cluster')
    .option('-l, --label <key=value>', 'Label of the cluster (repeatable)', collect)
    .option('-g, --group <name>', 'ClusterGroup of the cluster')
    .option('-L, --group-label <key=value>', 'Label of the ClusterGroup (repeatable)', collect)
    .option('-t, --target <name>', 'Use the target of this name, whatever it selects')
    .option('--kube-version <version>', 'Kubernetes version that charts see')
    .option('-q, --quiet', 'Print nothing but errors')
    .action(
      act(async (run, words, flags) => {
        const { fleetTest } = await import('../../../commands/fleet/fleet.ts')
        // The labels of the command are those of the cluster.
        await fleetTest(words, { ...run, connect: () => run.connect(), flags })
      }),
    )
  fleet
    .command('target')
    .about(
      'Print which clusters a Bundle selects, without a hub',
      'Reads Clusters, ClusterGroups, BundleNamespaceMappings and Namespaces from files and prints a BundleDeployment for each selected cluster.',
    )
    .example('Show the clusters of a Bundle', 'flotilla fleet target -b bundle.yaml -f clusters.yaml')
    .option('-b, --bundle-file <file>', 'File with Bundles (required; - for stdin)')
    .option('-f, --filename <file>', 'File with Clusters and ClusterGroups (repeatable)', collect)
    .action(
      act(async (run, _words, flags) => {
        const { fleetTarget } = await import('../../../commands/fleet/fleet.ts')
        await fleetTarget({ ...run, connect: () => run.connect(), flags })
      }),
    )
}
