/** Where the process prints: through the streams of Node, or past them. */
import { writeSync } from 'node:fs'
import type { Output } from '../print/terminal.ts'

type StreamName = 'stdout' | 'stderr'

const DESCRIPTORS: Readonly<Record<StreamName, number>> = { stdout: 1, stderr: 2 }

let isStreaming = false

/** Whether a stream was opened: then what was written may still be on its way. */
export function usedStreams(): boolean {
  return isStreaming
}

function opened(name: StreamName): NodeJS.WriteStream {
  isStreaming = true
  const stream: NodeJS.WriteStream = process[name]
  // A closed pipe (`flotilla get … | head`) is the end of the command, not an error.
  if (stream.listenerCount('error') === 0) stream.on('error', () => process.exit())
  return stream
}

/** Writes bytes that are no text. */
export function writeBytes(name: StreamName, bytes: Uint8Array): void {
  opened(name).write(bytes)
}

/** A stream of Node, opened by the first who needs it. */
export function streamOutput(name: StreamName): Output {
  return {
    write: (text) => void opened(name).write(text),
    get isTTY() {
      return opened(name).isTTY
    },
    get columns() {
      return opened(name).columns
    },
  }
}

/** The same, but what is written goes to the file descriptor at once: a stream is not opened for that. */
export function plainOutput(name: StreamName): Output {
  const stream = streamOutput(name)
  let isPlain = true
  const write = (text: string): void => {
    let rest = Buffer.from(text)
    while (isPlain && rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(DESCRIPTORS[name], rest))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EPIPE') process.exit()
        isPlain = false // a reader that is not waited for (EAGAIN), or anything else: the stream knows what to do
      }
    }
    if (rest.length > 0) opened(name).write(rest)
  }
  return Object.defineProperty(stream, 'write', { value: write })
}
