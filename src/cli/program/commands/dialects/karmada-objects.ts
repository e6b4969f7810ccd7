// Tested by src/cli/commands/karmada/objects.test.ts
import { outputOption } from '../../command-action.ts'
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

const withNamespace = (command: FlotillaCommand): FlotillaCommand =>
  command.option('-n, --namespace <namespace>', 'Namespace. Defaults to the namespace of the kubeconfig, or default')

async function inputOf(run: Run, flags: Record<string, unknown>) {
  const [commands, connection] = await Promise.all([import('../../../commands/karmada/objects.ts'), run.connect()])
  return { commands, input: { connection, terminal: run.terminal, signal: run.signal, flags } }
}

/** `karmada get`, `describe`, `explain` and `promote`: objects of a hub with --hub-templates. */
export function addKarmadaObjects(karmada: FlotillaCommand, act: Act): void {
  withNamespace(karmada.command('get'))
    .argument('[kind]', 'Kind of objects, for example deployments')
    .argument('[name]', 'Name of one object')
    .about(
      'List objects of the hub on their clusters',
      'Prints a row for each object that a policy claims and each of its clusters: replicas, ready replicas, whether the newest content is applied, and health.',
    )
    .example('List the Deployments of a namespace', 'flotilla karmada get deployments -n shop')
    .option('-A, --all-namespaces', 'List the objects of all namespaces')
    .addOption(outputOption('table', 'json'))
    .action(
      act(async (run, [kind, name], flags) => {
        const { commands, input } = await inputOf(run, flags)
        await commands.karmadaGet(kind, name, input)
      }),
    )
  withNamespace(karmada.command('describe'))
    .argument('<kind>', 'Kind of the object, for example deployment')
    .argument('<name>', 'Name of the object')
    .about(
      'Show the binding of an object',
      'Prints the policy, the conditions, the clusters with their errors, and clusters that the object leaves.',
    )
    .example('Show a Deployment', 'flotilla karmada describe deployment web -n shop')
    .action(
      act(async (run, [kind = '', name = ''], flags) => {
        const { commands, input } = await inputOf(run, flags)
        await commands.karmadaDescribe(kind, name, input)
      }),
    )
  withNamespace(karmada.command('explain'))
    .argument('<kind>', 'Kind of the object, for example deployment')
    .argument('<name>', 'Name of the object')
    .about(
      'Show why an object runs where it runs',
      'Prints each policy with the reason why it claims the object or not, and each cluster with the reason why it is a target or not and the overrides there.',
    )
    .example('Explain a Deployment', 'flotilla karmada explain deployment web -n shop')
    .addOption(outputOption('table', 'json'))
    .action(
      act(async (run, [kind = '', name = ''], flags) => {
        const { commands, input } = await inputOf(run, flags)
        await commands.karmadaExplain(kind, name, input)
      }),
    )
  addPromote(karmada, act)
}

function addPromote(karmada: FlotillaCommand, act: Act): void {
  withNamespace(karmada.command('promote'))
    .argument('<kind>', 'Kind of the object, for example deployment')
    .argument('<name>', 'Name of the object')
    .about(
      'Copy an object of a cluster to the hub',
      'Creates the object on the hub as it is in the cluster, and a policy that keeps it on that cluster and takes it over there.',
    )
    .example(
      'Promote a Deployment',
      'flotilla karmada promote deployment web -n shop -C member1 --cluster-kubeconfig member1.kubeconfig',
    )
    .requiredOption('-C, --cluster <name>', 'Cluster of the hub that has the object (required)')
    .requiredOption('--cluster-kubeconfig <file>', 'Kubeconfig file of the cluster (required)')
    .option('--cluster-context <name>', 'Context of the kubeconfig of the cluster')
    .option('--policy-name <name>', 'Name of the policy. Defaults to the name of the object')
    .option('--no-auto-create-policy', 'Create no policy')
    .option('--dry-run', 'Print what would be created')
    .action(
      act(async (run, [kind = '', name = ''], flags) => {
        const [{ karmadaPromote }, { connect }] = await Promise.all([
          import('../../../commands/karmada/promote.ts'),
          import('../../../api/connect.ts'),
        ])
        const connection = await run.connect()
        const named = { kubeconfig: flags['clusterKubeconfig'] as string, ...contextOf(flags) }
        const member = await connect(named, run.environment, run.terminal)
        try {
          await karmadaPromote(kind, name, { connection, member, terminal: run.terminal, signal: run.signal, flags })
        } finally {
          await member.close()
        }
      }),
    )
}

function contextOf(flags: Record<string, unknown>): { context?: string } {
  const context = flags['clusterContext']
  return typeof context === 'string' ? { context } : {}
}
