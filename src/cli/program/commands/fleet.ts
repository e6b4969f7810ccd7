// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { outputOption } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `status`: the fleet on one screen. */
export function addStatus(program: FlotillaCommand, act: Act): void {
  program
    .command('status')
    .helpGroup(GROUP.observe)
    .about(
      'Show the fleet on one screen',
      'Prints the clusters by state, the rollouts in progress, active freezes and the next command to run.',
    )
    .example('Show the fleet', 'flotilla status')
    .example('Print the same data for a script', 'flotilla status -o json')
    .example('Show one namespace', 'flotilla status -n shop')
    .option('-n, --namespace <namespace>', 'Namespace. If omitted, all namespaces')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ status }, connection] = await Promise.all([import('../../commands/observe/status.ts'), run.connect()])
        await status({ ...run, connection, flags })
      }),
    )
}

/** `events`, `tree` and `trace`: what happened and why. */
export function addObserve(program: FlotillaCommand, act: Act): void {
  program
    .command('events')
    .helpGroup(GROUP.observe)
    .about('List the events of the last hour', 'The newest event is printed last.')
    .example('List warnings', 'flotilla events --warnings')
    .example('Follow the events of one rollout', 'flotilla events --for rollout/shop-g2 -w')
    .option('-n, --namespace <namespace>', 'Namespace. If omitted, all namespaces')
    .option('--for <kind/name>', 'Object of the events, for example rollout/shop-g2 or cluster/store-1')
    .option('--warnings', 'List warnings only')
    .option('-w, --watch', 'Continue with new events')
    .addOption(outputOption('table', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ events }, connection] = await Promise.all([import('../../commands/observe/events.ts'), run.connect()])
        await events({ ...run, connection, flags })
      }),
    )
  program
    .command('tree')
    .helpGroup(GROUP.observe)
    .argument('[bundle]', 'Name of a Bundle. If omitted, all Bundles')
    .about(
      'Show Sources, their Bundles and rollouts as a tree',
      'For each Bundle, the tree has its Placement and the rings of its newest rollout.',
    )
    .example('Show one Bundle', 'flotilla tree shop')
    .option('-n, --namespace <namespace>', 'Namespace. If omitted, all namespaces')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ tree }, connection] = await Promise.all([import('../../commands/observe/tree.ts'), run.connect()])
        await tree(words, { ...run, connection, flags })
      }),
    )
  program
    .command('trace')
    .helpGroup(GROUP.observe)
    .argument('<kind/name>', 'Object in the cluster, for example deployment/web')
    .about(
      'Trace an object in a cluster to its commit',
      'Prints the Bundle, rollout, Source and commit of the object, and its state.',
    )
    .example('Trace a Deployment in store-07', 'flotilla trace deployment/shop -c store-07')
    .requiredOption('-c, --cluster <name>', 'Name of the cluster (required)')
    .option('-n, --namespace <namespace>', 'Namespace of the object in the cluster')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ trace }, connection] = await Promise.all([import('../../commands/observe/trace.ts'), run.connect()])
        await trace(words, { ...run, connection, flags: flags as never })
      }),
    )
}

/** `compliance`: which clusters comply with their Policies. */
export function addCompliance(program: FlotillaCommand, act: Act): void {
  program
    .command('compliance')
    .helpGroup(GROUP.observe)
    .about(
      'Show which clusters comply with their Policies',
      'Counts clusters by state, or lists one line for each Policy and cluster if --policy, --cluster, --state, --duty or --not-since is given without --by. Clusters that are offline, not selected or not evaluated are never counted as compliant. For --as-of, the caller needs the verb create on clusters/compliance in the group view.flotilla.dev, for example by the role flotilla:auditor.',
    )
    .example('Count clusters by Policy', 'flotilla compliance')
    .example('Count by control of a standard', 'flotilla compliance --by control --standard "NIST SP 800-53"')
    .example('List clusters that have not complied for a day', 'flotilla compliance --not-since 24h')
    .example('Write a report of one Policy for an auditor', 'flotilla compliance --policy quotas -o csv')
    .example('List clusters that did not comply by their deadline', 'flotilla compliance --duty overdue')
    .example('Sum the results of Kyverno and Gatekeeper by namespace', 'flotilla compliance --results --by namespace')
    .example('Show the state at the end of a day', 'flotilla compliance --as-of 2026-11-18')
    .option('-n, --namespace <namespace>', 'Namespace of the Policies; with --results, of the objects. If omitted, all')
    .option(
      '--by <group>',
      'Group of the counts: policy, set, cluster, standard or control; with --results, policy, severity, namespace, cluster, category or engine. Defaults to policy',
    )
    .option('--policy <name>', 'Name of a Policy, or of a policy of an engine')
    .option('--set <name>', 'Name of a PolicySet')
    .option('-c, --cluster <name>', 'Name of a cluster')
    .option('--standard <name>', 'Standard, as in the annotation policy.open-cluster-management.io/standards')
    .option('--control <name>', 'Control, as in the annotation policy.open-cluster-management.io/controls')
    .option('--state <state>', 'State: Compliant, NonCompliant, Pending, Unknown, Offline or NotSelected')
    .option('--as-of <time>', 'Earlier time, such as 2026-11-18 or 7d. Reads the history of 400 days')
    .option('--duty <state>', 'State of a duty with a deadline: Overdue, Open, Late, Met or Any')
    .option('--results', 'Count results of the policy engines in clusters, such as Kyverno and Gatekeeper')
    .option('--engine <name>', 'With --results: policy engine, such as kyverno or gatekeeper')
    .option('--severity <word>', 'With --results: critical, high, medium, low or info')
    .option('--not-since <time>', 'Clusters that do not comply since this time, or for this duration, such as 24h')
    .addOption(outputOption('table', 'json', 'csv', 'markdown'))
    .action(
      act(async (run, _words, flags) => {
        const [{ compliance }, connection] = await Promise.all([
          import('../../commands/compliance/compliance.ts'),
          run.connect(),
        ])
        await compliance({ terminal: run.terminal, connection, flags })
      }),
    )
}

/** `top`: the fleet on a full screen. */
export function addTop(program: FlotillaCommand, act: Act): void {
  program
    .command('top')
    .helpGroup(GROUP.observe)
    .about(
      'Follow the fleet on a full screen',
      'Shows clusters by ring, rollouts in progress and what needs a person, and follows the hub. Keys open clusters and rollouts, pause and resume rollouts, approve rings, accept clusters and trace objects to their commit; ? lists the keys. Needs a terminal; for a script, use "flotilla status -o json".',
    )
    .example('Follow the fleet', 'flotilla top')
    .example('Follow one namespace', 'flotilla top -n shop')
    .option('-n, --namespace <namespace>', 'Namespace. If omitted, all namespaces')
    .action(
      act(async (run, _words, flags) => {
        const [{ top }, { connect }, connection] = await Promise.all([
          import('../../commands/top/top.ts'),
          import('../../api/connect.ts'),
          run.connect(),
        ])
        // What a second connection says would be written over the screen.
        const connectFor = async (reason: string) =>
          await connect({ ...flags, reason }, run.environment, { say: () => {} })
        return await top({ ...run, connection, connectFor, flags })
      }),
    )
}
