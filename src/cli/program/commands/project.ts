// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption, withDryRun } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `project` and its verbs, and `access`. */
export function addProjects(program: FlotillaCommand, act: Act): void {
  const project = program
    .command('project')
    .helpGroup(GROUP.guard)
    .about(
      'Manage what the namespaces of a team may use',
      'A namespace without a Project fetches, renders and places nothing. The first start of a hub creates the Project "default" for the namespace default.',
    )
    .example('Let a namespace deliver', 'flotilla project add team-a --namespace team-a')
  withDryRun(project.command('add'))
    .argument('<name>', 'Name of the Project')
    .about(
      'Create a Project, or add namespaces to it',
      'What no flag limits is allowed, and the command prints what is open. To change the limits of an existing Project, edit the object.',
    )
    .example('Let a namespace deliver everything', 'flotilla project add team-a --namespace team-a')
    .example(
      'Limit a team to its own namespaces, as an account of its own',
      'flotilla project add team-a --namespace team-a --source "https://git.example.com/team-a/*" --kind ConfigMap --kind "apps/*" --target-namespace "team-a-*" --cluster-set stores --executor team-a-system/deployer',
    )
    .option(
      '--namespace <namespace>',
      'Namespace of the hub that belongs to the Project (required, repeatable)',
      collect,
    )
    .option('--source <address>', 'Address that Sources may fetch, or inline (repeatable)', collect)
    .option('--kind <kind>', 'Kind that Bundles may contain, such as ConfigMap or apps/* (repeatable)', collect)
    .option(
      '--target-namespace <namespace>',
      'Namespace of the clusters that Bundles may write to (repeatable)',
      collect,
    )
    .option('--cluster-set <name>', 'ClusterSet that Placements may select from (repeatable)', collect)
    .option('--executor <namespace/name>', 'ServiceAccount that Bundles are applied as')
    .option('--plan <name>', 'RolloutPlan that Bundles may use (repeatable)', collect)
    .action(
      act(async (given, words, flags) => {
        const [{ projectAdd }, connection] = await Promise.all([
          import('../../commands/project/project.ts'),
          given.connect(),
        ])
        await projectAdd(words[0]!, { ...given, connection, flags })
      }),
    )
  project
    .command('list')
    .about('List Projects', 'The column OPEN names what a Project does not limit.')
    .example('List Projects', 'flotilla project list')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (given, _, flags) => {
        const [{ projectList }, connection] = await Promise.all([
          import('../../commands/project/project.ts'),
          given.connect(),
        ])
        await projectList({ ...given, connection, flags })
      }),
    )
  project
    .command('show')
    .argument('<name>', 'Name of the Project')
    .about('Show a Project', 'Prints what the Project allows, its usage, and the objects that it refuses now.')
    .example('Show a Project', 'flotilla project show team-a')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (given, words, flags) => {
        const [{ projectShow }, connection] = await Promise.all([
          import('../../commands/project/project.ts'),
          given.connect(),
        ])
        await projectShow(words[0]!, { ...given, connection, flags })
      }),
    )
  project
    .command('check')
    .about(
      'Check files against Projects',
      'Prints for each Source, Bundle and Placement whether its Project allows it, as whom a Bundle is applied, and which field of the Project refuses it. The exit code is 1 if an object is refused.',
    )
    .example('Check a file', 'flotilla project check -f shop.yaml')
    .requiredOption('-f, --filename <file>', 'YAML or JSON file (required, repeatable)', collect)
    .option('-n, --namespace <namespace>', 'Namespace of objects without one. Defaults to default')
    .action(
      act(async (given, _, flags) => {
        const [{ projectCheck }, connection] = await Promise.all([
          import('../../commands/project/check-project.ts'),
          given.connect(),
        ])
        return await projectCheck({ ...given, connection, flags })
      }),
    )
  program
    .command('access')
    .helpGroup(GROUP.guard)
    .about(
      'Show who may do what on which clusters',
      'Combines roles and their bindings, Projects and ClusterSets. Each row is a subject in a namespace: what it may do, the clusters that this reaches, and as whom the content is applied there. Lists of the same objects are required.',
    )
    .example('Show all subjects', 'flotilla access')
    .example('Show what a user may do', 'flotilla access --user ann --group shop')
    .example('Show who reaches a cluster', 'flotilla access --cluster store-042')
    .option('--user <name>', 'Name of a user')
    .option('--group <name>', 'Group of the caller (repeatable)', collect)
    .option('--service-account <namespace/name>', 'ServiceAccount of the hub')
    .option('--cluster <name>', 'Only subjects whose rights act on this cluster')
    .option('--system', 'Include users and groups "system:…", and ServiceAccounts of kube-system')
    .addOption(outputOption('text', 'json'))
    .action(
      act(async (given, _, flags) => {
        const [{ access }, connection] = await Promise.all([
          import('../../commands/project/access.ts'),
          given.connect(),
        ])
        await access({ ...given, connection, flags })
      }),
    )
}
