import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `agent run`. */
export function addAgent(program: FlotillaCommand, act: Act): void {
  const agent = program
    .command('agent')
    .helpGroup(GROUP.start)
    .about(
      'Run an agent',
      'The agent connects one cluster to a hub. In a cluster, it runs from the manifest of "cluster add".',
    )
    .example('Run an agent beside a cluster', 'flotilla agent run --kubeconfig store-1.kubeconfig --data ./agent')
  agent
    .command('run')
    .about(
      'Run an agent outside its cluster',
      'The agent manages the cluster of --kubeconfig FILE. The first start needs a join code from "flotilla cluster add".',
    )
    .example(
      'Join a cluster and run its agent',
      'flotilla agent run --join-file code.txt --kubeconfig store-1.kubeconfig --data ./agent',
    )
    .option(
      '--join <code>',
      'Join code printed by "flotilla cluster add". The first start needs a join code, from here, --join-file or the variable FLOTILLA_JOIN',
    )
    .option(
      '--join-file <file>',
      'File with the join code; - reads standard input. Keeps the code out of the process list',
    )
    .option('--name <cluster>', 'Name of the cluster, for join codes of several clusters')
    .requiredOption('--data <dir>', 'Directory of the keys and the last state of the agent (required)')
    .option('--log-level <level>', 'Log level: debug, info, warn or error', 'info')
    .option('--ceiling <file>', 'File with the local limits of the cluster. If omitted, the agent has no local limits')
    .action(
      act(async (run, _words, flags) => {
        const { agentRun } = await import('../../commands/agent/run.ts')
        return await agentRun(run, flags)
      }),
    )
}

/** `logs`: the log of a cluster's agent. */
export function addLogs(program: FlotillaCommand, act: Act): void {
  program
    .command('logs')
    .helpGroup(GROUP.observe)
    .argument('<cluster>', 'Name of the cluster')
    .about(
      'Print the newest log lines of the agent of a cluster',
      'The hub asks the agent at its next check-in. The hub writes its own log to stderr; the demo shows it with --verbose.',
    )
    .example('Print the last 20 lines of the agent of store-07', 'flotilla logs store-07 --tail 20')
    .option('--tail <n>', 'Number of lines to print. If omitted, all lines that the agent sends')
    .option('--timeout <duration>', 'Maximum time to wait for the agent. Defaults to three check-ins, at least 1m')
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
}
