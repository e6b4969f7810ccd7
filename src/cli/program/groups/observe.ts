import { Option } from 'commander'
import type { Command } from 'commander'
import type { Act } from '../command-action.ts'

const output = () => new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text')

/** Commands that show what happened and why: events, logs, tree, trace. */
export function addObserve(program: Command, act: Act): void {
  program
    .command('events')
    .description('what happened in the last hour, the newest last')
    .option('-n, --namespace <namespace>', 'only of this namespace')
    .option('--for <kind/name>', 'only about this object, such as rollout/hello-g2 or cluster/store-1')
    .option('--warnings', 'only warnings')
    .option('-w, --watch', 'go on with what happens')
    .addOption(new Option('-o, --output <format>', 'output').choices(['table', 'json']).default('table'))
    .action(
      act(async (run, _words, flags) => {
        const [{ events }, connection] = await Promise.all([import('../../commands/observe/events.ts'), run.connect()])
        await events({ ...run, connection, flags })
      }),
    )
  program
    .command('logs')
    .argument('<cluster>')
    .description('the newest lines of the log of a cluster’s agent, asked for at its next check-in')
    .option('--tail <n>', 'only the last n')
    .option('--timeout <duration>', 'how long to wait for them (default: three check-ins, at least 1m)')
    .addHelpText('after', '\nThe hub itself logs where it runs, to stderr; the demo shows it with --verbose.')
    .action(
      act(async (run, words, flags) => {
        const [{ logs }, { systemClock }, connection] = await Promise.all([
          import('../../commands/agent/logs.ts'),
          import('../../../core/time/system-clock.ts'),
          run.connect(),
        ])
        await logs(words[0]!, { ...run, connection, clock: systemClock, flags })
      }),
    )
  program
    .command('tree')
    .argument('[bundle]', 'only this bundle')
    .description('which source feeds which bundles, where they go, and how far their newest rollout is')
    .option('-n, --namespace <namespace>', 'only of this namespace')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ tree }, connection] = await Promise.all([import('../../commands/observe/tree.ts'), run.connect()])
        await tree(words, { ...run, connection, flags })
      }),
    )
  program
    .command('trace')
    .argument('<kind/name>', 'an object in the cluster, such as deployment/web')
    .description('why an object in a cluster is as it is: its bundle, rollout and commit')
    .requiredOption('-c, --cluster <name>', 'the cluster')
    .option('-n, --namespace <namespace>', 'the namespace of the object in the cluster')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ trace }, connection] = await Promise.all([import('../../commands/observe/trace.ts'), run.connect()])
        await trace(words, { ...run, connection, flags: flags as never })
      }),
    )
}
