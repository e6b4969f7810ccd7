// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { join } from 'node:path'
import { Argument } from 'commander'
import { VERSION } from '../../../core/version.ts'
import { completionScript, SHELLS } from '../completion.ts'
import type { Shell } from '../completion.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { HELP_TOPICS } from '../help-topics.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `completion`, `help` and `version`: the program itself. */
export function addProgramCommands(program: FlotillaCommand, act: Act): void {
  addCompletion(program, act)
  program
    .command('help')
    .helpGroup(GROUP.other)
    .argument('[words...]', 'Command or topic')
    .about('Show the help of a command or a topic', `Topics: ${Object.keys(HELP_TOPICS).join(', ')}.`)
    .example('Show the help of a command', 'flotilla help rollout approve')
    .example('List the exit codes', 'flotilla help exit-codes')
    .action(
      act(async ({ terminal }, words) => {
        const [topic = ''] = words
        if (Object.hasOwn(HELP_TOPICS, topic)) return terminal.data(HELP_TOPICS[topic]!)
        terminal.data(commandNamed(words, program).helpInformation())
      }),
    )
  program
    .command('version')
    .helpGroup(GROUP.other)
    .about('Print the version', 'Also prints the version of Node.js and the platform.')
    .example('Print the version', 'flotilla version')
    .action(
      act(async ({ terminal, environment }) => {
        terminal.data(`flotilla ${VERSION} (node ${environment.nodeVersion}, ${process.platform} ${process.arch})\n`)
      }),
    )
}

function commandNamed(words: readonly string[], program: FlotillaCommand): FlotillaCommand {
  let found = program
  for (const word of words) {
    const next = (found.commands as readonly FlotillaCommand[]).find((command) => command.name() === word)
    if (!next) {
      const names = [...found.commands.map((command) => command.name()), ...Object.keys(HELP_TOPICS)]
      throw new CliError(EXIT.usage, {
        what: `no help for ${JSON.stringify(words.join(' '))}`,
        todo: didYouMean(word, names) ?? `available: ${names.join(', ')}`,
      })
    }
    found = next
  }
  return found
}

function addCompletion(program: FlotillaCommand, act: Act): void {
  program
    .command('completion')
    .helpGroup(GROUP.other)
    .addArgument(new Argument('<shell>', 'Shell').choices(SHELLS))
    .about(
      'Print a completion script',
      'Completes commands, flags, kinds and names. The scripts for bash, zsh and fish are tested; the script for PowerShell is not.',
    )
    .example('Enable completion in the current bash', 'flotilla completion bash')
    .action(
      act(async ({ terminal }, words) => {
        terminal.data(completionScript(words[0] as Shell))
      }),
    )
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .about('Print completion candidates', 'The completion scripts call this command.')
    .example('Complete the names of clusters', 'flotilla __complete -- get clusters s')
    .option('--kubectl', 'End with the directive line that kubectl expects of a plugin')
    .action(
      act(async (run, words, flags) => {
        const { completeWords } = await import('../complete-words.ts')
        const cacheFile = join(run.environment.stateFolder, 'completion.json')
        run.terminal.data(await completeWords(program, words, { connect: run.connect, cacheFile }))
        // Cobra's directive "no file completion".
        if (flags['kubectl']) run.terminal.data(':4\n')
      }),
    )
}
