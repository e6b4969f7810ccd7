// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { systemClock } from '../../../../core/time/system-clock.ts'
import { collect, outputOption } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import { addClusteradm } from './clusteradm.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `ocm`: the words of `clusteradm`, and files of Open Cluster Management without a hub. */
export function addOcm(program: FlotillaCommand, act: Act): void {
  const ocm = program
    .command('ocm')
    .helpGroup(GROUP.offline)
    .about(
      'Use the commands of clusteradm, and files of Open Cluster Management',
      'A link to this program that is named clusteradm stands for "flotilla ocm". "ocm place" works without a hub.',
    )
    .example('Accept a cluster', 'flotilla ocm accept --clusters store-1')
    .example('Show which clusters a Placement selects', 'flotilla ocm place -f placement.yaml -f clusters.yaml')
  addClusteradm(ocm, act)
  ocm
    .command('place')
    .about(
      'Show which clusters Placements select',
      'Reads ManagedClusters, ManagedClusterSets, ManagedClusterSetBindings, Placements, PlacementDecisions and AddOnPlacementScores from files and decides as the scheduler of Open Cluster Management does.',
    )
    .example('Show which clusters a Placement selects', 'flotilla ocm place -f placement.yaml -f clusters.yaml')
    .example('Decide for a given time', 'flotilla ocm place -f all.yaml --now 2026-06-01T12:00:00Z -o json')
    .option('-f, --filename <file>', 'YAML or JSON file with objects (repeatable; - for stdin)', collect)
    .option('--now <time>', 'Time of the decision. Defaults to the current time')
    .option('--batch <file>', 'File with one case per line: objects, and the steps to decide')
    .addOption(outputOption('table', 'json', 'jsonl'))
    .action(
      act(async (run, _words, flags) => {
        const { ocmPlace } = await import('../../../commands/ocm/place.ts')
        await ocmPlace({ ...run, flags, now: systemClock.now() })
      }),
    )
}
