// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { Option } from 'commander'
import { collect, outputOption } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `check`, `audit` and `support-bundle`: diagnosis of a hub. */
export function addDiagnosis(program: FlotillaCommand, act: Act): void {
  program
    .command('check')
    .helpGroup(GROUP.operate)
    .argument('[cluster]', 'Name of a cluster. If omitted, the hub is checked')
    .about(
      'Check the hub, a cluster, this machine or an agent',
      'Each failed check names a section of the documentation. Exits with 1 if a check fails.',
    )
    .example('Check the hub', 'flotilla check')
    .example('Check a cluster', 'flotilla check store-07')
    .example('Check the agent on this machine', 'flotilla check --agent --data ./agent --kubeconfig store-1.kubeconfig')
    .option('--hub', 'Check the hub. This is the default')
    .addOption(new Option('--pre', 'Check what this machine needs to run a hub or an agent').conflicts('hub'))
    .addOption(
      new Option('--agent', 'Check the agent on this machine. --kubeconfig is the one of its cluster').conflicts([
        'hub',
        'pre',
      ]),
    )
    .option('--data <dir>', 'With --agent: data directory of the agent')
    .addOption(
      new Option('-o, --output <format>', 'Output format. "short" shows only checks that did not pass')
        .choices(['table', 'short', 'json'])
        .default('table'),
    )
    .option('--wait <duration>', 'Repeat the checks until none fails, at most for this long')
    .action(
      act(async (run, words, flags) => {
        const { check } = await import('../../commands/hub/check.ts')
        return await check(words[0], { ...run, flags: flags as never })
      }),
    )
  program
    .command('audit')
    .helpGroup(GROUP.operate)
    .about('List the audit log of the hub', 'Each record names the user, the verb, the object and the reason.')
    .example('List the last changes made by people', 'flotilla audit --people --tail 20')
    .example('Verify the hash chain of the log', 'flotilla audit --verify')
    .example('Verify the hash chain and its signed checkpoints', 'flotilla audit --verify --root-key trust.json')
    .example('Send all records to another system', 'flotilla audit --follow --tail 0 -o json')
    .option('--after <sequence>', 'List only records after this sequence number')
    .option('--tail <n>', 'Number of records to list', '50')
    .option('--people', 'Omit changes that the hub made')
    .option('--verify', 'Read all records and verify their hash chain and the signed checkpoints')
    .option('--root-key <file>', 'Public root key, to verify the signatures of checkpoints (with --verify)')
    .option('--follow', 'Continue to print records as the hub writes them, until interrupted')
    .addOption(outputOption('table', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ audit }, connection] = await Promise.all([import('../../commands/hub/audit.ts'), run.connect()])
        await audit({ ...run, connection, flags })
      }),
    )
  program
    .command('support-bundle')
    .helpGroup(GROUP.operate)
    .argument('[file]', 'Archive to create. It must not exist. Defaults to flotilla-support-TIME.tar.gz')
    .about('Collect diagnostics of a hub into one archive', 'Secrets and workload content are excluded.')
    .example('Collect diagnostics of the hub and one cluster', 'flotilla support-bundle --cluster store-07')
    .option('--cluster <name>', 'Name of a cluster to include (repeatable)', collect)
    .action(
      act(async (run, words, flags) => {
        const { supportBundle } = await import('../../commands/hub/support-bundle.ts')
        await supportBundle(words, { ...run, flags })
      }),
    )
}

/** `backup` and `restore`. */
export function addBackups(program: FlotillaCommand, act: Act): void {
  program
    .command('backup')
    .helpGroup(GROUP.operate)
    .argument('<file>', 'Backup file to create. It must not exist')
    .about(
      'Back up the database and blobs of a hub into one file',
      'The hub can continue to run. The backup never contains the keys of the hub.',
    )
    .example('Back up a hub', 'flotilla backup hub.backup --data ./hub-data')
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const { backup } = await import('../../commands/hub/backup.ts')
        await backup(run, words[0]!, flags as never)
      }),
    )
  program
    .command('restore')
    .helpGroup(GROUP.operate)
    .argument('<file>', 'Backup file')
    .about('Restore the data directory of a hub from a backup', 'With --drill, proves that the backup can be restored.')
    .example('Prove that a backup can be restored', 'flotilla restore hub.backup --drill')
    .example('Restore a hub', 'flotilla restore hub.backup --data ./restored --keys ./keys')
    .option('--data <dir>', 'Data directory to create')
    .option('--keys <dir>', 'Directory with the keys of the hub. They are copied and open sealed values')
    .option('--drill', 'Restore into a temporary directory, read all data, then delete the directory')
    .action(
      act(async (run, words, flags) => {
        const { restore } = await import('../../commands/hub/restore.ts')
        await restore(run, words[0]!, flags)
      }),
    )
}
