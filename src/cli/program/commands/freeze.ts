// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption, withDryRun, withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `freeze` and its verbs. */
export function addFreezes(program: FlotillaCommand, act: Act): void {
  const freeze = program
    .command('freeze')
    .helpGroup(GROUP.guard)
    .about(
      'Stop changes for a time',
      'A freeze without a namespace is a ClusterWindow; a freeze with a namespace is a Window.',
    )
    .example('Freeze the fleet for 36 hours', 'flotilla freeze create audit --until 36h --reason "annual audit"')
  const run = (command: 'freezeCreate' | 'freezeLift') =>
    act(async (given, words, flags) => {
      const [freezes, { askYesNo }, connection] = await Promise.all([
        import('../../commands/rollout/freeze.ts'),
        import('../../input/prompt.ts'),
        given.connect(),
      ])
      await freezes[command](words[0]!, { ...given, connection, flags, confirm: askYesNo })
    })
  withDryRun(freeze.command('create'))
    .argument('<name>', 'Name of the freeze')
    .about(
      'Create a freeze',
      'No change starts on the selected clusters until the end of the freeze. Started changes finish, and agents repair drift.',
    )
    .example('Freeze the fleet for 36 hours', 'flotilla freeze create audit --until 36h --reason "annual audit"')
    .example(
      'Freeze a region, except for a role',
      'flotilla freeze create sale --until 2026-12-01T06:00:00+01:00 -l region=north --except role=oncall --reason sale',
    )
    .option('--until <time>', 'End: time with zone, or duration such as 36h (required)')
    .option('--from <time>', 'Start: time with zone, or duration. Defaults to now')
    .option('-l, --selector <labels>', 'Label selector of the clusters. If omitted, all clusters')
    .option('--cluster <name>', 'Name of a cluster (repeatable)', collect)
    .option(
      '--bundle <glob>',
      'Bundles: namespace/name, or names with -n (repeatable). If omitted, all Bundles',
      collect,
    )
    .option('--except <who=name>', 'Exception: role=, group=, user=, bundle= or release= (repeatable)', collect)
    .option('--reason <text>', 'Reason shown to users who wait for the freeze (required)')
    .option('-n, --namespace <namespace>', 'Freeze only the Bundles of this namespace')
    .action(run('freezeCreate'))
  freeze
    .command('list')
    .about('List freezes', 'Active freezes are listed first.')
    .example('List freezes', 'flotilla freeze list')
    .option('-n, --namespace <namespace>', 'List only the freezes of this namespace')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (given, _, flags) => {
        const [{ freezeList }, { askYesNo }, connection] = await Promise.all([
          import('../../commands/rollout/freeze.ts'),
          import('../../input/prompt.ts'),
          given.connect(),
        ])
        await freezeList({ ...given, connection, flags, confirm: askYesNo })
      }),
    )
  withYes(withDryRun(freeze.command('lift')))
    .argument('<name>', 'Name of the freeze')
    .about('Lift a freeze', 'Waiting changes start. Other windows and freezes still apply.')
    .example('Lift a freeze', 'flotilla freeze lift audit --reason "audit finished"')
    .option('-n, --namespace <namespace>', 'Namespace of the freeze. If omitted, the freeze is a ClusterWindow')
    .option('--reason <text>', 'Reason recorded in the audit log')
    .action(run('freezeLift'))
}
