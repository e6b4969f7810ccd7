// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
/** The words of `clusteradm`, as commands of `flotilla ocm`. A link named `clusteradm` leads here. */
import { Option } from 'commander'
import { systemClock } from '../../../../core/time/system-clock.ts'
import type { ClusteradmInput } from '../../../commands/ocm/clusteradm/clusteradm-run.ts'
import type { SpokeInput } from '../../../commands/ocm/clusteradm/spoke-words.ts'
import { collect, outputOption } from '../../command-action.ts'
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'
import { addAddonWords, addGetAddons } from './ocm-addons.ts'

/** Adds the words to `ocm`. */
export function addClusteradm(ocm: FlotillaCommand, act: Act): void {
  addHubWords(ocm, act)
  addSpokeWords(ocm, act)
  addGetWords(ocm, act)
  addSetWords(ocm, act)
  addCreateWords(ocm, act)
  addAddonWords(ocm, act, runOnHub)
}

type Flags = Record<string, unknown>
type HubWord = (input: ClusteradmInput) => Promise<void>

async function runOnHub(run: Run, flags: Flags, word: HubWord): Promise<void> {
  const connection = await run.connect()
  const { terminal, signal } = run
  await word({ connection, terminal, signal, flags, clock: systemClock, program: programOf(run) })
}

function programOf({ environment }: Run): string {
  return environment.prefix.length > 0 ? 'clusteradm' : 'flotilla ocm'
}

const clusters = (): Option =>
  new Option('--clusters <names>', 'Names of the clusters, separated by commas (repeatable)').argParser(collect)

function addHubWords(ocm: FlotillaCommand, act: Act): void {
  ocm
    .command('init')
    .about(
      'Check a hub and print the line that joins clusters',
      'Stands for "clusteradm init". The hub must run; nothing is installed.',
    )
    .example('Print the line that joins clusters', 'flotilla ocm init --wait')
    .option('--wait', 'Accepted for compatibility: the command returns when the hub has answered')
    .option('--expires <duration>', 'Validity of the token. Defaults to 24h')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const { clusteradmInit } = await import('../../../commands/ocm/clusteradm/hub-words.ts')
        await runOnHub(run, flags, clusteradmInit)
      }),
    )
  ocm
    .command('accept')
    .about('Accept clusters that wait', 'Stands for "clusteradm accept". Accepted clusters receive their works.')
    .example('Accept a cluster', 'flotilla ocm accept --clusters store-1')
    .addOption(clusters())
    .option('--wait', 'Wait for clusters that have not asked to join yet')
    .option('--timeout <seconds>', 'Time to wait, in seconds. Defaults to 300')
    .option('--skip-approve-check', 'Accepted for compatibility: a name belongs to the key that joined under it')
    .action(
      act(async (run, _words, flags) => {
        const { clusteradmAccept } = await import('../../../commands/ocm/clusteradm/hub-words.ts')
        await runOnHub(run, flags, clusteradmAccept)
      }),
    )
}

function addSpokeWords(ocm: FlotillaCommand, act: Act): void {
  const input = (run: Run, flags: Flags): SpokeInput => ({ ...run, flags, clock: systemClock, program: programOf(run) })
  ocm
    .command('join')
    .about(
      'Start the agent of a cluster in the background',
      'Stands for "clusteradm join". The agent manages the cluster of the current kubeconfig context and runs beside it. The cluster waits until a user accepts it.',
    )
    .example('Join the cluster of a kubeconfig', 'flotilla ocm join --hub-token TOKEN --cluster-name store-1 --wait')
    .option('--hub-token <token>', 'Token of "ocm get token" (required)')
    .option('--cluster-name <name>', 'Name of the cluster (required)')
    .option('--hub-apiserver <url>', 'Accepted for compatibility: the token contains the addresses of the hub')
    .option('--wait', 'Return when the hub knows the cluster')
    .option('--data <dir>', 'Directory of the keys and the log of the agent. Defaults to a directory of this user')
    .option('--force-internal-endpoint-lookup', 'Accepted for compatibility: has no effect')
    .option('--bundle-version <version>', 'Accepted for compatibility: has no effect')
    .option('--singleton', 'Accepted for compatibility: the agent is always one process')
    .action(
      act(async (run, _words, flags) => {
        const { clusteradmJoin } = await import('../../../commands/ocm/clusteradm/spoke-words.ts')
        await clusteradmJoin(input(run, flags))
      }),
    )
  ocm
    .command('unjoin')
    .about(
      'Stop the agent that "ocm join" started',
      'Stands for "clusteradm unjoin". Everything that the agent applied stays in the cluster.',
    )
    .example('Stop the agent of a cluster', 'flotilla ocm unjoin --cluster-name store-1')
    .option('--cluster-name <name>', 'Name of the cluster (required)')
    .option('--data <dir>', 'Directory of the keys and the log of the agent. Defaults to a directory of this user')
    .option('--purge-operator', 'Accepted for compatibility: there is no operator')
    .action(
      act(async (run, _words, flags) => {
        const { clusteradmUnjoin } = await import('../../../commands/ocm/clusteradm/spoke-words.ts')
        await clusteradmUnjoin(input(run, flags))
      }),
    )
}

function addGetWords(ocm: FlotillaCommand, act: Act): void {
  const get = ocm
    .command('get')
    .about('Show tokens, clusters, works, Placements and add-ons', 'Stands for "clusteradm get".')
    .example('Show the clusters', 'flotilla ocm get clusters')
  get
    .command('token')
    .about(
      'Print a new token with which clusters join',
      'Stands for "clusteradm get token". Up to 100 clusters can join with the token; each waits until a user accepts it.',
    )
    .example('Print a token', 'flotilla ocm get token')
    .option('--expires <duration>', 'Validity of the token. Defaults to 24h')
    .option('--use-bootstrap-token', 'Accepted for compatibility: has no effect')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const { clusteradmToken } = await import('../../../commands/ocm/clusteradm/hub-words.ts')
        await runOnHub(run, flags, clusteradmToken)
      }),
    )
  get
    .command('clusters')
    .alias('cluster')
    .about('Show the ManagedClusters', 'Stands for "clusteradm get clusters".')
    .example('Show the clusters as a table', 'flotilla ocm get clusters -o table')
    .option('--clusterset <name>', 'Only clusters with the label of this set')
    .addOption(outputOption('tree', 'table', 'yaml'))
    .action(
      act(async (run, _words, flags) => {
        const { getClusters } = await import('../../../commands/ocm/clusteradm/get-words.ts')
        await runOnHub(run, flags, getClusters)
      }),
    )
  get
    .command('works')
    .alias('work')
    .argument('[name]', 'Name of the ManifestWork')
    .about('Show the ManifestWorks of clusters', 'Stands for "clusteradm get works".')
    .example('Show the works of a cluster', 'flotilla ocm get works --clusters store-1 -o table')
    .addOption(clusters())
    .addOption(outputOption('tree', 'table', 'yaml'))
    .action(
      act(async (run, words, flags) => {
        const { getWorks } = await import('../../../commands/ocm/clusteradm/get-words.ts')
        await runOnHub(run, flags, (input) => getWorks(words[0], input))
      }),
    )
  get
    .command('placements')
    .alias('placement')
    .argument('[name]', 'Name of the Placement')
    .about('Show the Placements of Open Cluster Management', 'Stands for "clusteradm get placements".')
    .example('Show the Placements of a namespace', 'flotilla ocm get placements -n shop -o table')
    .option('-n, --namespace <namespace>', 'Namespace. If omitted, all namespaces')
    .addOption(outputOption('tree', 'table', 'yaml'))
    .action(
      act(async (run, words, flags) => {
        const { getPlacements } = await import('../../../commands/ocm/clusteradm/get-words.ts')
        await runOnHub(run, flags, (input) => getPlacements(words[0], input))
      }),
    )
  addGetAddons(get, act, runOnHub)
}

function addSetWords(ocm: FlotillaCommand, act: Act): void {
  const set = ocm
    .command('clusterset')
    .about('Bind and fill sets of clusters', 'Stands for "clusteradm clusterset".')
    .example('Bind a set to a namespace', 'flotilla ocm clusterset bind default --namespace shop')
  const namespace = (): Option => new Option('--namespace <namespace>', 'Namespace of the binding. Defaults to default')
  set
    .command('bind')
    .argument('<clusterset>', 'Name of the ManagedClusterSet')
    .about('Bind a set to a namespace', 'Placements of the namespace can then select clusters of the set.')
    .example('Bind a set to a namespace', 'flotilla ocm clusterset bind default --namespace shop')
    .addOption(namespace())
    .action(
      act(async (run, words, flags) => {
        const { bindSet } = await import('../../../commands/ocm/clusteradm/write-words.ts')
        await runOnHub(run, flags, (input) => bindSet(words[0]!, input))
      }),
    )
  set
    .command('unbind')
    .argument('<clusterset>', 'Name of the ManagedClusterSet')
    .about('Remove the binding of a set to a namespace', 'Placements of the namespace lose the clusters of the set.')
    .example('Remove a binding', 'flotilla ocm clusterset unbind default --namespace shop')
    .addOption(namespace())
    .action(
      act(async (run, words, flags) => {
        const { unbindSet } = await import('../../../commands/ocm/clusteradm/write-words.ts')
        await runOnHub(run, flags, (input) => unbindSet(words[0]!, input))
      }),
    )
  set
    .command('set')
    .argument('<clusterset>', 'Name of the ManagedClusterSet')
    .about('Move clusters into a set', 'A cluster is in one set at a time.')
    .example('Move a cluster into a set', 'flotilla ocm clusterset set gold --clusters store-1')
    .addOption(clusters())
    .action(
      act(async (run, words, flags) => {
        const { setClusters } = await import('../../../commands/ocm/clusteradm/write-words.ts')
        await runOnHub(run, flags, (input) => setClusters(words[0]!, input))
      }),
    )
}

function addCreateWords(ocm: FlotillaCommand, act: Act): void {
  const create = ocm
    .command('create')
    .about('Create Placements and works', 'Stands for "clusteradm create".')
    .example('Create a Placement', 'flotilla ocm create placement stores --clustersets default')
  create
    .command('placement')
    .argument('<name>', 'Name of the Placement')
    .about('Create a Placement of Open Cluster Management', 'Stands for "clusteradm create placement".')
    .example('Select clusters by a label', 'flotilla ocm create placement stores --label-selectors tier=store')
    .option('--namespace <namespace>', 'Namespace of the Placement. Defaults to default')
    .option('--clustersets <names>', 'Sets to select from, separated by commas (repeatable)', collect)
    .option('--label-selectors <selector>', 'Label selector of the clusters (repeatable)', collect)
    .option('--count <number>', 'Number of clusters to select. If omitted, all clusters that match')
    .option('--overwrite', 'Replace the spec of an existing Placement')
    .action(
      act(async (run, words, flags) => {
        const { createPlacement } = await import('../../../commands/ocm/clusteradm/write-words.ts')
        await runOnHub(run, flags, (input) => createPlacement(words[0]!, input))
      }),
    )
  create
    .command('work')
    .argument('<name>', 'Name of the ManifestWork')
    .about(
      'Create a ManifestWork for clusters',
      'Stands for "clusteradm create work". With --placement, for the clusters that the Placement selects now. With --replicaset, for all clusters that the Placement selects, also later.',
    )
    .example('Bring the objects of a file to a cluster', 'flotilla ocm create work web -f web.yaml --clusters store-1')
    .option('-f, --filename <file>', 'YAML or JSON file with objects (repeatable)', collect)
    .addOption(clusters())
    .option('--placement <namespace/name>', 'Placement of Open Cluster Management that selects the clusters')
    .option('--replicaset', 'Create a ManifestWorkReplicaSet in the namespace of the Placement')
    .option('--overwrite', 'Replace the objects of an existing work')
    .action(
      act(async (run, words, flags) => {
        const { createWork } = await import('../../../commands/ocm/clusteradm/write-words.ts')
        await runOnHub(run, flags, (input) => createWork(words[0]!, input))
      }),
    )
}
