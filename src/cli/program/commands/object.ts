// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, withDryRun, withNamespace, withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `get`: objects of the API. */
export function addGet(program: FlotillaCommand, act: Act): void {
  withNamespace(program.command('get'))
    .helpGroup(GROUP.observe)
    .argument('<kind>', 'Kind such as clusters, bundles or rollouts, or KIND/NAME')
    .argument('[names...]', 'Names of objects. If omitted, all objects of the kind')
    .about(
      'List objects',
      'The kinds and columns are the same as in "kubectl get". For field descriptions use "kubectl explain".',
    )
    .example('List the clusters', 'flotilla get clusters')
    .example(
      'List failed and offline clusters with their messages',
      'flotilla get clusters --state failed,offline -o wide',
    )
    .example('Print one Bundle', 'flotilla get bundle shop -o yaml')
    .example('Follow the rollouts of all namespaces', 'flotilla get rollouts -A -w')
    .option('-A, --all-namespaces', 'List objects of all namespaces')
    .option('-o, --output <format>', 'Output format: table, wide, yaml, json, name, csv or jsonpath=TEMPLATE', 'table')
    .option('-l, --selector <selector>', 'Label selector')
    .option('--field-selector <selector>', 'Field selector')
    .option('-w, --watch', 'Continue with changes')
    .option('--state <states>', 'States of the rows to show, separated by commas, for example failed,offline')
    .option('--sort-by <column>', 'Column name, or path such as .metadata.creationTimestamp, to sort by')
    .option('--limit <n>', 'Maximum number of rows')
    .option('--continue <token>', 'Token printed by --limit, to continue the list')
    .option('--no-headers', 'Omit the header line')
    .option('--show-labels', 'Add a column with the labels')
    .option('--show-managed-fields', 'Keep managedFields in yaml and json')
    .action(
      act(async (run, words, flags) => {
        const [{ get }, connection] = await Promise.all([import('../../commands/objects/get.ts'), run.connect()])
        await get(words, { ...run, connection, flags: flags as never })
      }),
    )
}

/** `apply` and `delete`. */
export function addWrites(program: FlotillaCommand, act: Act): void {
  program
    .command('apply')
    .helpGroup(GROUP.deliver)
    .about('Apply objects from files', 'Uses server-side apply. Objects that exist are updated.')
    .example('Apply a file', 'flotilla apply -f shop.yaml')
    .example('Apply all files of a directory', 'flotilla apply -f fleet/')
    .example('Let the hub validate a file', 'flotilla apply -f shop.yaml --dry-run')
    .requiredOption(
      '-f, --filename <file>',
      'YAML or JSON file, a directory of such files, or - for stdin (required, repeatable)',
      collect,
    )
    .option('-n, --namespace <namespace>', 'Namespace of objects without metadata.namespace')
    .option('--force-conflicts', 'Take over fields of other field managers')
    .option('--dry-run [where]', 'Let the hub validate the objects without storing them (server, the default)')
    .option('--reason <text>', 'Reason recorded in the audit log')
    .option('--field-manager <name>', 'Name of the field manager', 'flotilla-cli')
    .action(
      act(async (run, _words, flags) => {
        const [{ apply }, connection] = await Promise.all([import('../../commands/objects/apply.ts'), run.connect()])
        await apply({ ...run, connection, flags: flags as never })
      }),
    )
  withYes(withNamespace(withDryRun(program.command('delete'))))
    .helpGroup(GROUP.deliver)
    .argument('[words...]', 'KIND NAME… or KIND/NAME…')
    .about(
      'Delete objects',
      'The command first prints the effect on clusters and asks for confirmation. To remove a cluster, use "flotilla cluster decommission".',
    )
    .example('Delete a Bundle and remove it from its clusters', 'flotilla delete bundle shop')
    .example('Show the effect without deleting', 'flotilla delete bundle shop --dry-run')
    .option('-f, --filename <file>', 'File with the objects to delete (repeatable)', collect)
    .option('--reason <text>', 'Reason recorded in the audit log')
    .option('--ignore-not-found', 'Do not fail for objects that do not exist')
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
