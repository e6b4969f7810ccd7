import { Option } from 'commander'
import type { Command } from 'commander'
import type { Act } from '../command-action.ts'

const output = () => new Option('-o, --output <format>', 'output').choices(['text', 'json']).default('text')

/** Commands about placements: why, and what if. */
export function addPlacement(program: Command, act: Act): void {
  program
    .command('explain')
    .argument('<placement>', 'the placement, or a bundle that it places; placement/NAME and bundle/NAME say which')
    .argument('[cluster]', 'only this cluster, with every check')
    .description('why a placement selects a cluster, or not, and what would change that')
    .option('-n, --namespace <namespace>', 'the namespace')
    .option('-l, --selector <labels>', 'only clusters with these labels')
    .addOption(output())
    .action(
      act(async (run, words, flags) => {
        const [{ explain }, connection] = await Promise.all([
          import('../../commands/placement/placement.ts'),
          run.connect(),
        ])
        await explain(words, { ...run, connection, flags })
      }),
    )
  const simulate = program.command('simulate').description('what an edit would do, without storing it')
  simulate
    .command('placement')
    .description('which clusters an edited placement would gain and lose')
    .requiredOption('-f, --filename <file>', 'a YAML or JSON file with the Placement')
    .option('-n, --namespace <namespace>', 'the namespace')
    .addOption(output())
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
