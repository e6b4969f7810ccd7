// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { Option } from 'commander'
import type { ConnectFlags } from '../../api/connect.ts'
import { collect, outputOption, withDryRun, withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `cluster` and its verbs. */
export function addClusters(program: FlotillaCommand, act: Act): void {
  const cluster = program
    .command('cluster')
    .helpGroup(GROUP.start)
    .about(
      'Add, accept, hold and remove clusters',
      'List clusters with "flotilla get clusters". To stop changes, use hold or cordon; to remove a cluster, use decommission.',
    )
    .example('Register a cluster', 'flotilla cluster add store-1 --label region=north')
    .example('List the clusters', 'flotilla get clusters')
  addJoin(cluster, act)
  addAcceptance(cluster, act)
  addHolds(cluster, act)
  addDecommission(cluster, act)
}

function addJoin(cluster: FlotillaCommand, act: Act): void {
  cluster
    .command('add')
    .argument('[name]', 'Name of the cluster. Required unless --pattern is given')
    .about(
      'Register a cluster by a join code or by its kubeconfig',
      'The command prints the line that starts the agent, or with -o manifest the manifest to apply in the cluster. With the --kubeconfig of a cluster that is not a hub, the hub runs the agent itself; FLOTILLA_KUBECONFIG names the hub then.',
    )
    .example('Create a join code for one cluster', 'flotilla cluster add store-1 --label region=north')
    .example(
      'Create a join code for many clusters',
      "flotilla cluster add --pattern 'store-*' --uses 200 --accept manual",
    )
    .example('Print a manifest for the cluster', 'flotilla cluster add store-1 -o manifest')
    .example(
      'Let the hub run the agent of a cluster that it can reach',
      'flotilla cluster add store-1 --kubeconfig store-1.kubeconfig --label region=north',
    )
    .example(
      'Move the agent of a cluster from the hub into the cluster',
      'flotilla cluster add store-1 --take-over -o manifest',
    )
    .option('--pattern <glob>', 'Pattern of cluster names, instead of one name')
    .option('--uses <n>', 'Number of clusters that can join with a code for a pattern', '1')
    .option('-l, --label <key=value>', 'Label that the hub sets on the cluster (repeatable)', collect)
    .addOption(
      new Option('--accept <how>', 'Acceptance: at the first join, by a person, by network or by rule').choices([
        'auto',
        'manual',
        'networks',
        'rule',
      ]),
    )
    .option('--accept-if <cel>', 'With --accept=rule: CEL expression over name, labels, address and agentVersion')
    .addOption(
      new Option('--site-class <class>', 'Connectivity of the site: check-in interval and offline tolerance').choices([
        'connected',
        'edge',
        'intermittent',
      ]),
    )
    .option('--take-over', 'The agent that joins with the code replaces the agent that the hub runs for the cluster')
    .option('--proxy <url>', 'Proxy between the cluster and the hub, written to the manifest')
    .option(
      '--accept-from <cidr>',
      'With --accept=networks: network from which joins are accepted (repeatable)',
      collect,
    )
    .option(
      '--network <cidr>',
      'Network from which the code can be used (repeatable). If omitted, any network',
      collect,
    )
    .option('--expires <duration>', 'Validity of the code', '24h')
    .addOption(
      new Option('--profile <rights>', 'Permissions of the agent in the manifest').choices([
        'full',
        'namespaced',
        'read-only',
      ]),
    )
    .option(
      '--agent-namespace <namespace>',
      'With --profile=namespaced: namespace the agent may change (repeatable)',
      collect,
    )
    .option('-n, --namespace <namespace>', 'With a kubeconfig: namespace of its Secret. Defaults to flotilla-system')
    .addOption(outputOption('text', 'json', 'manifest'))
    .action(
      act(async (run, words, flags) => {
        const { kubeconfig: file, context } = flags as ConnectFlags
        const named = file === undefined ? undefined : { file, context }
        if (named) {
          const { clusterAddPushed, isHubKubeconfig } = await import('../../commands/cluster/add-pushed.ts')
          if (!(await isHubKubeconfig(named))) {
            // The hub is where it is without the flag.
            const connection = await run.connect({})
            return await clusterAddPushed(words[0], { ...run, connection }, named, flags)
          }
        }
        const { clusterAdd } = await import('../../commands/cluster/add.ts')
        await clusterAdd(words[0], { ...run, connection: await run.connect() }, flags)
      }),
    )
}

const ACCEPTANCE = {
  accept: {
    command: 'clusterAccept',
    summary: 'Accept a cluster',
    details: 'The cluster is pending, or was rejected or revoked. From now on it receives documents.',
    reason: 'Reason recorded in the audit log',
  },
  reject: {
    command: 'clusterReject',
    summary: 'Reject a pending cluster',
    details: 'The agent receives no documents and is refused when it asks again.',
    reason: 'Reason recorded on the Cluster. The agent does not receive it',
  },
  revoke: {
    command: 'clusterRevoke',
    summary: 'Revoke the access of an accepted cluster',
    details: 'Workloads on the cluster continue to run. To remove them first, use "flotilla cluster decommission".',
    reason: 'Reason recorded on the Cluster. The agent does not receive it',
  },
} as const

function addAcceptance(cluster: FlotillaCommand, act: Act): void {
  for (const [verb, { command, summary, details, reason }] of Object.entries(ACCEPTANCE)) {
    withYes(withDryRun(cluster.command(verb)))
      .argument('<name>', 'Name of the cluster')
      .about(summary, details)
      .example(`${summary}: store-7`, `flotilla cluster ${verb} store-7`)
      .option('--reason <text>', reason)
      .action(
        act(async (run, words, flags) => {
          const [acceptance, { askYesNo }, connection] = await Promise.all([
            import('../../commands/cluster/acceptance.ts'),
            import('../../input/prompt.ts'),
            run.connect(),
          ])
          await acceptance[command](words[0]!, { ...run, connection, flags, confirm: askYesNo })
        }),
      )
  }
}

const HOLDS = {
  hold: {
    command: 'clusterHold',
    field: 'hold',
    summary: 'Hold a cluster',
    details: 'The cluster receives no changes. The agent continues to repair drift.',
    example: 'store-7 --reason "inventory"',
  },
  release: {
    command: 'clusterRelease',
    field: 'hold',
    summary: 'Release a cluster from hold',
    details: 'The cluster receives changes again.',
    example: 'store-7',
  },
  cordon: {
    command: 'clusterHold',
    field: 'cordon',
    summary: 'Cordon a cluster',
    details: 'The cluster receives no changes, and Placements that do not select it yet do not select it.',
    example: '-l region=north --reason "network maintenance"',
  },
  uncordon: {
    command: 'clusterRelease',
    field: 'cordon',
    summary: 'Uncordon a cluster',
    details: 'The cluster receives changes and can be selected by Placements again.',
    example: '-l region=north',
  },
} as const

function addHolds(cluster: FlotillaCommand, act: Act): void {
  for (const [verb, { command, field, summary, details, example }] of Object.entries(HOLDS)) {
    withYes(withDryRun(cluster.command(verb)))
      .argument('[names...]', 'Names of the clusters. Required unless -l is given')
      .about(summary, details)
      .example(summary, `flotilla cluster ${verb} ${example}`)
      .option('-l, --selector <labels>', 'Select the clusters by label')
      .option(
        '--reason <text>',
        command === 'clusterHold'
          ? 'Reason shown to users who wait for the cluster (required)'
          : 'Reason recorded in the audit log',
      )
      .action(
        act(async (run, words, flags) => {
          const [holding, { askYesNo }, connection] = await Promise.all([
            import('../../commands/cluster/hold.ts'),
            import('../../input/prompt.ts'),
            run.connect(),
          ])
          await holding[command](field, words, { ...run, connection, flags, confirm: askYesNo })
        }),
      )
  }
}

function addDecommission(cluster: FlotillaCommand, act: Act): void {
  withYes(withDryRun(cluster.command('decommission')))
    .argument('<name>', 'Name of the cluster')
    .about(
      'Remove a cluster from the fleet',
      'The hub removes or orphans the Bundles of the cluster, then revokes its access. Give --orphan or --remove.',
    )
    .example('Remove a cluster and keep its workloads', 'flotilla cluster decommission store-7 --orphan')
    .example('Remove a cluster and delete its workloads', 'flotilla cluster decommission store-7 --remove')
    .example('Cancel a decommission that is in progress', 'flotilla cluster decommission store-7 --undo')
    .option('--orphan', 'Keep the workloads on the cluster')
    .option('--remove', 'Delete the workloads as the deletion settings of their Bundles say')
    .option('--force-unreachable', 'Do not wait for an offline cluster. Remaining objects are listed in the status')
    .option('--forget-after <duration>', 'Delete the Cluster this long after its access was revoked, for example 720h')
    .option('--undo', 'Cancel the decommission before the access is revoked')
    .option('--reason <text>', 'Reason recorded on the Cluster')
    .action(
      act(async (run, words, flags) => {
        const [{ clusterDecommission }, { askName, askYesNo }, connection] = await Promise.all([
          import('../../commands/cluster/decommission.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await clusterDecommission(words[0]!, { ...run, connection, flags, confirm: askYesNo, confirmName: askName })
      }),
    )
}
