// Tested by src/cli/commands/ocm/place.test.ts and src/cli/commands/karmada/schedule.test.ts.
/** The cases of `--batch`: a file, or standard input, with one JSON object with an id per line. */
import { open } from 'node:fs/promises'
import { isObject } from '../../core/json.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { readLines } from './read-lines.ts'

/** A case and its place in the file. */
export interface BatchCase {
  readonly id: unknown
  readonly question: { readonly id: unknown }
  readonly where: string
}

/** Yields the cases of a file; `-` reads standard input. Blank lines are skipped. */
export async function* readBatchCases(file: string, stdin: AsyncIterable<Uint8Array>): AsyncGenerator<BatchCase> {
  let number = 0
  for await (const line of linesOf(file, stdin)) {
    number += 1
    if (line.trim() === '') continue
    const where = `${file}:${number}`
    const question = parseLine(line, where)
    yield { id: question.id, question, where }
  }
}

async function* linesOf(file: string, stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  try {
    if (file === '-') return yield* readLines(stdin)
    const handle = await open(file)
    await using _closed = handle
    yield* readLines(handle.createReadStream({ autoClose: false }))
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError(EXIT.usage, { where: file, what: 'cannot read the file', why: messageOf(cause) }, { cause })
  }
}

function parseLine(line: string, where: string): { readonly id: unknown } {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value) && 'id' in value) return value as { readonly id: unknown }
  } catch (cause) {
    throw new CliError(EXIT.usage, { where, what: 'the line is not JSON', why: messageOf(cause) }, { cause })
  }
  throw new CliError(EXIT.usage, { where, what: 'want a JSON object with an id' })
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
