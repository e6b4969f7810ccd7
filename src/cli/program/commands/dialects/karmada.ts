// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { addKarmadaObjects } from './karmada-objects.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `karmada`: files of Karmada without a hub, and objects of a hub. */
export function addKarmada(program: FlotillaCommand, act: Act): void {
  const karmada = program
    .command('karmada')
    .helpGroup(GROUP.offline)
    .about(
      'Work with files and objects of Karmada',
      'schedule and interpret work without Karmada and without a hub. The other commands read and change objects of a hub that runs with --hub-templates.',
    )
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
  addInterpret(karmada, act)
  addKarmadaObjects(karmada, act)
}

function addInterpret(karmada: FlotillaCommand, act: Act): void {
  karmada
    .command('interpret')
    .about(
      'Show what the resource interpreter of Karmada makes of an object',
      'Answers one operation of the resource interpreter for an object of a built-in kind of Kubernetes, or of a custom kind that Karmada brings an interpreter for. Operations: InterpretReplica, InterpretComponent, ReviseReplica, Retain, AggregateStatus, InterpretDependency, InterpretStatus, InterpretHealth. Custom interpreters are not run.',
    )
    .example(
      'Show the objects that follow a workload',
      'flotilla karmada interpret --operation InterpretDependency --desired-file web.yaml',
    )
    .example(
      'Show the workload with another number of replicas',
      'flotilla karmada interpret --operation ReviseReplica --desired-file web.yaml --desired-replica 3',
    )
    .option('--operation <name>', 'Operation of the interpreter')
    .option('--desired-file <file>', 'YAML or JSON file with the object on the hub (- for stdin)')
    .option('--observed-file <file>', 'YAML or JSON file with the object on the cluster (- for stdin)')
    .option('--status-file <file>', 'YAML or JSON file with a list of clusterName and status, for AggregateStatus')
    .option('--desired-replica <count>', 'Number of replicas, for ReviseReplica')
    .addOption(outputOption('yaml', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const { karmadaInterpret } = await import('../../../commands/karmada/interpret.ts')
        await karmadaInterpret({ ...run, flags })
      }),
    )
}
