import { Option } from 'commander'
import type { Command } from 'commander'
import { collect, withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about objects of the API: status, get, apply, delete. */
export function addObjects(program: Command, act: Act): void {
  program
    .command('status')
    .description('the fleet on one screen: clusters by state, what is moving, what needs somebody')
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text'))
    .action(
      act(async (run, _words, flags) => {
        const [{ status }, connection] = await Promise.all([import('../../commands/observe/status.ts'), run.connect()])
        await status({ ...run, connection, flags })
      }),
    )
  program
    .command('get')
    .argument('<kind>', 'clusters, bundles, rollouts … or KIND/NAME')
    .argument('[names...]')
    .description('show objects')
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-o, --output <format>', 'table, wide, yaml, json, name, csv or jsonpath=TEMPLATE', 'table')
    .option('-l, --selector <selector>', 'only objects with these labels')
    .option('--field-selector <selector>', 'only objects with these fields')
    .option('-w, --watch', 'go on with every change')
    .option('--state <states>', 'only rows in these states, such as failed,offline')
    .option('--sort-by <column>', 'order of the rows: a column’s name, or a path such as .metadata.creationTimestamp')
    .option('--limit <n>', 'at most so many rows')
    .option('--continue <token>', 'go on where --limit stopped')
    .option('--no-headers', 'no header line')
    .option('--show-labels', 'a column with the labels')
    .option('--show-managed-fields', 'keep managedFields in yaml and json')
    .action(
      act(async (run, words, flags) => {
        const [{ get }, connection] = await Promise.all([import('../../commands/objects/get.ts'), run.connect()])
        await get(words, { ...run, connection, flags: flags as never })
      }),
    )
  program
    .command('apply')
    .description('server-side apply of files')
    .requiredOption('-f, --filename <file>', 'a YAML or JSON file, or - for stdin (repeatable)', collect)
    .option('-n, --namespace <namespace>', 'for objects that name none')
    .option('--force-conflicts', 'take over fields that others manage')
    .option('--dry-run <where>', 'server: check it there and store nothing')
    .option('--reason <text>', 'why; kept in the audit')
    .option('--field-manager <name>', 'the name under which fields are managed', 'flotilla-cli')
    .action(
      act(async (run, _words, flags) => {
        const [{ apply }, connection] = await Promise.all([import('../../commands/objects/apply.ts'), run.connect()])
        await apply({ ...run, connection, flags: flags as never })
      }),
    )
  withDryRun(program.command('delete'))
    .argument('[words...]', 'KIND NAME… or KIND/NAME…')
    .description('delete objects')
    .option('-f, --filename <file>', 'the objects of this file (repeatable)', collect)
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('-y, --yes', 'do not ask')
    .option('--reason <text>', 'why; kept in the audit')
    .option('--ignore-not-found', 'what is gone already is fine')
    .action(
      act(async (run, words, flags) => {
        const [{ deleteObjects }, { askName, askYesNo }, connection] = await Promise.all([
          import('../../commands/objects/delete.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await deleteObjects(words, { ...run, connection, flags, confirm: askYesNo, confirmName: askName })
      }),
    )
}
