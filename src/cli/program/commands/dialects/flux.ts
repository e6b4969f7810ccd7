// Tested by src/cli/commands/flux/flux.contract.test.ts.
import { writeBytes } from '../../../executable/process-output.ts'
import type { Act } from '../../command-action.ts'
import { addFluxDiff } from './flux-diff.ts'
import { addFluxObjects } from './flux-objects.ts'
import { addFluxWords } from './flux-words.ts'
import { GROUP } from '../../flotilla-command.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

const splitList = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')]

/** `flux build kustomization` and `flux envsubst`: Flux's files without a hub. */
export function addFlux(program: FlotillaCommand, act: Act): void {
  const flux = program
    .command('flux')
    .helpGroup(GROUP.offline)
    .about(
      'Work with files and objects of Flux',
      'build and envsubst work without Flux and without a hub. The other commands read and change objects of Flux that the hub serves.',
    )
    .example(
      'Show what a Kustomization applies',
      'flotilla flux build kustomization apps --path ./apps --kustomization-file apps.yaml --dry-run',
    )
  flux
    .command('build')
    .about('Build the objects of a Flux object', 'Prints what Flux would apply, without Flux and without a hub.')
    .example(
      'Build a Kustomization',
      'flotilla flux build kustomization apps --path ./apps --kustomization-file apps.yaml --dry-run',
    )
    .command('kustomization')
    .alias('ks')
    .argument('<name>', 'Name of the Kustomization')
    .about(
      'Print the objects of a Kustomization',
      'Prints what "flux build kustomization" prints: the objects of the directory with the patches, images, variables and labels of the Kustomization. Values that SOPS encrypted are masked.',
    )
    .example(
      'Replace variables from ConfigMaps and Secrets of a file',
      'flotilla flux build kustomization apps --path ./apps --kustomization-file apps.yaml --objects cluster.yaml',
    )
    .requiredOption('--path <dir>', 'Directory to build (required)')
    .requiredOption('--kustomization-file <file>', 'File with the Kustomization (required)')
    .option('-n, --namespace <namespace>', 'Namespace of the Kustomization', 'flux-system')
    .option('--dry-run', 'Leave out substituteFrom')
    .option('--objects <file>', 'File with ConfigMaps and Secrets that substituteFrom names')
    .option('--strict-substitute', 'Fail if a variable is not set and has no default')
    .option(
      '--ignore-paths <patterns>',
      'Patterns of files to leave out, as in .sourceignore (comma-separated)',
      splitList,
    )
    .option('--recursive', 'Also build the Kustomizations that the build contains')
    .option(
      '--local-sources <kind/namespace/name=dir>',
      'Directory of a source, for --recursive (comma-separated, repeatable)',
      splitList,
    )
    .action(
      act(async (run, [name = ''], flags) => {
        const { buildKustomizationCommand } = await import('../../../commands/flux/build-kustomization.ts')
        await buildKustomizationCommand(name, { terminal: run.terminal, flags })
      }),
    )
  flux
    .command('envsubst')
    .about(
      'Replace variables of the environment in a text',
      'Reads stdin and prints each line with ${NAME} replaced, with the functions that Flux has: ${NAME:=default}, ${NAME:offset:length}, ${NAME/old/new} and others.',
    )
    .example('Fail if a variable is not set', 'flotilla flux envsubst --strict')
    .option('--strict', 'Fail if a variable is not set and has no default')
    .action(
      act(async (run, _words, flags) => {
        const { envsubst } = await import('../../../commands/flux/envsubst.ts')
        await envsubst({
          terminal: run.terminal,
          stdin: run.stdin,
          variables: run.environment.variables,
          flags,
          writeBytes: run.writeBytes ?? ((bytes) => writeBytes('stdout', bytes)),
        })
      }),
    )
  addFluxDiff(flux, act)
  addFluxObjects(flux, act)
  addFluxWords(flux, act)
}
