// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { outputOption, withNamespace } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `explain`: the decisions of a Placement. */
export function addExplain(program: FlotillaCommand, act: Act): void {
  withNamespace(program.command('explain'))
    .helpGroup(GROUP.observe)
    .argument('<placement>', 'Placement, or Bundle of the Placement. placement/NAME and bundle/NAME are exact')
    .argument('[cluster]', 'Name of a cluster. If given, every check of the cluster is printed')
    .about(
      'Explain why a Placement selects a cluster or not',
      'For one cluster, also prints what would change the decision. For field descriptions use "kubectl explain".',
    )
    .example('Explain the decision for one cluster', 'flotilla explain stores store-07')
    .example('List the decisions for a region', 'flotilla explain stores -l region=north')
    .option('-l, --selector <labels>', 'Label selector of the clusters to list')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ explain }, connection] = await Promise.all([
          import('../../commands/placement/placement.ts'),
          run.connect(),
        ])
        await explain(words, { ...run, connection, flags })
      }),
    )
}

/** `simulate placement`. */
export function addSimulate(program: FlotillaCommand, act: Act): void {
  const simulate = program
    .command('simulate')
    .helpGroup(GROUP.guard)
    .about('Simulate an edit', 'The hub stores nothing.')
    .example('Simulate an edited Placement', 'flotilla simulate placement -f stores.yaml')
  withNamespace(simulate.command('placement'))
    .about('Show which clusters an edited Placement would gain and lose', 'Nothing is written to the hub.')
    .example('Simulate an edited Placement', 'flotilla simulate placement -f stores.yaml')
    .requiredOption('-f, --filename <file>', 'YAML or JSON file with the Placement (required)')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ simulatePlacement }, connection] = await Promise.all([
          import('../../commands/placement/placement.ts'),
          run.connect(),
        ])
        await simulatePlacement({ ...run, connection, flags })
      }),
    )
}
