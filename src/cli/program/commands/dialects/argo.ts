// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption, withYes } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `argo`: Applications on a hub, and ApplicationSets without one. */
export function addArgo(program: FlotillaCommand, act: Act): void {
  const argo = program
    .command('argo')
    .helpGroup(GROUP.offline)
    .about(
      'Work with Applications and ApplicationSets of Argo CD',
      'Works without Argo CD. Only "generate" works without a hub; the others need a hub that serves the dialect argo.',
    )
    .example('Show what an ApplicationSet makes', 'flotilla argo generate -f appset.yaml -f clusters.yaml')
    .example('Sync an Application', 'flotilla argo sync web')
  addGenerate(argo, act)
  addReads(argo, act)
  addSyncs(argo, act)
  addOperations(argo, act)
}

const reads = () => import('../../../commands/argo/applications.ts')
const syncs = () => import('../../../commands/argo/sync.ts')
const NAME = 'Name of the Application, or namespace/name'

function withArgoNamespace(command: FlotillaCommand): FlotillaCommand {
  return command.option('-n, --namespace <namespace>', 'Namespace of the Applications', 'argocd')
}

function addReads(argo: FlotillaCommand, act: Act): void {
  withArgoNamespace(argo.command('list'))
    .about('List Applications', 'Has the columns of "argocd app list".')
    .example('List the Applications of a project', 'flotilla argo list -p platform')
    .option('-l, --selector <labels>', 'List Applications with these labels')
    .option('-p, --project <name>', 'List Applications of this AppProject (repeatable)', collect)
    .addOption(outputOption('wide', 'json', 'name'))
    .action(
      act(async (run, _words, flags) => {
        const [{ argoList }, connection] = await Promise.all([reads(), run.connect()])
        await argoList({ ...run, connection, flags })
      }),
    )
  withArgoNamespace(argo.command('get'))
    .argument('<application>', NAME)
    .about('Show an Application with its objects', 'Prints what "argocd app get" prints.')
    .example('Show an Application', 'flotilla argo get web')
    .addOption(outputOption('wide', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ argoGet }, connection] = await Promise.all([reads(), run.connect()])
        await argoGet(words[0]!, { ...run, connection, flags })
      }),
    )
  withArgoNamespace(argo.command('history'))
    .argument('<application>', NAME)
    .about(
      'List the deployments of an Application',
      'The oldest deployment is listed first, as by "argocd app history".',
    )
    .example('List the deployments of an Application', 'flotilla argo history web')
    .addOption(outputOption('wide', 'json'))
    .action(
      act(async (run, words, flags) => {
        const [{ argoHistory }, connection] = await Promise.all([reads(), run.connect()])
        await argoHistory(words[0]!, { ...run, connection, flags })
      }),
    )
}

function addSyncs(argo: FlotillaCommand, act: Act): void {
  withArgoNamespace(argo.command('sync'))
    .argument('<application...>', NAME)
    .about(
      'Sync Applications',
      'Fetches the repositories, starts the delivery and waits for its end. Exits with 1 if a sync failed, and with 8 after the timeout.',
    )
    .example('Sync an Application', 'flotilla argo sync web')
    .example('Start the syncs of two Applications', 'flotilla argo sync web shop --async')
    .option('--async', 'Do not wait for the end of the sync')
    .option(
      '--revision <revision>',
      'Commit, tag, branch or chart version to sync to; refused if the Application is automated',
    )
    .option('--prune', 'Delete objects that are no longer part of the content')
    .option('--force', 'Delete and create objects again if a field cannot be changed')
    .option('--strategy <strategy>', 'Strategy of the sync: apply (without hooks) or hook. Defaults to hook')
    .option('--sync-option <option>', 'Sync option instead of those of the Application (repeatable)', collect)
    .option('--retry-limit <number>', 'Maximum number of retries. Defaults to that of the Application')
    .option('--timeout <seconds>', 'Time to wait in seconds. Defaults to no limit')
    .action(
      act(async (run, words, flags) => {
        const [{ argoSync }, connection] = await Promise.all([syncs(), run.connect()])
        return await argoSync(words, { ...run, connection, flags })
      }),
    )
  withArgoNamespace(argo.command('wait'))
    .argument('<application...>', NAME)
    .about(
      'Wait until Applications are synced and healthy',
      'Without --sync, --health and --operation the command waits for all three. Exits with 8 after the timeout.',
    )
    .example('Wait for an Application', 'flotilla argo wait web --timeout 300')
    .option('--sync', 'Wait until the Applications are synced')
    .option('--health', 'Wait until the Applications are healthy')
    .option('--operation', 'Wait until no operation is in progress')
    .option('--timeout <seconds>', 'Time to wait in seconds. Defaults to no limit')
    .action(
      act(async (run, words, flags) => {
        const [{ argoWait }, connection] = await Promise.all([syncs(), run.connect()])
        return await argoWait(words, { ...run, connection, flags })
      }),
    )
}

const operations = () => import('../../../commands/argo/operate.ts')

function addOperations(argo: FlotillaCommand, act: Act): void {
  withArgoNamespace(argo.command('diff'))
    .argument('<application>', NAME)
    .about(
      'Show the objects that a sync would change',
      'Prints a header for each object, as "argocd app diff". The values of the fields are in the repository and in the cluster, and not on the hub. Exits with 1 if there are differences.',
    )
    .example('Show what waits for a sync', 'flotilla argo diff web')
    .action(
      act(async (run, words, flags) => {
        const [{ argoDiff }, connection] = await Promise.all([operations(), run.connect()])
        return await argoDiff(words[0]!, { ...run, connection, flags })
      }),
    )
  withArgoNamespace(argo.command('rollback'))
    .argument('<application>', NAME)
    .argument('[id]', 'ID of a deployment of "flotilla argo history". Defaults to the deployment before the last')
    .about(
      'Deliver an earlier deployment again',
      'Delivers the revision and the source of the deployment, without hooks. The Application is then OutOfSync until the next sync. Refused if the Application is automated.',
    )
    .example('Go back to the deployment before', 'flotilla argo rollback web')
    .example('Go back to a certain deployment', 'flotilla argo rollback web 3')
    .option('--prune', 'Delete objects that are not part of the earlier content')
    .option('--timeout <seconds>', 'Time to wait in seconds. Defaults to no limit')
    .action(
      act(async (run, words, flags) => {
        const [{ argoRollback }, connection] = await Promise.all([operations(), run.connect()])
        return await argoRollback(words, { ...run, connection, flags })
      }),
    )
  withArgoNamespace(argo.command('terminate-op'))
    .argument('<application>', NAME)
    .about(
      'Terminate the operation of an Application',
      'Clusters that have not begun the sync keep their content. An agent that has begun to apply finishes.',
    )
    .example('Terminate a sync', 'flotilla argo terminate-op web')
    .action(
      act(async (run, words, flags) => {
        const [{ argoTerminate }, connection] = await Promise.all([operations(), run.connect()])
        await argoTerminate(words[0]!, { ...run, connection, flags })
      }),
    )
  withYes(withArgoNamespace(argo.command('delete')))
    .argument('<application...>', NAME)
    .about(
      'Delete Applications',
      'Deletes their objects in the cluster, too, unless --cascade is false. Asks for a confirmation.',
    )
    .example('Delete an Application and keep its objects', 'flotilla argo delete web --cascade false')
    .option('--cascade <true|false>', 'Delete the objects in the cluster', 'true')
    .option('-p, --propagation-policy <policy>', 'Deletion of the objects: foreground or background', 'foreground')
    .action(
      act(async (run, words, flags) => {
        const [{ argoDelete }, { askYesNo }, connection] = await Promise.all([
          operations(),
          import('../../../input/prompt.ts'),
          run.connect(),
        ])
        await argoDelete(words, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
}

function addGenerate(argo: FlotillaCommand, act: Act): void {
  argo
    .command('generate')
    .about(
      'Show the Applications of an ApplicationSet',
      'Prints a List of the Applications, sorted by name. An error of a generator or template is printed, and the exit code is 1.',
    )
    .example(
      'Use clusters and projects of a file',
      'flotilla argo generate -f appset.yaml -f clusters.yaml -f projects.yaml',
    )
    .example(
      'Run a git generator',
      'flotilla argo generate -f appset.yaml -f projects.yaml --root https://git.example/apps.git@main=./apps',
    )
    .requiredOption(
      '-f, --filename <file>',
      'File with the ApplicationSet, Secrets of clusters, AppProjects, ConfigMaps or decisions (required, repeatable)',
      collect,
    )
    .option('--root <url@revision=dir>', 'Clone of a git repository at a revision (repeatable)', collect)
    .option('-n, --namespace <namespace>', 'Namespace of Argo CD', 'argocd')
    .addOption(outputOption('yaml', 'json'))
    .action(
      act(async (run, _words, flags) => {
        const { generate } = await import('../../../commands/argo/generate.ts')
        await generate({ terminal: run.terminal, flags })
      }),
    )
}
