// Tested by src/cli/commands/compliance/compliance.test.ts
import { CliError, EXIT } from '../../errors/cli-error.ts'

/** One of some words, in any case. */
export function readWord<T extends string>(text: string | undefined, flag: string, words: readonly T[]): T | undefined {
  if (text === undefined) return undefined
  const found = words.find((word) => word.toLowerCase() === text.toLowerCase())
  if (found) return found
  throw new CliError(EXIT.usage, {
    what: `invalid ${flag} ${JSON.stringify(text)}: must be one of ${words.join(', ')}`,
  })
}
