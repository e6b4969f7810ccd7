import { readFile } from 'node:fs/promises'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** Reads a file that a flag names. */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError(EXIT.usage, { where: file, what: 'cannot read the file', why }, { cause })
  }
}
