/** One command line as a whole process: its signals, its streams and its exit code. */
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
  const args = process.argv.slice(2)
  // Scripts run it once for each chart: it does without Node's streams, which take as long to open as many a chart to render.
  const isTemplate = args[0] === 'template'
  const outputTo = isTemplate ? plainOutput : streamOutput
  process.exitCode = await runCli(args, {
    ...ports,
    environment,
    // A render is not interrupted by JavaScript, which waits for it: the system ends the process.
    signal: isTemplate ? new AbortController().signal : interruptSignal(),
    // Opened by who reads it.
    stdin: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() },
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
  // Nothing is left to do but to tidy up memory that the system takes back anyway.
  if (isTemplate && !usedStreams()) process.exit()
}

function interruptSignal(): AbortSignal {
  const interrupt = new AbortController()
  let interruptedAt = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // One Ctrl-C comes up to three times: from the terminal, from npm and from the bootstrap of older Nodes.
      if (interrupt.signal.aborted && performance.now() - interruptedAt > SAME_SIGNAL_MS) process.exit(130)
      if (!interrupt.signal.aborted) interruptedAt = performance.now()
      interrupt.abort(signal)
    })
  }
  return interrupt.signal
}
