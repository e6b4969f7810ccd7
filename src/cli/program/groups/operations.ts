import { Option } from 'commander'
import type { Command } from 'commander'
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about care of a hub: check, backup, restore, audit, support-bundle. */
export function addOperations(program: Command, act: Act): void {
  program
    .command('check')
    .argument('[cluster]', 'a cluster; without it, the hub')
    .description('look for what is wrong with the hub, a cluster, (--pre) this machine or (--agent) the agent on it')
    .option('--hub', 'the hub, as without a cluster')
    .addOption(new Option('--pre', 'what this machine needs before a hub or an agent runs on it').conflicts('hub'))
    .addOption(
      new Option('--agent', 'the agent that runs here; --kubeconfig is then its cluster’s').conflicts(['hub', 'pre']),
    )
    .option('--data <dir>', 'with --agent: its data directory')
    .addOption(
      new Option('-o, --output <format>', 'short shows only what is wrong')
        .choices(['table', 'short', 'json'])
        .default('table'),
    )
    .option('--wait <duration>', 'look again until nothing fails, for so long')
    .action(
      act(async (run, words, flags) => {
        const { check } = await import('../../commands/hub/check.ts')
        return await check(words[0], { ...run, flags: flags as never })
      }),
    )
  program
    .command('backup')
    .argument('<file>', 'the backup to make; it must not be there yet')
    .description('copy a hub’s database and blobs into one file, while it runs; never its keys')
    .requiredOption('--data <dir>', 'the data directory of the hub')
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text'))
    .action(
      act(async (run, words, flags) => {
        const { backup } = await import('../../commands/hub/backup.ts')
        await backup(run, words[0]!, flags as never)
      }),
    )
  program
    .command('restore')
    .argument('<file>', 'the backup')
    .description('make a hub’s data directory from a backup')
    .option('--data <dir>', 'the new data directory')
    .option('--keys <dir>', 'the folder with the hub’s keys; they are put in place and open what is sealed')
    .option('--drill', 'restore into a temporary directory, read everything, and remove it')
    .action(
      act(async (run, words, flags) => {
        const { restore } = await import('../../commands/hub/restore.ts')
        await restore(run, words[0]!, flags)
      }),
    )
  program
    .command('audit')
    .description('who changed what on the hub')
    .option('--after <sequence>', 'only records after this one')
    .option('--tail <n>', 'the last n records', '50')
    .option('--people', 'leave out what the hub did by itself')
    .option('--verify', 'read all records and check that their chain is unbroken')
    .addOption(new Option('-o, --output <format>', 'output').choices(['table', 'json']).default('table'))
    .action(
      act(async (run, _words, flags) => {
        const [{ audit }, connection] = await Promise.all([import('../../commands/hub/audit.ts'), run.connect()])
        await audit({ ...run, connection, flags })
      }),
    )
  program
    .command('support-bundle')
    .argument('[file]', 'the archive to make; it must not be there yet (default: flotilla-support-TIME.tar.gz)')
    .description('one file that shows somebody else how a hub does, without secrets and content')
    .option('--cluster <name>', 'also look at this cluster (repeatable)', collect)
    .action(
      act(async (run, words, flags) => {
        const { supportBundle } = await import('../../commands/hub/support-bundle.ts')
        await supportBundle(words, { ...run, flags })
      }),
    )
}
