/** Errors of command lines that cannot be parsed. */
import type { Command, CommanderError } from 'commander'
import { optionsOf, walkWords } from '../program/completion.ts'
import type { ErrorReport } from './cli-error.ts'
import { nearestName } from '../../core/text/nearest-name.ts'

/** The program and the command line that it could not parse. */
export interface UsageContext {
  readonly program: Command
  readonly args: readonly string[]
}

/** Whether commander printed the help because a subcommand is missing. */
export function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help'
}

/** Reports the cause of a parse error, with the help command of the deepest command that was recognized. */
export function usageErrorReport({ code, message }: CommanderError, { program, args }: UsageContext): ErrorReport {
  const { command, given } = walkWords(program, args)
  const path = commandPath(command)
  const [word] = given
  const isUnknown = code === 'commander.unknownCommand' || code === 'commander.excessArguments'
  if (isUnknown && word !== undefined && command.commands.length > 0) {
    return {
      what: `unknown command ${JSON.stringify(word)} for ${JSON.stringify(path)}`,
      todo: pointer(command, given) ?? `see ${JSON.stringify(`${path} --help`)}`,
    }
  }
  const [what = ''] = message.split('\n')
  const near = code === 'commander.unknownOption' ? nearestOption(command, args) : undefined
  return {
    what: withoutPrefix(what, 'error: '),
    todo: near === undefined ? `see ${JSON.stringify(`${path} --help`)}` : `did you mean ${JSON.stringify(near)}?`,
  }
}

/** A parse error in the words of Go's cobra, for commands that replace one; `otherwise` if cobra has no such error. */
export function cobraError({ code, message }: CommanderError, otherwise: string): string {
  const [, flag = ''] = /'([^']*)'/.exec(message) ?? []
  const [name = ''] = flag.match(/--[\w-]+/) ?? []
  switch (code) {
    case 'commander.unknownOption':
      return flag.startsWith('--')
        ? `Error: unknown flag: ${flag.split('=')[0]}`
        : `Error: unknown shorthand flag: '${flag.charAt(1)}' in ${flag}`
    case 'commander.optionMissingArgument':
      return `Error: flag needs an argument: ${name}`
    case 'commander.missingMandatoryOptionValue':
      return `Error: required flag(s) "${name.slice(2)}" not set`
    default:
      return otherwise
  }
}

/** The nearest flag to the first word that looks like a flag and is none. */
function nearestOption(command: Command, args: readonly string[]): string | undefined {
  const known = optionsOf(command).flatMap(({ short, long }) => [short, long].filter((name) => name !== undefined))
  const unknown = args.map((word) => word.split('=')[0]!).find((word) => word.startsWith('-') && !known.includes(word))
  return unknown === undefined ? undefined : nearestName(unknown, known)
}

/** Words that other programs use for what `get` does. */
const LISTS = new Set(['list', 'ls', 'get', 'show', 'describe'])

function pointer(command: Command, [word = '', kind, name]: readonly string[]): string | undefined {
  if (LISTS.has(word)) {
    if (command.parent) return `list ${command.name()}s with "flotilla get ${command.name()}s"`
    return kind !== undefined && name !== undefined
      ? `use "flotilla get ${kind} ${name} -o yaml" or "kubectl describe ${kind} ${name}"`
      : `use "flotilla get ${kind ?? 'clusters'}"`
  }
  const names = command.commands.map((child) => child.name()).filter((child) => !child.startsWith('__'))
  const nearest = nearestName(word, names)
  return nearest === undefined ? undefined : `did you mean ${JSON.stringify(`${commandPath(command)} ${nearest}`)}?`
}

function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name()
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}
