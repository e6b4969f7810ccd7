import { Option } from 'commander'
import type { Command } from 'commander'
import { collect } from '../command-action.ts'
import type { Act } from '../command-action.ts'

/** Commands about files that are not applied yet: validate, diff. */
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
        const { validate } = await import('../../commands/preview/validate.ts')
        return await validate(words, { ...run, connect: () => run.connect(), flags })
      }),
    )
  program
    .command('diff')
    .description('what a branch or the working directory would do to the fleet; exits 1 when there are differences')
    .option(
      '-f, --filename <dir>',
      'where Flotilla objects are looked for; this directory without it (repeatable)',
      collect,
    )
    .option('--root <dir>', 'the clone of the repository; the git work tree around the directory without it')
    .option('--branch <revision>', 'a branch, tag or commit to look at instead of the working directory')
    .option('--source <name>', 'the Source that the repository is; found by its remotes without it')
    .option('--into <branch>', 'only Sources that follow this branch')
    .option('--against <revision>', 'compare with this commit instead of what the hub delivers', 'live')
    .option('--bundle <name>', 'only this bundle')
    .option('--summary', 'one line per group of clusters')
    .addOption(new Option('-o, --output <format>', 'output').choices(['text', 'json', 'markdown']).default('text'))
    .action(
      act(async (run, _words, flags) => {
        const [{ diff }, connection] = await Promise.all([import('../../commands/preview/diff.ts'), run.connect()])
        return await diff({ ...run, connection, flags })
      }),
    )
}
