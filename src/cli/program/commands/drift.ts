// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { outputOption } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `drift` and its verbs. */
export function addDrift(program: FlotillaCommand, act: Act): void {
  const drift = program
    .command('drift')
    .helpGroup(GROUP.guard)
    .about(
      'List and resolve configuration drift in clusters',
      'Drift is a difference between a live object and the content of its Bundle.',
    )
    .example('List the drift of the fleet', 'flotilla drift list')
  drift
    .command('list')
    .about('List the drift of the fleet', 'Prints one line for each Bundle on each cluster.')
    .example('List the drift of one Bundle', 'flotilla drift list --bundle shop')
    .option('--bundle <bundle>', 'Bundle, as name or namespace/name')
    .option('-l, --selector <labels>', 'Label selector of the clusters')
    .option(
      '--corrected',
      'List the drift that agents corrected since they started: what, how often, and changed by whom',
    )
    .example('List what keeps being changed and corrected', 'flotilla drift list --corrected')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ driftList }, connection] = await Promise.all([import('../../commands/drift/drift.ts'), run.connect()])
        await driftList({ ...run, connection, flags })
      }),
    )
  drift
    .command('show')
    .argument('<cluster>', 'Name of the cluster')
    .about(
      'Show the drift of a cluster',
      'Prints the objects, the changed fields and the field managers that changed them. With --values, the agent sends the values at its next check-in, sealed to a key of this command; it needs the verb "reveal" on bundlestates.view.flotilla.dev.',
    )
    .example('Show the drift of store-07', 'flotilla drift show store-07')
    .example('Show delivered and live values', 'flotilla drift show store-07 --bundle shop --values')
    .option('--bundle <bundle>', 'Bundle, as name or namespace/name')
    .option('--values', 'Ask the agent for delivered and live values. Values of Secrets are never shown')
    .option('--reason <text>', 'Reason recorded in the audit log, for --values')
    .option('--timeout <duration>', 'Maximum time to wait for the values. Defaults to three check-ins, at least 1m')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        if (flags.values) {
          const [{ driftShowValues }, { systemClock }, { generateKeyPair }, connection] = await Promise.all([
            import('../../commands/drift/values.ts'),
            import('../../../core/time/system-clock.ts'),
            import('../../../core/bytes.ts'),
            run.connect(),
          ])
          const newKey = () => generateKeyPair('x25519')
          return await driftShowValues(words, { ...run, connection, clock: systemClock, newKey, flags })
        }
        const [{ driftShow }, connection] = await Promise.all([import('../../commands/drift/drift.ts'), run.connect()])
        await driftShow(words, { ...run, connection, flags })
      }),
    )
  addDecisions(drift, act)
}

const DECISIONS = {
  accept: {
    summary: 'Accept the drift of a cluster',
    details:
      'An Override leaves the changed fields to their new owners on this cluster, at once and without a rollout.',
    example: 'store-07 --reason "local price" --for 72h',
  },
  revert: {
    summary: 'Revert the drift of a cluster',
    details:
      'An Override writes the content of the Bundle again and corrects drift for one hour, at once and without a rollout.',
    example: 'store-07 --reason "edited by mistake"',
  },
} as const

function addDecisions(drift: FlotillaCommand, act: Act): void {
  for (const verb of ['accept', 'revert'] as const) {
    const { summary, details, example } = DECISIONS[verb]
    const command = drift
      .command(verb)
      .argument('<cluster>', 'Name of the cluster')
      .about(summary, details)
      .example(summary, `flotilla drift ${verb} ${example}`)
      .requiredOption('--reason <text>', 'Reason recorded in the Override (required)')
      .option('--bundle <bundle>', 'Bundle, as name or namespace/name')
      .option('--dry-run', 'Only show the objects and fields')
    if (verb === 'accept') {
      command.option('--for <duration>', 'Lifetime of the Override. If omitted, until the Override is deleted')
    }
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
