import type { Command } from 'commander'
import type { Act } from '../command-action.ts'

/** What can be played in a running demo. */
const SITUATIONS: readonly { readonly name: string; readonly target?: string; readonly description: string }[] = [
  { name: 'release', description: 'commit a new version of the app' },
  { name: 'break', target: 'cluster', description: 'let a store fail: it cannot pull images' },
  { name: 'offline', target: 'cluster', description: 'cut the line to a store' },
  { name: 'drift', target: 'cluster', description: 'let somebody edit an object in a store' },
  { name: 'bad-overlay', target: 'region', description: 'commit an overlay of a region that cannot be built' },
  {
    name: 'slow-pull',
    target: 'region',
    description: 'let images arrive slowly in a region, and commit a new version',
  },
  { name: 'page', description: 'print a new address of the live page: each signs one browser in' },
]

/** Commands about hubs, agents and the demo; and login. */
export function addHubAndDemo(program: Command, act: Act): void {
  const demo = program
    .command('demo')
    .description('a hub, sixty simulated clusters and their agents on this machine')
    .option('--check', 'prove that it works and exit')
    .option('--data <dir>', 'keep the hub’s data here (default: in the directory of the demo)')
    .option('--keep', 'go on the next time with what there is at the end')
    .option('--reset', 'forget what was kept; with --keep, and begin anew')
    .option('--clusters <n>', 'how many clusters (default: 60; with --check 3)')
    .option('--timeout <seconds>', 'how long --check may take', '120')
    .option('--verbose', 'show the hub’s and the agents’ log')
    .action(
      act(async (run, _words, flags) => {
        const { demo } = await import('../../commands/demo/demo.ts')
        return await demo(run, flags)
      }),
    )
  for (const { name, target, description } of SITUATIONS) {
    const command = demo.command(name).description(description)
    if (target) command.argument(`[${target}]`)
    if (target) command.option('--undo', 'end it')
    command.action(
      act(async (run, [place], flags) => {
        const { demoPlay } = await import('../../commands/demo/play-situation.ts')
        return await demoPlay({ situation: name, target: place, undo: flags['undo'] === true }, run)
      }),
    )
  }
  const hub = program.command('hub').description('run a hub, and open its live page')
  hub
    .command('run')
    .description('a hub, embedded in a directory or with its home on a Kubernetes API')
    .option('--data <dir>', 'the directory of keys, database and blobs (made if missing)')
    .option('--listen <host:port>', 'the API (default 127.0.0.1:7443; port 0 picks a free one)')
    .option(
      '--view-url <url>',
      'with --kubeconfig: the address by which its kube-apiserver reaches --listen (default: that of the listener)',
    )
    .option('--gateway-listen <host:port>', 'the door for agents (default 0.0.0.0:7444)')
    .option(
      '--gateway-url <url>',
      'the address agents reach the gateway at (default: https://HOST:PORT of the listener)',
    )
    .option('--console-listen <host:port>', 'the live page (default 127.0.0.1:7480)')
    .option('--metrics-listen <host:port>', 'also serve /metrics here, plain http (default: at the live page only)')
    .option(
      '--gate-hosts <hosts>',
      'hosts, separated by commas, that gates of rollouts may ask (default: any over https)',
    )
    .option('--webhook-listen <host:port>', 'where git servers say that there is news (default: nowhere)')
    .option('--source-paths <dirs>', 'directories below which Sources may name local repositories (default: none)')
    .option('--dialects <names>', 'other systems whose kinds are served: fleet (default: none)')
    .option('--config <file>', 'a YAML file with these settings; environment and flags win over it')
    .option('--log-level <level>', 'debug, info, warn or error')
    .option('--print-config', 'print the settings and where each comes from, and exit')
    .addHelpText('after', '\n--kubeconfig FILE puts the home on the cluster of FILE instead of DIR.')
    .action(
      act(async (run, _words, flags) => {
        const { hubRun } = await import('../../commands/hub/run.ts')
        return await hubRun(run, flags)
      }),
    )
  hub
    .command('sign-in')
    .description('print a new address of the live page of a hub that runs on this machine: each signs one browser in')
    .requiredOption('--data <dir>', 'the data directory of the hub')
    .action(
      act(async (run, _words, flags) => {
        const { hubSignIn } = await import('../../commands/hub/sign-in.ts')
        await hubSignIn(String(flags['data']), run)
      }),
    )
  program
    .command('login')
    .argument('[server]', 'https://HOST:PORT of the hub’s API')
    .description('prove who you are to a hub, and keep that as a context of your kubeconfig')
    .option('--token-file <file>', 'your token, or - for stdin; it is kept in a file that only you can read')
    .option('--ca <file>', 'the CA of the hub’s API (PEM); those of this machine without it')
    .option('--from <kubeconfig>', 'take all of this from the current context of a kubeconfig somebody gave you')
    .option('--current', 'also make it the context that kubectl uses')
    .option('-y, --yes', 'do not ask before a context is replaced')
    .addHelpText('after', '\n--kubeconfig FILE is the file to write, --context NAME the name there (flotilla).')
    .action(
      act(async (run, words, flags) => {
        const [{ login }, { askYesNo }] = await Promise.all([
          import('../../commands/hub/login.ts'),
          import('../../input/prompt.ts'),
        ])
        await login(words[0], { ...run, flags, confirm: askYesNo })
      }),
    )
  const agent = program.command('agent').description('run an agent')
  agent
    .command('run')
    .description('an agent beside the cluster of --kubeconfig FILE')
    .option('--join <code>', 'the code that `flotilla cluster add` printed; needed at the first start')
    .option('--name <cluster>', 'the name to join under, for codes made for several clusters')
    .requiredOption('--data <dir>', 'the directory of the agent’s keys and its last state')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .option('--ceiling <file>', 'what this cluster’s own people allow; everything when not given')
    .action(
      act(async (run, _words, flags) => {
        const { agentRun } = await import('../../commands/agent/run.ts')
        return await agentRun(run, flags)
      }),
    )
}
