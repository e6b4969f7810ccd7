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
    .example('Evaluate a policy against objects of a file', 'flotilla policy dryrun -p policy.yaml objects.yaml')
    .example('Resolve the templates of a policy', 'flotilla policy template policy.yaml')
  addPolicyDryrun(policy, act)
  addPolicyTemplate(policy, act)
  addPolicyCertificates(policy, act)
}

function addPolicyDryrun(policy: FlotillaCommand, act: Act): void {
  policy
    .command('dryrun')
    .argument('[file...]', 'Files and directories with the objects of the cluster. Standard input is read too')
    .about(
      'Evaluate a policy against objects of files',
      'Evaluates a ConfigurationPolicy, or the first of a Policy, and prints the differences and the compliance messages as the dryrun of Open Cluster Management does. Nothing is changed. Exits with 0 if the policy is compliant, with 2 if it is not, and with 1 if it cannot be evaluated.',
    )
    .example('Evaluate a policy against objects of a file', 'flotilla policy dryrun -p policy.yaml objects.yaml')
    .example(
      'Compare the result with a wanted status',
      'flotilla policy dryrun -p policy.yaml -c want.yaml objects.yaml',
    )
    .requiredOption('-p, --policy <file>', 'File with a Policy or a ConfigurationPolicy (required)')
    .option('--messages-path <file>', 'File for the compliance messages. Defaults to standard output')
    .option('--print-diffs [boolean]', 'Print the differences. Defaults to true')
    .option('-c, --desired-status <file>', 'File with a status to compare with the result')
    .option('--no-colors', 'Print without colors')
    .option('--full-diffs', 'Print all lines of a difference, instead of 50')
    .option('--status-path <file>', 'File for the resulting status')
    .option(
      '--mappings-file <file>',
      'File with the kinds of the cluster. Defaults to DRYRUN_MAPPINGS_FILE, else to the kinds of Kubernetes',
    )
    .action(
      act(async (run, words, flags) => {
        const { policyDryrun } = await import('../../../commands/policy/dryrun.ts')
        return await policyDryrun(words, { ...run, flags })
      }),
    )
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

function addPolicyCertificates(policy: FlotillaCommand, act: Act): void {
  policy
    .command('certificates')
    .argument('[file...]', 'Files and directories with Secrets and Namespaces. Standard input is read too')
    .about(
      'Evaluate a CertificatePolicy against Secrets of files',
      'Prints the certificates that expire too soon, last too long, or have names that the policy does not allow. Exits with 0 if there is none, with 2 if there are some, and with 1 if the policy cannot be evaluated.',
    )
    .example('Find certificates that expire soon', 'flotilla policy certificates -p policy.yaml secrets.yaml')
    .example(
      'Find certificates that expire soon after a day to come',
      'flotilla policy certificates -p policy.yaml --now 2027-01-01T00:00:00Z secrets.yaml',
    )
    .requiredOption('-p, --policy <file>', 'File with a CertificatePolicy, or a Policy with one (required)')
    .option('--now <time>', 'Time of the evaluation. Defaults to the current time')
    .action(
      act(async (run, words, flags) => {
        const { policyCertificates } = await import('../../../commands/policy/certificates.ts')
        return await policyCertificates(words, { ...run, flags })
      }),
    )
}
