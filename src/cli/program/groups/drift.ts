import { Option } from 'commander'
import type { Command } from 'commander'
import type { Act } from '../command-action.ts'

const output = () => new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text')

const DECISIONS = [
  { verb: 'accept', description: 'leave the changed fields on this cluster to whoever changed them' },
  { verb: 'revert', description: 'put the changed objects on this cluster back, once' },
] as const

/** Commands about what somebody changed in clusters. */
export function addDrift(program: Command, act: Act): void {
  const drift = program.command('drift').description('what somebody changed in clusters')
  drift
    .command('list')
    .description('every bundle that has drifted, on every cluster')
    .option('--bundle <bundle>', 'only this bundle, by name or namespace/name')
    .option('-l, --selector <labels>', 'only clusters with these labels')
    .addOption(output())
    .action(
      act(async (run, _words, flags) => {
        const [{ driftList }, connection] = await Promise.all([import('../../commands/drift/drift.ts'), run.connect()])
        await driftList({ ...run, connection, flags })
      }),
    )
  drift
    .command('show')
    .argument('<cluster>', 'the cluster')
    .description('what has drifted on a cluster: objects, fields, and who has them now')
    .option('--bundle <bundle>', 'only this bundle, by name or namespace/name')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ driftShow }, connection] = await Promise.all([import('../../commands/drift/drift.ts'), run.connect()])
        await driftShow(words, { ...run, connection, flags })
      }),
    )
  for (const { verb, description } of DECISIONS) {
    const command = drift
      .command(verb)
      .argument('<cluster>', 'the cluster')
      .description(description)
      .requiredOption('--reason <text>', 'why; kept in the Override')
      .option('--bundle <bundle>', 'only this bundle, by name or namespace/name')
      .option('--dry-run', 'only show what it is about')
    if (verb === 'accept') command.option('--for <duration>', 'how long (default: until the Override is deleted)')
    command.action(
      act(async (run, words, flags) => {
        const [{ driftAccept, driftRevert }, connection] = await Promise.all([
          import('../../commands/drift/resolve.ts'),
          run.connect(),
        ])
        const decide = verb === 'accept' ? driftAccept : driftRevert
        await decide(words, { ...run, connection, flags: flags as never })
      }),
    )
  }
}
