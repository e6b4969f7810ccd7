import { readFile } from 'node:fs/promises'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** The text of a file that somebody named; one that cannot be read is a sentence. */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError(EXIT.usage, { what: 'the file cannot be read', where: file, why }, { cause })
  }
}
