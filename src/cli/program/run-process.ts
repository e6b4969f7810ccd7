/** Runs the command line of the process: signals, streams and exit code. */
import type { CliEnvironment } from '../config.ts'
import { plainOutput, streamOutput, usedStreams } from '../executable/process-output.ts'
import { runCli } from '../run.ts'
import { createTerminal } from '../print/terminal.ts'
import type { CliPorts } from './command-action.ts'

const SAME_SIGNAL_MS = 500

/** Runs the command line of this process and sets its exit code. */
export async function runProcess(
  environment: CliEnvironment,
  ports: Pick<CliPorts, 'threadsFolder'> = {},
): Promise<void> {
  const args = [...environment.prefix, ...process.argv.slice(2)]
  // Opening Node's streams takes about 10 ms, see executable/README.md.
  const isTemplate = args[0] === 'template'
  const outputTo = isTemplate ? plainOutput : streamOutput
  process.exitCode = await runCli(args, {
    ...ports,
    environment,
    // JavaScript cannot interrupt a synchronous render, so the default signal handling ends the process.
    signal: isTemplate ? new AbortController().signal : interruptSignal(),
    // Opened by the first reader.
    stdin: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() },
    openScreen: async () => {
      const { openFullScreen } = await import('../print/full-screen.ts')
      return openFullScreen(process, environment.variables['TERM'])
    },
    terminalFor: (color) =>
      createTerminal({
        stdout: outputTo('stdout'),
        stderr: outputTo('stderr'),
        get stdinIsTTY() {
          return process.stdin.isTTY
        },
        environment,
        color,
      }),
  })
  // Skips the teardown of V8, see executable/README.md.
  if (isTemplate && !usedStreams()) process.exit()
}

function interruptSignal(): AbortSignal {
  const interrupt = new AbortController()
  let interruptedAt = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // One Ctrl-C can arrive three times: from the terminal, from npm and from the bootstrap process.
      if (interrupt.signal.aborted && performance.now() - interruptedAt > SAME_SIGNAL_MS) process.exit(130)
      if (!interrupt.signal.aborted) interruptedAt = performance.now()
      interrupt.abort(signal)
    })
  }
  return interrupt.signal
}
