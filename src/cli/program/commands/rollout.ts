// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { outputOption, withDryRun, withNamespace } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

const commands = () => import('../../commands/rollout/rollout.ts')

const NAME = 'Name of a rollout, or of a Bundle for its newest rollout'

/** `rollout` and its verbs. */
export function addRollouts(program: FlotillaCommand, act: Act): void {
  const rollout = program
    .command('rollout')
    .helpGroup(GROUP.deliver)
    .about('Start, approve, watch, pause and abort rollouts', 'List rollouts with "flotilla get rollouts".')
    .example('Watch the newest rollout of a Bundle', 'flotilla rollout watch shop')
  addProgress(rollout, act)
  addPermissions(rollout, act)
  addLevers(rollout, act)
}

function addProgress(rollout: FlotillaCommand, act: Act): void {
  withNamespace(rollout.command('status'))
    .argument('<bundle|rollout>', NAME)
    .about(
      'Show the progress of a rollout by ring',
      'Exits with 0 if the rollout is completed, with 1 if it was stopped, with 5 if it waits for an approval, and with 8 if it is in progress.',
    )
    .example('Show the newest rollout of a Bundle', 'flotilla rollout status shop')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutStatus }, connection] = await Promise.all([commands(), run.connect()])
        return await rolloutStatus(words[0]!, { ...run, connection, flags })
      }),
    )
  withNamespace(rollout.command('watch'))
    .argument('<bundle|rollout>', NAME)
    .about('Watch a rollout', 'The command ends when the rollout is completed, stopped or superseded.')
    .example('Wait for a rollout in a pipeline', 'flotilla rollout watch shop --exit-status')
    .option(
      '--exit-status',
      'Exit with 1 if the rollout was stopped, and with 5 if it waits for an approval and stdout is not a terminal',
    )
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutWatch }, connection] = await Promise.all([
          import('../../commands/rollout/watch.ts'),
          run.connect(),
        ])
        return await rolloutWatch(words[0]!, { ...run, connection, flags })
      }),
    )
  withNamespace(rollout.command('history'))
    .argument('<bundle>', 'Name of the Bundle')
    .about('List the releases of a Bundle', 'The newest release is listed first.')
    .example('List the releases of a Bundle', 'flotilla rollout history shop')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutHistory }, connection] = await Promise.all([commands(), run.connect()])
        await rolloutHistory(words[0]!, { ...run, connection, flags })
      }),
    )
}

function addPermissions(rollout: FlotillaCommand, act: Act): void {
  withNamespace(withDryRun(rollout.command('approve')))
    .argument('<bundle|rollout>', NAME)
    .about('Approve or reject a ring', 'A ring with approvals starts only after the required number of approvals.')
    .example('Approve the ring that waits', 'flotilla rollout approve shop --reason "checked the canary"')
    .example('Reject a ring', 'flotilla rollout approve shop --ring early --reject --reason "error rate"')
    .option('--ring <ring>', 'Name of the ring. Defaults to the first ring that waits for an approval')
    .option('--reason <text>', 'Reason recorded in the Approval')
    .option('--reject', 'Reject the ring instead of approving it')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutApprove }, connection] = await Promise.all([
          import('../../commands/rollout/approve.ts'),
          run.connect(),
        ])
        await rolloutApprove(words[0]!, { ...run, connection, flags })
      }),
    )
  withNamespace(withDryRun(rollout.command('except')))
    .argument('<bundle|rollout>', NAME)
    .about(
      'Use an exception for a rollout',
      'The rollout passes windows and freezes that have an exception for the given role, group or user.',
    )
    .example('Use the exception of a role', 'flotilla rollout except shop --as role=oncall --reason "outage 4711"')
    .option('--as <who=name>', 'Subject of the exception: role=, group= or user= (required)')
    .option('--reason <text>', 'Reason recorded on the Rollout')
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutExcept }, connection] = await Promise.all([
          import('../../commands/rollout/except.ts'),
          run.connect(),
        ])
        await rolloutExcept(words[0]!, flags['as'] as string | undefined, { ...run, connection, flags })
      }),
    )
}

const LEVERS = {
  pause: {
    command: 'rolloutPause',
    summary: 'Pause a rollout',
    details: 'Clusters that were already admitted continue.',
    example: 'shop --reason "waiting for the vendor"',
  },
  resume: {
    command: 'rolloutResume',
    summary: 'Resume a paused rollout',
    details: 'The rollout admits clusters again.',
    example: 'shop',
  },
  abort: {
    command: 'rolloutAbort',
    summary: 'Abort a rollout',
    details:
      'The rollout never admits another cluster. Clusters that were already admitted continue and keep the release.',
    example: 'shop --reason "wrong image"',
  },
} as const

function addLevers(rollout: FlotillaCommand, act: Act): void {
  withNamespace(rollout.command('start'))
    .argument('<bundle>', 'Name of the Bundle')
    .about(
      'Start the newest rollout of a Bundle',
      'For rollouts that wait for a manual start. With --dry-run, previews the rings and the duration.',
    )
    .example('Preview a rollout', 'flotilla rollout start shop --dry-run')
    .option('--dry-run', 'Only show the rings, the clusters without ring, offline or frozen, and the expected duration')
    .option('--reason <text>', 'Reason recorded on the Rollout')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutStart }, connection] = await Promise.all([commands(), run.connect()])
        await rolloutStart(words[0]!, { ...run, connection, flags })
      }),
    )
  for (const [name, { command, summary, details, example }] of Object.entries(LEVERS)) {
    withNamespace(withDryRun(rollout.command(name)))
      .argument('<bundle|rollout>', NAME)
      .about(summary, details)
      .example(summary, `flotilla rollout ${name} ${example}`)
      .option('--reason <text>', 'Reason recorded on the Rollout')
      .action(
        act(async (run, words, flags) => {
          const [rollouts, connection] = await Promise.all([commands(), run.connect()])
          await rollouts[command](words[0]!, { ...run, connection, flags })
        }),
      )
  }
}
