/** The output of a command: data goes to stdout, all messages go to stderr. */
import type { CliEnvironment } from '../config.ts'

/** A stream for text, for example a process stream. */
export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  /** Width of the terminal. */
  readonly columns?: number | undefined
}

/** Signs in front of progress lines. */
export type Sign = 'ok' | 'fail' | 'warn' | 'wait' | 'next'

/** Colours. They never carry meaning alone. */
export type Color = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold'

export interface Terminal {
  /** Writes data to stdout. */
  data(text: string): void
  /** Writes a message to stderr. Commands in it are passed through `command`. */
  say(text: string): void
  /** Writes a sign and a line to stderr. */
  step(sign: Sign, text: string): void
  /** Replaces `flotilla …` by the command that the user typed: `bin/flotilla …` in a clone, or `kubectl flotilla …`. */
  command(text: string): string
  /** A sign as text. ASCII if the locale is not UTF-8. */
  sign(sign: Sign): string
  /** Colours text if stdout is a terminal with colours. */
  paint(color: Color, text: string): string
  /** Whether stdout is a terminal, so that lines can be redrawn. */
  readonly isLive: boolean
  /** Width of the terminal in characters. */
  readonly columns: number
  /** Whether the user can be asked on stdin. */
  readonly isInteractive: boolean
  /** Standard input is a terminal, so that nothing is to be read from it. */
  readonly stdinIsTTY: boolean
  /** Whether the locale is UTF-8. */
  readonly isUtf8: boolean
}

/** The streams of a terminal and its settings. */
export interface TerminalOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdinIsTTY: boolean
  readonly environment: Pick<CliEnvironment, 'isUtf8' | 'color' | 'program'>
  /** The flag --color. Has precedence over the environment. */
  readonly color?: 'auto' | 'always' | 'never'
}

const SIGNS: Readonly<Record<Sign, readonly [utf8: string, ascii: string, color: Color]>> = {
  ok: ['✔', 'ok', 'green'],
  fail: ['✗', 'x', 'red'],
  warn: ['!', '!', 'yellow'],
  wait: ['◎', '..', 'cyan'],
  next: ['►', '>', 'cyan'],
}

const CODES: Readonly<Record<Color, string>> = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' }

/** Creates a terminal over two streams. */
export function createTerminal(options: TerminalOptions): Terminal {
  const { stdout, stderr, environment } = options
  const wantsColor = (stream: Output): boolean => {
    if (options.color === 'always') return true
    if (options.color === 'never') return false
    return environment.color ?? stream.isTTY
  }
  const painted = (stream: Output, color: Color, text: string): string =>
    wantsColor(stream) ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text
  // `flotilla` after a path or as part of a package name is not a command.
  const command = (text: string): string =>
    text.replaceAll(/(^|[\s`'"(])flotilla (?=[a-z-])/g, (_, before: string) => `${before}${environment.program} `)
  const signText = (sign: Sign): string => SIGNS[sign][environment.isUtf8 ? 0 : 1]
  return {
    data: (text) => stdout.write(text),
    say: (text) => stderr.write(`${command(text)}\n`),
    step: (sign, text) => stderr.write(`${painted(stderr, SIGNS[sign][2], signText(sign))} ${command(text)}\n`),
    command,
    sign: signText,
    paint: (color, text) => painted(stdout, color, text),
    get isLive() {
      return stdout.isTTY
    },
    get columns() {
      return stdout.columns || 80 // some terminals report 0
    },
    get isInteractive() {
      return options.stdinIsTTY && stderr.isTTY
    },
    stdinIsTTY: options.stdinIsTTY,
    isUtf8: environment.isUtf8,
  }
}
