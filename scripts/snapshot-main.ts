// What the executable's snapshot is taken of: `flotilla template` after it has rendered charts, so that what it needs
// is loaded and compiled. This runs once, while `npm run build` takes the snapshot; what it sets runs at every start.
import type { createRequire } from 'node:module'
import { readEnvironment } from '../src/cli/config.ts'
import { runExecutable } from '../src/cli/executable/run-executable.ts'
import { runCli } from '../src/cli/run.ts'
import { plainOutput, usedStreams } from '../src/cli/executable/process-output.ts'
import { createTerminal } from '../src/cli/print/terminal.ts'

declare const require: ReturnType<typeof createRequire>

/**
 * Modules that must not be in it: threads of a process with such a snapshot cannot load them, or random numbers would
 * repeat.
 */
const LEFT_OUT = ['crypto', 'zlib', 'net', 'stream_wrap', 'tls', 'worker_threads', 'child_process']

const WARM_UPS: readonly (readonly string[])[] = JSON.parse(process.env['FLOTILLA_WARM_UPS'] ?? '[]')

async function warmUp(): Promise<void> {
  const environment = readEnvironment({})
  for (const line of WARM_UPS) {
    let text = ''
    const output = { write: (part: string) => void (text += part), isTTY: false }
    const code = await runCli(['template', ...line], {
      environment,
      signal: new AbortController().signal,
      stdin: (async function* () {})(),
      terminalFor: (color) => createTerminal({ stdout: output, stderr: output, stdinIsTTY: false, environment, color }),
    })
    // What a run does outside of the program, with nothing to write.
    plainOutput('stdout').write('')
    if (usedStreams() || code !== 0) throw new Error(`the warm-up ended with ${code}: ${text}`)
  }
  const loaded = (process as unknown as { moduleLoadList: readonly string[] }).moduleLoadList
  const wrong = LEFT_OUT.filter(
    (name) => loaded.includes(`NativeModule ${name}`) || loaded.includes(`Internal Binding ${name}`),
  )
  if (wrong.length > 0) throw new Error(`the snapshot would have ${wrong.join(', ')} in it`)
}

// By its inner name: `node:v8` itself would bring streams into the snapshot, and no thread could have any.
const { namespace } = require('internal/v8/startup_snapshot') as {
  readonly namespace: { setDeserializeMainFunction(main: () => void): void }
}
namespace.setDeserializeMainFunction(() => void runExecutable())
void warmUp()
