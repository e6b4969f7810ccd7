import type { Command } from 'commander'
import { withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about sources: poll, suspend, resume, accept. */
export function addSources(program: Command, act: Act): void {
  const source = program.command('source').description('ask sources for news, hold them, release what is held')
  const verbs = {
    poll: ['sourcePoll', 'ask for news now'],
    suspend: ['sourceSuspend', 'stop asking; the last artifact goes on serving'],
    resume: ['sourceResume', 'ask again'],
    accept: ['sourceAccept', 'take a revision that is held because it does not follow the last one'],
  } as const
  for (const [verb, [command, description]] of Object.entries(verbs)) {
    const added = withDryRun(source.command(verb))
      .argument('<name>')
      .description(description)
      .option('-n, --namespace <namespace>', 'the namespace')
      .option('--reason <text>', 'why; kept in the audit')
    if (verb === 'accept') added.option('-y, --yes', 'do not ask')
    added.action(
      act(async (run, words, flags) => {
        const [commands, { askYesNo }, connection] = await Promise.all([
          import('../../commands/bundle/source.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await commands[command](words[0]!, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
  }
}
