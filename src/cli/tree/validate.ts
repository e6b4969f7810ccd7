import { Option } from 'commander'
import type { Command } from 'commander'
import { collect } from './act.ts'
import type { Act } from './act.ts'

/** `validate`: what is wrong with files. */
export function addValidate(program: Command, act: Act): void {
  program
    .command('validate')
    .argument('[dir...]', 'directories with Flotilla objects, manifests, charts; this one without any')
    .description('look for mistakes in files before they are applied; with --hub also against the fleet')
    .option('-f, --filename <file>', 'a file or directory, or - for stdin (repeatable)', collect)
    .option('--root <dir>', 'the repository that Sources stand for; the git work tree without it')
    .option('--hub', 'ask the hub of the kubeconfig for clusters, placements and what else is there')
    .option('--kube-version <version>', 'of the clusters, where none is known')
    .option('--strict', 'warnings fail too')
    .addOption(
      new Option('-o, --output <format>', 'output')
        .choices(['text', 'json', 'markdown', 'sarif', 'github'])
        .default('text'),
    )
    .action(
      act(async (run, words, flags) => {
        const { validate } = await import('../commands/validate.ts')
        return await validate(words, { ...run, connect: () => run.connect(), flags })
      }),
    )
}
