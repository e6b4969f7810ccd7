import { Option } from 'commander'
import type { Command } from 'commander'
import { collect, withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about clusters: add, accept, reject, revoke. */
export function addClusters(program: Command, act: Act): void {
  const cluster = program.command('cluster').description('add, accept, reject, revoke, hold and cordon clusters')
  cluster
    .command('add')
    .argument('[name]', 'the cluster’s name; or give --pattern')
    .description('make a join token and print the line to paste at the cluster')
    .option('--pattern <glob>', 'for every name like this instead of one name')
    .option('--uses <n>', 'how many clusters may join with it, for patterns', '1')
    .option('-l, --label <key=value>', 'a label the hub stamps on it (repeatable)', collect)
    .addOption(
      new Option('--accept <how>', 'accepted at the first join, by a person, or by where it comes from').choices([
        'auto',
        'manual',
        'networks',
        'rule',
      ]),
    )
    .option('--accept-if <cel>', 'with --accept=rule: CEL over name, labels, address and agentVersion')
    .addOption(
      new Option('--site-class <class>', 'how often it is heard and how much silence is normal there').choices([
        'connected',
        'edge',
        'intermittent',
      ]),
    )
    .option('--proxy <url>', 'the proxy between the cluster and the hub, for the manifest')
    .option('--accept-from <cidr>', 'with --accept=networks: joins from here need no person (repeatable)', collect)
    .option('--network <cidr>', 'the token works from here only (repeatable)', collect)
    .option('--expires <duration>', 'how long the token is valid', '24h')
    .addOption(
      new Option('--profile <rights>', 'what the agent of the manifest may do in its cluster').choices([
        'full',
        'namespaced',
        'read-only',
      ]),
    )
    .option('--agent-namespace <namespace>', 'with --profile=namespaced: where it may work (repeatable)', collect)
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json', 'manifest']).default('text'))
    .action(
      act(async (run, words, flags) => {
        const { clusterAdd } = await import('../../commands/cluster/add.ts')
        await clusterAdd(words[0], { ...run, connection: await run.connect() }, flags)
      }),
    )
  const verbs = {
    accept: ['clusterAccept', 'accept a pending cluster, or one that was turned away'],
    reject: ['clusterReject', 'turn a pending cluster away'],
    revoke: ['clusterRevoke', 'take an accepted cluster’s access away; what runs there stays'],
  } as const
  for (const [verb, [command, description]] of Object.entries(verbs)) {
    const added = withDryRun(cluster.command(verb))
      .argument('<name>')
      .description(description)
      .option('-y, --yes', 'do not ask')
      .option(
        '--reason <text>',
        verb === 'accept' ? 'why; kept in the audit' : 'why, for people; the agent is not told',
      )
    added.action(
      act(async (run, words, flags) => {
        const [admission, { askYesNo }, connection] = await Promise.all([
          import('../../commands/cluster/acceptance.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await admission[command](words[0]!, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
  }
  withDryRun(cluster.command('decommission'))
    .argument('<name>')
    .description('take a cluster out of the fleet for good: its bundles go, then its access')
    .option('--orphan', 'what runs there stays as it is')
    .option('--remove', 'what runs there is deleted, as the bundles say')
    .option('--force-unreachable', 'do not wait for a cluster that is offline; what is left is listed')
    .option('--forget-after <duration>', 'then delete the Cluster so long after its access is gone, such as 720h')
    .option('--undo', 'take it back, before its access is gone')
    .option('--reason <text>', 'why, for people')
    .option('-y, --yes', 'do not ask')
    .action(
      act(async (run, words, flags) => {
        const [{ clusterDecommission }, { askName, askYesNo }, connection] = await Promise.all([
          import('../../commands/cluster/decommission.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await clusterDecommission(words[0]!, {
          ...run,
          connection,
          flags,
          confirm: askYesNo,
          confirmName: askName,
        })
      }),
    )
  const holds = {
    hold: ['clusterHold', 'hold', 'begin nothing new there; what runs is kept and repaired'],
    release: ['clusterRelease', 'hold', 'let it change again'],
    cordon: ['clusterHold', 'cordon', 'the same as hold, and no placement selects it anew'],
    uncordon: ['clusterRelease', 'cordon', 'undo a cordon'],
  } as const
  for (const [verb, [command, field, description]] of Object.entries(holds)) {
    const isHold = command === 'clusterHold'
    const added = withDryRun(cluster.command(verb))
      .argument('[names...]', 'clusters by name')
      .description(description)
      .option('-l, --selector <labels>', 'clusters with these labels')
      .option('-y, --yes', 'do not ask')
      .option('--reason <text>', isHold ? 'why; everybody who waits reads it' : 'why; kept in the audit')
    added.action(
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
