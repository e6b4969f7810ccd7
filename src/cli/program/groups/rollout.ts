import { Option } from 'commander'
import type { Command } from 'commander'
import { collect, withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'

const output = () => new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text')

/** Commands about rollouts. */
export function addRollouts(program: Command, act: Act): void {
  const rollout = program.command('rollout').description('start, approve, watch, pause, resume and abort rollouts')
  const verb = (name: string, argument: string, description: string) =>
    rollout
      .command(name)
      .argument(argument)
      .description(description)
      .option('-n, --namespace <namespace>', 'the namespace')
  const commands = () => import('../../commands/rollout/rollout.ts')
  verb(
    'status',
    '<bundle|rollout>',
    'how it, or the newest one of a bundle, stands, ring by ring; exit 0 when it is through, 5 while it waits for an approval, 8 on its way',
  )
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutStatus }, connection] = await Promise.all([commands(), run.connect()])
        return await rolloutStatus(words[0]!, { ...run, connection, flags })
      }),
    )
  verb(
    'watch',
    '<bundle|rollout>',
    'follow a rollout, or the newest one of a bundle, until it is through, stopped or taken over',
  )
    .option(
      '--exit-status',
      'end with its outcome: 1 when it was stopped, 5 when it waits for an approval and nobody watches',
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
  withDryRun(verb('approve', '<bundle|rollout>', 'say that a ring may open, or with --reject that it may not'))
    .option('--ring <ring>', 'the ring; without it, the first that waits for approval')
    .option('--reason <text>', 'why; kept in the approval')
    .option('--reject', 'hold the ring instead')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutApprove }, connection] = await Promise.all([
          import('../../commands/rollout/approve.ts'),
          run.connect(),
        ])
        await rolloutApprove(words[0]!, { ...run, connection, flags })
      }),
    )
  withDryRun(verb('except', '<bundle|rollout>', 'let it pass windows and freezes that have an exception for you'))
    .option('--as <who=name>', 'role=, group= or user=, as the exception names it')
    .option('--reason <text>', 'why; kept on the rollout')
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutExcept }, connection] = await Promise.all([
          import('../../commands/rollout/except.ts'),
          run.connect(),
        ])
        await rolloutExcept(words[0]!, flags['as'] as string | undefined, { ...run, connection, flags })
      }),
    )
  verb('start', '<bundle>', 'start the newest rollout of a bundle that waits for it')
    .option('--dry-run', 'only show the rings, who is in none, offline or frozen, and how long it takes')
    .option('--reason <text>', 'why')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutStart }, connection] = await Promise.all([commands(), run.connect()])
        await rolloutStart(words[0]!, { ...run, connection, flags })
      }),
    )
  verb('history', '<bundle>', 'the releases of a bundle, newest first')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ rolloutHistory }, connection] = await Promise.all([commands(), run.connect()])
        await rolloutHistory(words[0]!, { ...run, connection, flags })
      }),
    )
  const levers = {
    pause: ['rolloutPause', 'admit nobody else; what was admitted goes on'],
    resume: ['rolloutResume', 'go on'],
    abort: ['rolloutAbort', 'end it: nobody else is ever admitted'],
  } as const
  for (const [name, [command, description]] of Object.entries(levers)) {
    withDryRun(verb(name, '<bundle|rollout>', description))
      .option('--reason <text>', 'why; kept on the rollout')
      .action(
        act(async (run, words, flags) => {
          const [rollouts, connection] = await Promise.all([commands(), run.connect()])
          await rollouts[command](words[0]!, { ...run, connection, flags })
        }),
      )
  }
}

/** Commands that take a change back. */
export function addRollback(program: Command, act: Act): void {
  const commands = () => import('../../commands/rollout/rollback.ts')
  program
    .command('rollback')
    .argument('<bundle|rollout>')
    .description('take a change back to what each cluster ran before; shows who goes where first')
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('--to-release <release>', 'back to this release instead')
    .addOption(
      new Option('--cluster <cluster>', 'only this cluster (repeatable); the others go on')
        .argParser(collect)
        .conflicts('ring'),
    )
    .option('--ring <ring>', 'only this ring; later rings do not get it')
    .option('--reason <text>', 'why; kept in the history and on the mark')
    .option('--dry-run', 'only show who goes where')
    .option('-y, --yes', 'do not ask')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ rollback }, { askYesNo }, { systemClock }, connection] = await Promise.all([
          commands(),
          import('../../input/prompt.ts'),
          import('../../../core/time/system-clock.ts'),
          run.connect(),
        ])
        await rollback(words[0]!, { ...run, connection, flags, confirm: askYesNo, now: () => systemClock.now() })
      }),
    )
  withDryRun(program.command('retry'))
    .argument('<bundle|rollout>')
    .description('let the clusters that failed try again, as the budgets allow')
    .option('-n, --namespace <namespace>', 'the namespace')
    .addOption(new Option('--cluster <cluster>', 'only this cluster (repeatable)').argParser(collect))
    .option('--reason <text>', 'why; kept in the history')
    .action(
      act(async (run, words, flags) => {
        const [{ retry }, { systemClock }, connection] = await Promise.all([
          commands(),
          import('../../../core/time/system-clock.ts'),
          run.connect(),
        ])
        await retry(words[0]!, { ...run, connection, flags, confirm: async () => true, now: () => systemClock.now() })
      }),
    )
  program
    .command('release')
    .description('releases: what moves together')
    .command('lift')
    .argument('<release>')
    .description('take the mark of a change that was taken back away, so that it may come again')
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('--bundle <bundle>', 'only for this bundle')
    .option('--reason <text>', 'why; kept in the audit')
    .action(
      act(async (run, words, flags) => {
        const [{ releaseLift }, connection] = await Promise.all([commands(), run.connect()])
        await releaseLift(words[0]!, { ...run, connection, flags })
      }),
    )
}
