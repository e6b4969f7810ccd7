import { join } from 'node:path'
import { Argument } from 'commander'
import type { Command } from 'commander'
import { VERSION } from '../../../core/version.ts'
import { completionScript, SHELLS } from '../completion.ts'
import type { Shell } from '../completion.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { HELP_TOPICS } from '../help-topics.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Act } from '../command-action.ts'

/** Commands about the program itself. */
export function addAbout(program: Command, act: Act): void {
  program
    .command('version')
    .description('print the version')
    .action(
      act(async ({ terminal, environment }) => {
        terminal.data(`flotilla ${VERSION} (node ${environment.nodeVersion}, ${process.platform} ${process.arch})\n`)
      }),
    )
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .description(
      'print a script that completes commands, flags, kinds and names; tests run those of bash, zsh and fish, that of PowerShell is untested',
    )
    .action(
      act(async ({ terminal }, words) => {
        terminal.data(completionScript(words[0] as Shell))
      }),
    )
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .option('--kubectl', 'end with the line that kubectl expects of a plugin')
    .action(
      act(async (run, words, flags) => {
        const { completeWords } = await import('../complete-words.ts')
        const cacheFile = join(run.environment.stateFolder, 'completion.json')
        run.terminal.data(await completeWords(program, words, { connect: run.connect, cacheFile }))
        // Cobra's "no file names, please".
        if (flags['kubectl']) run.terminal.data(':4\n')
      }),
    )
  program
    .command('help')
    .argument('[words...]')
    .description(`help about a command, or about ${Object.keys(HELP_TOPICS).join(', ')}`)
    .action(
      act(async ({ terminal }, words) => {
        const [topic = ''] = words
        if (Object.hasOwn(HELP_TOPICS, topic)) return terminal.data(HELP_TOPICS[topic]!)
        let at = program
        for (const word of words) {
          const next = at.commands.find((command) => command.name() === word)
          if (!next) {
            const names = [...at.commands.map((command) => command.name()), ...Object.keys(HELP_TOPICS)]
            throw new CliError(EXIT.usage, {
              what: `there is no help about ${JSON.stringify(words.join(' '))}`,
              todo: didYouMean(word, names) ?? `topics: ${names.join(', ')}`,
            })
          }
          at = next
        }
        terminal.data(at.helpInformation())
      }),
    )
}
