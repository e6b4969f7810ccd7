import { withDryRun, withNamespace } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

const VERBS = {
  poll: {
    command: 'sourcePoll',
    summary: 'Fetch a Source now',
    details: 'The hub does not wait for the next interval.',
  },
  suspend: {
    command: 'sourceSuspend',
    summary: 'Suspend a Source',
    details: 'The hub stops fetching. Bundles continue to use the last artifact.',
  },
  resume: {
    command: 'sourceResume',
    summary: 'Resume a suspended Source',
    details: 'The hub fetches again at the interval of the Source.',
  },
  accept: {
    command: 'sourceAccept',
    summary: 'Accept a rewritten history',
    details:
      'The hub guards a Source whose new revision does not descend from the last one. This command accepts the new revision.',
  },
} as const

/** `source` and its verbs. */
export function addSources(program: FlotillaCommand, act: Act): void {
  const source = program
    .command('source')
    .helpGroup(GROUP.deliver)
    .about('Fetch, suspend and resume Sources', 'List Sources with "flotilla get sources".')
    .example('Fetch a Source now', 'flotilla source poll fleet')
  for (const [verb, { command, summary, details }] of Object.entries(VERBS)) {
    const added = withNamespace(withDryRun(source.command(verb)))
      .argument('<name>', 'Name of the Source')
      .about(summary, details)
      .example(summary, `flotilla source ${verb} fleet`)
      .option('--reason <text>', 'Reason recorded in the audit log')
    if (verb === 'accept') added.option('-y, --yes', 'Do not ask for confirmation')
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
