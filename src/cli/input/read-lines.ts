// Tested by src/cli/commands/evidence/evidence.test.ts
/** The lines of a file or an answer, with a limit for each line. */
import { concatBytes, fromUtf8 } from '../../core/bytes.ts'

const MAX_LINE_BYTES = 64 * 1024 * 1024

/** Lines without their line breaks. Text that is not UTF-8 and a line that is too long are errors. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      yield fromUtf8(concatBytes([...rest, chunk.subarray(from, at)]))
      rest = []
      size = 0
      from = at + 1
    }
    if (from < chunk.byteLength) rest.push(chunk.slice(from))
    size += chunk.byteLength - from
    if (size > MAX_LINE_BYTES) throw new RangeError(`a line is longer than ${MAX_LINE_BYTES} bytes`)
  }
  if (size > 0) yield fromUtf8(concatBytes(rest))
}
