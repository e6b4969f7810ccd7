// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { systemClock } from '../../../../core/time/system-clock.ts'
import { outputOption, withNamespace, withYes } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

const SYSTEMS = [
  ['ocm', 'Open Cluster Management'],
  ['fleet', 'Rancher Fleet'],
  ['argo', 'Argo CD'],
  ['flux', 'Flux'],
  ['karmada', 'Karmada'],
] as const

/** `handover`: clusters move over from another system. */
export function addHandover(program: FlotillaCommand, act: Act): void {
  const handover = program
    .command('handover')
    .helpGroup(GROUP.operate)
    .about(
      'Move clusters over from another system',
      'The agent of each cluster compares, stops the controllers of the other system and takes the objects over without a restart of a pod. Each step can be undone until --finish.',
    )
    .example('Compare only', 'flotilla handover ocm store-1 --compare')
    .example('Show where each cluster is', 'flotilla handover ocm status')
  for (const [name, title] of SYSTEMS) addSystem(handover, { name, title }, act)
}

function addSystem(
  handover: FlotillaCommand,
  { name, title }: { readonly name: string; readonly title: string },
  act: Act,
): void {
  const system = withYes(withNamespace(handover.command(name)))
    .argument('[names...]', 'Names of the clusters. Required unless -l or --placement is given')
    .about(
      `Move clusters over from ${title}`,
      'Compares first, and takes over the clusters whose content does not differ, or whose differences are accepted. Run again, the command continues where each cluster is.',
    )
    .example('Compare, then take a cluster over', `flotilla handover ${name} store-1`)
    .example(
      'Take over the clusters of a ring',
      `flotilla handover ${name} --placement stores --ring edge/canary --yes`,
    )
    .example('Complete the handover; this cannot be undone', `flotilla handover ${name} store-1 --finish`)
    .example('Give a cluster back', `flotilla handover ${name} store-1 --undo`)
    .option('-l, --selector <labels>', 'Select the clusters by label')
    .option('--placement <name>', 'Select the clusters of a Placement')
    .option('--ring <plan/ring>', 'With --placement: only the clusters of this ring of a RolloutPlan')
    .option('--compare', 'Only compare. The agent writes nothing')
    .option('--accept-differences', 'Take over objects that differ, and overwrite the differing fields')
    .option(
      '--peer-stopped',
      `State that ${title} no longer changes the clusters. The agent then stops no controllers. Required where the controllers run in another cluster`,
    )
    .option('--finish', `Remove the marks and records of ${title}. This cannot be undone`)
    .option('--undo', `Give the objects back to ${title} and start its controllers again`)
    .option('--timeout <duration>', 'Maximum time to wait. The clusters continue without the command', '10m')
    .action(
      act(async (run, words, flags) => {
        const [{ handover: move }, { askYesNo }, connection] = await Promise.all([
          import('../../../commands/handover/handover.ts'),
          import('../../../input/prompt.ts'),
          run.connect(),
        ])
        return move(name, words, { ...run, connection, flags, confirm: askYesNo, clock: systemClock })
      }),
    )
  system
    .command('status')
    .about(
      `Show the handovers from ${title}`,
      'Lists the step of each cluster, the number of objects that differ, and the objects that no Bundle has.',
    )
    .example('Show where each cluster is', `flotilla handover ${name} status`)
    .option('-l, --selector <labels>', 'Select the clusters by label')
    .addOption(outputOption('table', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ handoverStatus }, connection] = await Promise.all([
          import('../../../commands/handover/handover-status.ts'),
          run.connect(),
        ])
        await handoverStatus(name, { ...run, connection, flags, clock: systemClock })
      }),
    )
}
