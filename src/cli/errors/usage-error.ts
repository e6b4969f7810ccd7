/** A command line that cannot be read, in the four lines of every other error. */
import type { Command, CommanderError } from 'commander'
import type { ErrorReport } from './cli-error.ts'

/** Whose command line it was. */
export interface UsageContext {
  readonly root: Command
  readonly args: readonly string[]
}

/** Whether it is help that was shown, where a command was missing. */
export function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help'
}

/** What is wrong with a command line, and whose help to read. */
export function usageErrorReport(message: string, { root, args }: UsageContext): ErrorReport {
  const [what = '', ...more] = message.split('\n')
  const suggestion = /^\(Did you mean (.*)\?\)$/.exec(more.join(' '))?.[1]
  const help = `see: ${['flotilla', ...commandWords(root, args), '--help'].join(' ')}`
  return {
    what: what.replace(/^error: /, ''),
    todo: suggestion === undefined ? help : `did you mean ${suggestion}? Else ${help}`,
  }
}

/** The words of the line that name its command. */
function commandWords(root: Command, args: readonly string[]): string[] {
  const words: string[] = []
  let command = root
  for (const word of args) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (!next) continue
    words.push(word)
    command = next
  }
  return words
}
