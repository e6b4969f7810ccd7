// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { collect, outputOption } from '../../command-action.ts'
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
    .option('--revision <revision>', 'Revision to sync to; only the revision that the Application follows is possible')
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
