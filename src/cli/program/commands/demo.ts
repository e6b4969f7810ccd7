// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** A situation that a running demo can play. */
interface Situation {
  readonly name: string
  readonly target?: 'cluster' | 'region'
  readonly summary: string
  readonly details: string
  /** Arguments of the example. */
  readonly example: string
}

const SITUATIONS: readonly Situation[] = [
  {
    name: 'release',
    summary: 'Commit a new version of the shop application',
    details: 'The hub renders the commit and starts a rollout. Ring "early" waits for an approval.',
    example: '',
  },
  {
    name: 'break',
    target: 'cluster',
    summary: 'Make a store fail',
    details: 'The store can no longer pull images, so its Deployment fails.',
    example: ' store-07',
  },
  {
    name: 'offline',
    target: 'cluster',
    summary: 'Cut the connection between a store and the hub',
    details: 'The agent of the store continues to run and repairs drift without the hub.',
    example: ' store-07',
  },
  {
    name: 'drift',
    target: 'cluster',
    summary: 'Edit an object in a store by hand',
    details: 'The agent reports the edited field as drift.',
    example: ' store-07',
  },
  {
    name: 'bad-overlay',
    target: 'region',
    summary: 'Commit an overlay that cannot be rendered for a region',
    details: 'The clusters of the region keep their content.',
    example: ' south',
  },
  {
    name: 'slow-pull',
    target: 'region',
    summary: 'Slow down image pulls in a region and commit a new version',
    details: 'The rollout waits for the clusters of the region.',
    example: ' north',
  },
  {
    name: 'page',
    summary: 'Print a new address of the console',
    details: 'Each address signs in one browser.',
    example: '',
  },
]

/** `demo` and the situations of a running demo. */
export function addDemo(program: FlotillaCommand, act: Act): void {
  const demo = program
    .command('demo')
    .helpGroup(GROUP.start)
    .about(
      'Run a hub and sixty simulated clusters on this machine',
      'The demo runs until Ctrl-C. Its subcommands play situations in a demo that runs in another terminal.',
    )
    .example('Run the demo', 'flotilla demo')
    .example('Prove that the demo works, then exit', 'flotilla demo --check')
    .example('In another terminal, commit a new version', 'flotilla demo release')
    .option('--check', 'Prove that the demo works, then exit')
    .option('--build-console', 'Build the console in the background once the demo runs, if this is a clone')
    .option('--data <dir>', 'Data directory of the hub. Defaults to the directory of the demo')
    .option('--keep', 'Keep the state at the end and continue from it at the next start')
    .option('--reset', 'Delete the kept state. With --keep, start again from an empty state')
    .option('--clusters <n>', 'Number of clusters. Defaults to 60, with --check to 3')
    .option('--timeout <seconds>', 'Maximum duration of --check in seconds', '120')
    .option('--verbose', 'Show the logs of the hub and the agents')
    .action(
      act(async (run, _words, flags) => {
        const { demo } = await import('../../commands/demo/demo.ts')
        return await demo(run, flags)
      }),
    )
  for (const { name, target, summary, details, example } of SITUATIONS) {
    const command = demo.command(name).about(summary, details).example(summary, `flotilla demo ${name}${example}`)
    if (target) {
      command
        .argument(`[${target}]`, `Name of the ${target}. If omitted, the demo chooses one`)
        .option('--undo', 'End the situation')
        .example('End the situation', `flotilla demo ${name}${example} --undo`)
    }
    command.action(
      act(async (run, [place], flags) => {
        const { demoPlay } = await import('../../commands/demo/play-situation.ts')
        return await demoPlay({ situation: name, target: place, undo: flags['undo'] === true }, run)
      }),
    )
  }
}
