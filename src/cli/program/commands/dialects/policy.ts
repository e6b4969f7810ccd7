// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `policy`: policies of Open Cluster Management without a hub. */
export function addPolicy(program: FlotillaCommand, act: Act): void {
  const policy = program
    .command('policy')
    .helpGroup(GROUP.offline)
    .about(
      'Work with policies of Open Cluster Management',
      'Works on files, without Open Cluster Management and without a hub.',
    )
    .example('Resolve the templates of a policy', 'flotilla policy template policy.yaml')
  addPolicyTemplate(policy, act)
}

function addPolicyTemplate(policy: FlotillaCommand, act: Act): void {
  const template = policy
    .command('template')
    .argument(
      '[file...]',
      'File with a Policy, ConfigurationPolicy, OperatorPolicy or object-templates-raw. Defaults to stdin',
    )
    .about(
      'Print a policy with its templates resolved',
      'Resolves the templates for managed clusters with the objects of the cluster of the current kubeconfig context, and with --hub-kubeconfig the hub templates too. Connects only if a template reads an object. Prints what the template-resolver of Open Cluster Management prints. Exits with 1 for wrong arguments and with 2 if a template fails.',
    )
    .example('Resolve the templates of a policy', 'flotilla policy template policy.yaml')
    .example(
      'Resolve hub templates too, for one cluster',
      'flotilla policy template policy.yaml --hub-kubeconfig hub.kubeconfig --cluster-name lyon --hub-namespace policies',
    )
    .option('--hub-kubeconfig <file>', 'Kubeconfig of the hub, to resolve hub templates')
    .option('--cluster-name <name>', 'ManagedCluster of hub templates (required with --hub-kubeconfig)')
    .option('--hub-namespace <namespace>', 'Namespace that hub templates may read')
    .option('--object-name <name>', 'Value of .ObjectName')
    .option('--object-namespace <namespace>', 'Value of .ObjectNamespace')
    .option('--local-resources <file>', 'YAML file with objects that are found before those of the cluster')
    .option('--skip-policy-validation', 'Resolve a YAML document of any kind')
    .action(
      act(async (run, words, flags) => {
        const { policyTemplate } = await import('../../../commands/policy/template.ts')
        return await policyTemplate(words, { ...run, flags })
      }),
    )
  template
    .command('lint')
    .argument('[file...]', 'File with a policy. Defaults to stdin')
    .about(
      'Find mistakes in the templates of a policy',
      'Finds delimiters and quotes without a counterpart, templates without quotes, unused variables, invalid variables and trailing white space. Exits with 2 if a finding is an error and with 3 if there are only warnings.',
    )
    .example('Lint a policy', 'flotilla policy template lint policy.yaml')
    .action(
      act(async (run, words, flags) => {
        const { policyLint } = await import('../../../commands/policy/template.ts')
        return await policyLint(words, { ...run, flags })
      }),
    )
}
