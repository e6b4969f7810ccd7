/** Where a command prints: data to stdout, everything else to stderr. */
import type { CliEnvironment } from '../config.ts'

/** Something to write text to; a process stream fits. */
export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  /** How wide a terminal is. */
  readonly columns?: number | undefined
}

/** Signs in front of progress lines, the same in every command. */
export type Sign = 'ok' | 'fail' | 'warn' | 'wait' | 'next'

/** Colours that carry no meaning alone. */
export type Color = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold'

/** A command's mouth. */
export interface Terminal {
  /** Data: what a pipe should get. */
  data(text: string): void
  /** Progress, hints and warnings, on stderr; commands in them are written `flotilla …`, and shown as `command` does. */
  say(text: string): void
  /** A sign and a line, on stderr. */
  step(sign: Sign, text: string): void
  /** Text with commands `flotilla …` as this person would type them: `bin/flotilla …` in a clone, `kubectl flotilla …`. */
  command(text: string): string
  /** A sign as text, ASCII where the locale is not UTF-8. */
  sign(sign: Sign): string
  /** Text in a colour when data goes to a terminal that wants colours. */
  paint(color: Color, text: string): string
  /** True when data goes to a terminal, where it can be drawn over. */
  readonly isLive: boolean
  /** How many characters fit in a line there. */
  readonly columns: number
  /** True when a person can be asked on stdin. */
  readonly isInteractive: boolean
  /** False where only ASCII can be shown. */
  readonly isUtf8: boolean
}

/** Where the streams lead and what was asked for. */
export interface TerminalOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdinIsTTY: boolean
  readonly environment: Pick<CliEnvironment, 'isUtf8' | 'color' | 'program'>
  /** From `--color`; wins over the environment. */
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

/** A terminal over two streams. */
export function createTerminal(options: TerminalOptions): Terminal {
  const { stdout, stderr, environment } = options
  const wantsColor = (stream: Output): boolean => {
    if (options.color === 'always') return true
    if (options.color === 'never') return false
    return environment.color ?? stream.isTTY
  }
  const painted = (stream: Output, color: Color, text: string): string =>
    wantsColor(stream) ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text
  // A word before it, a path or a package's name, makes it another thing.
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
      return stdout.columns || 80 // some terminals say 0
    },
    get isInteractive() {
      return options.stdinIsTTY && stderr.isTTY
    },
    isUtf8: environment.isUtf8,
  }
}
