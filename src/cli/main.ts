/** The CLI's own entry: parses the command line and loads only what the command needs. */
import { enableCompileCache } from 'node:module'
import { readEnvironment } from './config.ts'

const environment = readEnvironment()
// Before anything else is loaded: compiled code is kept between runs, in the folder of this user alone.
enableCompileCache(environment.compileCache)
const { runCli } = await import('./run.ts')
const { createTerminal } = await import('./terminal.ts')

const { stdout, stderr, stdin } = process
// A closed pipe (`flotilla get … | head`) is the end of the command, not an error.
stdout.on('error', () => process.exit())

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

process.exitCode = await runCli(process.argv.slice(2), {
  environment,
  signal: interrupt.signal,
  stdin,
  terminalFor: (color) =>
    createTerminal({
      stdout: {
        write: (text) => void stdout.write(text),
        isTTY: stdout.isTTY,
        get columns() {
          return stdout.columns
        },
      },
      stderr: { write: (text) => void stderr.write(text), isTTY: stderr.isTTY },
      stdinIsTTY: stdin.isTTY,
      environment,
      color,
    }),
})
