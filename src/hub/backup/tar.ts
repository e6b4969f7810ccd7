/** A backup's container: plain files in one POSIX tar, which every system can list and open. */
import type { FileHandle } from 'node:fs/promises'
import { Stalled } from '../../core/errors.ts'
import { TAR_BLOCK_BYTES, tarChecksum, MAX_TAR_NAME, tarPadding, tarHeader, tarNumber } from '../../core/tar.ts'

/** A file of an archive. */
export interface TarEntry {
  readonly name: string
  readonly size: number
  /** Its bytes, to be read before the next entry is asked for; what is left is skipped. */
  chunks(): AsyncIterable<Uint8Array>
}

const CHUNK = 1024 * 1024

/** Writes one file; `size` bytes must come. */
export async function writeTarEntry(
  out: FileHandle,
  { name, size }: { readonly name: string; readonly size: number },
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  if (Buffer.byteLength(name) > MAX_TAR_NAME)
    throw new Stalled('BackupFailed', `the name ${name} is too long for an archive`)
  await out.appendFile(tarHeader(name, size))
  let written = 0
  for await (const chunk of chunks) {
    written += chunk.byteLength
    await out.appendFile(chunk)
  }
  if (written !== size) {
    throw new Stalled('BackupFailed', `${name} has ${written} bytes instead of ${size}`, { todo: 'try again' })
  }
  await out.appendFile(new Uint8Array(tarPadding(size)))
}

/** Writes the end of an archive. */
export async function endTar(out: FileHandle): Promise<void> {
  await out.appendFile(new Uint8Array(2 * TAR_BLOCK_BYTES))
}

/** Reads the files of an archive in turn; `damaged` makes the error for what is no archive. */
export async function* readTar(file: FileHandle, damaged: (why: string) => Error): AsyncGenerator<TarEntry> {
  let position = 0
  const read = async (length: number, at: number): Promise<Buffer> => {
    const buffer = Buffer.alloc(length)
    let done = 0
    while (done < length) {
      const { bytesRead } = await file.read(buffer, done, length - done, at + done)
      if (bytesRead === 0) throw damaged('it ends in the middle')
      done += bytesRead
    }
    return buffer
  }
  for (;;) {
    const header = await read(TAR_BLOCK_BYTES, position)
    position += TAR_BLOCK_BYTES
    if (header.every((byte) => byte === 0)) return
    const { name, size } = parseHeader(header, damaged)
    const start = position
    position += size + tarPadding(size)
    yield {
      name,
      size,
      async *chunks() {
        for (let done = 0; done < size; done += CHUNK) yield await read(Math.min(CHUNK, size - done), start + done)
      },
    }
  }
}

function parseHeader(header: Buffer, damaged: (why: string) => Error): { name: string; size: number } {
  const sum = tarNumber(header.subarray(148, 156))
  if (sum !== tarChecksum(header)) throw damaged('it is no archive, or one with a changed byte')
  const name = header.toString('utf8', 0, 100).split('\0', 1)[0]!
  const size = tarNumber(header.subarray(124, 136))
  if (size === undefined) throw damaged(`the size of ${JSON.stringify(name)} cannot be read`)
  return { name, size }
}
