/** The output of the process: through Node's streams, or directly to the file descriptors. */
import { writeSync } from 'node:fs'
import type { Output } from '../print/terminal.ts'

type StreamName = 'stdout' | 'stderr'

const DESCRIPTORS: Readonly<Record<StreamName, number>> = { stdout: 1, stderr: 2 }

let isStreaming = false

/** Whether a stream was opened. Written data may then still be buffered. */
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

/** Writes bytes that are not text. */
export function writeBytes(name: StreamName, bytes: Uint8Array): void {
  opened(name).write(bytes)
}

/** A stream of Node, opened at the first use. */
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

/** Writes to the file descriptor without opening a stream. */
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
        isPlain = false // EAGAIN or another error: Node's stream handles it
      }
    }
    if (rest.length > 0) opened(name).write(rest)
  }
  return Object.defineProperty(stream, 'write', { value: write })
}
