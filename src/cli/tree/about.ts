import type { Command } from 'commander'
import { VERSION } from '../../core/version.ts'
import { CliError, EXIT, EXIT_MEANINGS } from '../exit.ts'
import { didYouMean } from '../suggest.ts'
import type { Act } from './act.ts'

/** Commands about the program itself. */
export function addAbout(program: Command, act: Act): void {
  program
    .command('version')
    .description('print the version')
    .action(
      act(async ({ terminal }) => {
        terminal.data(`flotilla ${VERSION} (node ${process.versions.node}, ${process.platform} ${process.arch})\n`)
      }),
    )
  program
    .command('help')
    .argument('[words...]')
    .description('help about a command, or about exit-codes')
    .action(
      act(async ({ terminal }, words) => {
        if (words[0] === 'exit-codes') {
          terminal.data(EXIT_MEANINGS.map(([code, meaning]) => `${String(code).padStart(4)}  ${meaning}\n`).join(''))
          return
        }
        let at = program
        for (const word of words) {
          const next = at.commands.find((command) => command.name() === word)
          if (!next) {
            const names = [...at.commands.map((command) => command.name()), 'exit-codes']
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
