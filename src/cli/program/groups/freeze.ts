import { Option } from 'commander'
import type { Command } from 'commander'
import { collect, withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about freezes. */
export function addFreezes(program: Command, act: Act): void {
  const freeze = program.command('freeze').description('hold changes for a time, see what holds, and lift it')
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
    .argument('<name>')
    .description('begin nothing on clusters until a time')
    .option('--until <time>', 'a time with its zone, or a duration such as 36h')
    .option('--from <time>', 'the same; now without it')
    .option('-l, --selector <labels>', 'clusters with these labels; all without it')
    .option('--cluster <name>', 'a cluster by name (repeatable)', collect)
    .option('--bundle <glob>', 'only these bundles: namespace/name, or with -n names (repeatable)', collect)
    .option('--except <who=name>', 'role=, group=, user=, bundle= or release= passes (repeatable)', collect)
    .option('--reason <text>', 'why; everybody who waits reads it')
    .option('-n, --namespace <namespace>', 'for the bundles of this namespace alone')
    .action(run('freezeCreate'))
  freeze
    .command('list')
    .description('freezes, those that hold first')
    .option('-n, --namespace <namespace>', 'those of a namespace')
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text'))
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
  withDryRun(freeze.command('lift'))
    .argument('<name>')
    .description('take a freeze away: what waits begins')
    .option('-n, --namespace <namespace>', 'one of this namespace')
    .option('--reason <text>', 'why; kept in the audit')
    .option('-y, --yes', 'do not ask')
    .action(run('freezeLift'))
}
