/** The CLI's own entry: parses the command line and loads only what the command needs. */
import { enableCompileCache } from 'node:module'
import { readEnvironment } from './config.ts'

const environment = readEnvironment()
// Before anything else is loaded: compiled code is kept between runs, in the folder of this user alone.
enableCompileCache(environment.compileCache)
const { runCli } = await import('./run.ts')
const { createTerminal } = await import('./terminal.ts')
const { plainOutput, streamOutput } = await import('./process-output.ts')

const args = process.argv.slice(2)
// Scripts run it once for each chart: it does without Node's streams, which take as long to open as many a chart to render.
const outputTo = args[0] === 'template' ? plainOutput : streamOutput

const SAME_SIGNAL_MS = 500
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

process.exitCode = await runCli(args, {
  environment,
  signal: interrupt.signal,
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
