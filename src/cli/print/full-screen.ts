// Tested by test/e2e/top.contract.test.ts in a pseudo terminal.
/** The terminal as a whole: raw keys in, whole screens out, and everything as it was at the end. */
import type { ReadStream, WriteStream } from 'node:tty'

/** The terminal while it is taken. */
export interface FullScreen {
  readonly columns: number
  readonly rows: number
  /** Shows these lines, and nothing else. */
  show(lines: readonly string[]): void
  /** Receives what is typed; returns a function that ends it. */
  onKeys(receive: (text: string) => void): () => void
  onResize(resized: () => void): () => void
  /** Gives the terminal back. */
  close(): void
}

// The second screen of a terminal, so that what was on the first is there afterwards.
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const SMALLEST = { columns: 20, rows: 6 }

/** Takes the terminal of the process; undefined if there is none, or if it cannot move its cursor. */
export function openFullScreen(
  { stdin, stdout }: { readonly stdin: ReadStream; readonly stdout: WriteStream },
  term: string | undefined,
): FullScreen | undefined {
  if (!stdin.isTTY || !stdout.isTTY || term === 'dumb') return undefined
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  stdout.write(ENTER)
  let shown: readonly string[] = []
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', close)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(LEAVE)
  }
  // An error that ends the process must not leave a terminal without echo.
  process.on('exit', close)
  return {
    get columns() {
      return Math.max(SMALLEST.columns, stdout.columns || 80) // some terminals report 0
    },
    get rows() {
      return Math.max(SMALLEST.rows, stdout.rows || 24)
    },
    show(lines) {
      // Only lines that changed are written: a terminal behind a slow line keeps up.
      const changes = lines.flatMap((line, at) => (line === shown[at] ? [] : [`\u001b[${at + 1};1H${line}\u001b[K`]))
      const rest = lines.length < shown.length ? [`\u001b[${lines.length + 1};1H\u001b[J`] : []
      shown = lines
      if (changes.length + rest.length > 0) stdout.write([...changes, ...rest].join(''))
    },
    onKeys(receive) {
      stdin.on('data', receive)
      return () => void stdin.off('data', receive)
    },
    onResize(resized) {
      const listener = (): void => {
        shown = []
        stdout.write('\u001b[2J')
        resized()
      }
      stdout.on('resize', listener)
      return () => void stdout.off('resize', listener)
    },
    close,
  }
}
