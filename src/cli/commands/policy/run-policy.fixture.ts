/** Runs `flotilla policy` in this process. */
import { utf8 } from '../../../core/bytes.ts'
import { readEnvironment } from '../../config.ts'
import { createTerminal } from '../../print/terminal.ts'
import { runCli } from '../../run.ts'

/** How a command ended. */
interface Ended {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** How a command is started besides its arguments. */
interface Start {
  readonly stdin?: string | undefined
  readonly stdinIsTTY?: boolean
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs the command and returns how it ended. */
export async function runPolicy(args: readonly string[], start: Start = {}): Promise<Ended> {
  const { stdin, stdinIsTTY = false, variables = {} } = start
  let [stdout, stderr] = ['', '']
  const environment = { ...readEnvironment({}), program: 'flotilla', variables }
  const sink = (write: (text: string) => void) => ({ isTTY: false, write })
  const exit = await runCli(['policy', ...args], {
    environment,
    signal: new AbortController().signal,
    stdin: (async function* () {
      if (stdin !== undefined) yield utf8(stdin)
    })(),
    terminalFor: () =>
      createTerminal({
        stdout: sink((text) => (stdout += text)),
        stderr: sink((text) => (stderr += text)),
        stdinIsTTY,
        environment,
      }),
  })
  return { exit, stdout, stderr }
}
