// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { systemClock } from '../../../core/time/system-clock.ts'
import { Argument } from 'commander'
import { outputOption, withDryRun, withNamespace, withYes } from '../command-action.ts'
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

/** `simulate placement` and `simulate loss`. */
export function addSimulate(program: FlotillaCommand, act: Act): void {
  const simulate = program
    .command('simulate')
    .helpGroup(GROUP.guard)
    .about('Simulate an edit or a loss of clusters', 'The hub stores nothing.')
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
  simulate
    .command('loss')
    .about(
      'Show where replicas go when clusters are lost',
      'Plays the moves that the hub would make for objects of the hub that run on clusters: for each object with a copy on a lost cluster, where its replicas go, or why they stay. Nothing is written to the hub.',
    )
    .example('Lose all clusters of a region', 'flotilla simulate loss -l topology.kubernetes.io/region=eu')
    .requiredOption('-l, --selector <labels>', 'Labels of the clusters that are lost (required)')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ simulateLosses }, connection] = await Promise.all([
          import('../../commands/karmada/loss.ts'),
          run.connect(),
        ])
        await simulateLosses({ ...run, connection, clock: systemClock, flags: flags as never })
      }),
    )
}

const KINDS = [
  'placement',
  'bundle',
  'cluster',
  'rollout',
  'gitrepo',
  'applicationset',
  'resourcebinding',
  'clusterresourcebinding',
] as const

/** `guard` and its verbs. */
export function addGuard(program: FlotillaCommand, act: Act): void {
  const guard = program
    .command('guard')
    .helpGroup(GROUP.guard)
    .about(
      'Release changes that would remove too much',
      'The guard stops a change that would take all clusters, the last Bundle of a cluster, all objects or more than a tenth, and a change that would add more than 1,000 bundles on clusters and more than double them.',
    )
    .example('List the changes that wait', 'flotilla guard list')
  guard
    .command('list')
    .about('List the changes that the guard stopped', 'Each line says what the change would do.')
    .example('List the changes that wait', 'flotilla guard list')
    .option('-n, --namespace <namespace>', 'List only the changes of this namespace')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const [{ guardList }, { askYesNo }, connection] = await Promise.all([
          import('../../commands/placement/guard.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await guardList({ ...run, connection, flags, confirm: askYesNo })
      }),
    )
  withYes(withDryRun(withNamespace(guard.command('release'))))
    .addArgument(new Argument('<kind>', 'Kind of the object').choices(KINDS))
    .argument('<name>', 'Name of the object')
    .about(
      'Let a stopped change through',
      'Prints what the change would do, asks, and releases exactly this change. A later change needs its own release.',
    )
    .example('Release a change of a Placement', 'flotilla guard release placement stores --reason "stores closed"')
    .example('Release a commit of a GitRepo', 'flotilla guard release gitrepo apps -n fleet-default')
    .example('Release a change of an ApplicationSet', 'flotilla guard release applicationset apps -n argocd')
    .example("Release a change of Karmada's policy", 'flotilla guard release resourcebinding web-deployment -n shop')
    .option('--reason <text>', 'Reason recorded in the audit log')
    .action(
      act(async (run, words, flags) => {
        const [{ guardRelease }, { askYesNo }, connection] = await Promise.all([
          import('../../commands/placement/guard.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        const kind = KINDS.find((one) => one === words[0])!
        await guardRelease(kind, words[1]!, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
}
