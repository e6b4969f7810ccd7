import { collect, outputOption } from '../../command-action.ts'
import type { Act } from '../../command-action.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

/** `argo generate`: ApplicationSets without a hub. */
export function addArgo(program: FlotillaCommand, act: Act): void {
  program
    .command('argo')
    .helpGroup(GROUP.offline)
    .about('Work with ApplicationSets of Argo CD', 'Works without Argo CD and without a hub.')
    .example('Show what an ApplicationSet makes', 'flotilla argo generate -f appset.yaml -f clusters.yaml')
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
