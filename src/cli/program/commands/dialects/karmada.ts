// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `karmada`: files of Karmada without a hub. */
export function addKarmada(program: FlotillaCommand, act: Act): void {
  const karmada = program
    .command('karmada')
    .helpGroup(GROUP.offline)
    .about('Work with files of Karmada', 'The commands work without Karmada and without a hub.')
    .example(
      'Show on which clusters the replicas of a workload run',
      'flotilla karmada schedule -f binding.yaml -f clusters.yaml',
    )
  karmada
    .command('schedule')
    .about(
      'Show on which clusters the replicas of a workload run',
      'Reads Clusters and a ResourceBinding or ClusterResourceBinding from files and decides as the scheduler of Karmada does. Other bindings in the files count for affinity among workloads; the first binding is scheduled.',
    )
    .example('Schedule a binding', 'flotilla karmada schedule -f binding.yaml -f clusters.yaml')
    .example('Schedule many bindings', 'flotilla karmada schedule --batch cases.jsonl -o jsonl')
    .option('-f, --filename <file>', 'YAML or JSON file with objects (repeatable; - for stdin)', collect)
    .option('--batch <file>', 'File with one case per line: clusters and a binding (- for stdin)')
    .option('--feature-gates <name=bool>', 'Feature gate of Karmada, for example WorkloadAffinity=true', collect)
    .option('--keep-empty-targets', 'Keep selected clusters that receive no replicas as targets')
    .addOption(outputOption('table', 'json', 'jsonl'))
    .action(
      act(async (run, _words, flags) => {
        const { karmadaSchedule } = await import('../../../commands/karmada/schedule.ts')
        await karmadaSchedule({ ...run, flags })
      }),
    )
}
