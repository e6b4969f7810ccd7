/** `flotilla flux envsubst`: replaces variables in a text, line by line, without a hub. */
import { concatBytes } from '../../../core/bytes.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What the command reads. */
export interface EnvsubstInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly flags: { readonly strict?: boolean }
  /** Receives a result that is not UTF-8: a substitution can cut a character in two. */
  readonly writeBytes: (bytes: Uint8Array) => void
}

const MAX_INPUT = 64 * 1024 * 1024

/** Prints each line with its variables replaced. The lines before a failing one are printed. */
export async function envsubst({ terminal, stdin, variables, flags, writeBytes }: EnvsubstInput): Promise<void> {
  const [{ substituteBytes }, { SubstituteError }, { bytesAsText, byteTextBytes, fromByteText }] = await Promise.all([
    import('../../../dialects/flux/substitute/substitute.ts'),
    import('../../../dialects/flux/substitute/substitute-error.ts'),
    import('../../../dialects/flux/text/byte-text.ts'),
  ])
  const vars = new Map(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const lines = bytesAsText(await readInput(stdin))
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') lines.pop()
  let done = ''
  const print = (): void => {
    const text = fromByteText(done)
    if (text === undefined) writeBytes(byteTextBytes(done))
    else terminal.data(text)
  }
  try {
    for (const line of lines) done += `${substituteBytes(line, { vars, strict: flags.strict ?? false })}\n`
  } catch (caught) {
    if (!(caught instanceof SubstituteError)) throw caught
    print()
    throw new CliError(EXIT.failed, { what: `variable substitution failed: ${caught.message}` }, { cause: caught })
  }
  print()
}

async function readInput(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of stdin) {
    size += part.byteLength
    if (size > MAX_INPUT) throw new CliError(EXIT.usage, { what: `the input has more than ${MAX_INPUT} bytes` })
    parts.push(part)
  }
  return concatBytes(parts)
}
