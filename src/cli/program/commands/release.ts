// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { Option } from 'commander'
import { collect, outputOption, withDryRun, withNamespace, withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

const commands = () => import('../../commands/rollout/rollback.ts')

const NAME = 'Name of a rollout, or of a Bundle for its newest rollout'

/** `rollback`, `retry` and `release lift`: which release runs where. */
export function addReleases(program: FlotillaCommand, act: Act): void {
  addRollback(program, act)
  withNamespace(withDryRun(program.command('retry')))
    .helpGroup(GROUP.deliver)
    .argument('<bundle|rollout>', NAME)
    .about('Retry failed clusters', 'The rollout admits the failed clusters again, within the budgets of their rings.')
    .example('Retry all failed clusters', 'flotilla retry shop')
    .example('Retry one cluster', 'flotilla retry shop --cluster store-07')
    .addOption(new Option('--cluster <cluster>', 'Name of a cluster to retry (repeatable)').argParser(collect))
    .option('--reason <text>', 'Reason recorded in the history')
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
  const release = program
    .command('release')
    .helpGroup(GROUP.deliver)
    .about('Lift the mark of a release that was rolled back', 'List releases with "flotilla get releases".')
    .example('Allow a release again', 'flotilla release lift shop-g6')
  withNamespace(withDryRun(release.command('lift')))
    .argument('<release>', 'Name of the release')
    .about(
      'Lift the mark of a release that was rolled back',
      'The hub does not roll out the content of a marked release. After the mark is lifted, it can be rolled out again.',
    )
    .example('Allow a release again', 'flotilla release lift shop-g6 --reason "database was fixed"')
    .option('--bundle <bundle>', 'Lift the mark for this Bundle only')
    .option('--reason <text>', 'Reason recorded in the audit log')
    .action(
      act(async (run, words, flags) => {
        const [{ releaseLift }, connection] = await Promise.all([commands(), run.connect()])
        await releaseLift(words[0]!, { ...run, connection, flags })
      }),
    )
}

function addRollback(program: FlotillaCommand, act: Act): void {
  withYes(withNamespace(program.command('rollback')))
    .helpGroup(GROUP.deliver)
    .argument('<bundle|rollout>', NAME)
    .about(
      'Roll clusters back to the content they ran before',
      'Shows the target of each cluster and asks for confirmation. The release is marked bad until "flotilla release lift".',
    )
    .example('Show the targets of a rollback', 'flotilla rollback shop --dry-run')
    .example('Roll back one ring', 'flotilla rollback shop --ring canary --reason "error rate"')
    .example('Roll back to a given release', 'flotilla rollback shop --to-release shop-g4')
    .option('--to-release <release>', 'Name of the target release. Defaults to what each cluster ran before')
    .addOption(
      new Option('--cluster <cluster>', 'Name of a cluster to roll back (repeatable). The rollout continues elsewhere')
        .argParser(collect)
        .conflicts('ring'),
    )
    .option('--ring <ring>', 'Name of a ring to roll back. Later rings do not receive the release')
    .option('--reason <text>', 'Reason recorded in the history and on the mark')
    .option('--dry-run', 'Only show the target of each cluster')
    .addOption(outputOption('text', 'json'))
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
}
