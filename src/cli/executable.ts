/**
 * The entry of the one-file executable: Node, a snapshot of this module after it was loaded, and the parts of the built CLI
 * as assets. `template` runs from the snapshot; every other command is loaded from the parts as they are built for any Node.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../core/system-clock.ts'
import { readEnvironment } from './config.ts'
import { keepInUse, partsFolder } from './parts.ts'
import { runProcess } from './run-process.ts'

/** V8's own numbers, for programs that run for long and their threads: the executable starts with others (scripts/executable.ts). */
const USUAL_FLAGS = [
  '--invocation-count-for-maglev=400',
  '--invocation-count-for-turbofan=3000',
  '--baseline-batch-compilation-threshold=4096',
  '--lazy-feedback-allocation',
  '--min-semi-space-size=0',
  '--initial-heap-size=0',
]

/** Runs the command line of this process. */
export async function runExecutable(): Promise<void> {
  const environment = readEnvironment()
  const parts = (): string => partsFolder(process.getBuiltinModule('node:sea'), environment.partsCache)
  if (process.argv[2] === 'template') {
    return await runProcess(environment, { threadsFolder: () => pathToFileURL(join(parts(), 'threads/')) })
  }
  for (const flag of USUAL_FLAGS) setFlagsFromString(flag)
  const folder = parts()
  const ended = new AbortController()
  void keepInUse(folder, systemClock, ended.signal)
  try {
    const load = createRequire(join(folder, 'start.cjs'))
    await (load('./start.cjs') as () => Promise<unknown>)()
  } finally {
    ended.abort()
  }
}
