/**
 * The entry of the one-file executable: Node, a snapshot of this module after it was loaded, and the built CLI
 * as assets. `template` runs from the snapshot; all other commands are loaded from the extracted assets.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemClock } from '../../core/time/system-clock.ts'
import { readEnvironment } from '../config.ts'
import { refreshLastUsed, extractAssets } from './embedded-assets.ts'
import { runProcess } from '../program/run-process.ts'

/** Short commands without a server. They run with the V8 flags of `template` (scripts/executable.ts). */
const BRIEF = new Set([
  'template',
  'get',
  'status',
  'help',
  '--help',
  'version',
  '--version',
  'completion',
  '__complete',
])

/** The flags of all other commands: an unpredictable hash seed, and the defaults of V8 for long-running programs. */
const USUAL_FLAGS = [
  '--rehash-snapshot',
  '--v8-pool-size=4',
  '--invocation-count-for-maglev=400',
  '--invocation-count-for-turbofan=3000',
  '--baseline-batch-compilation-threshold=4096',
  '--lazy-feedback-allocation',
  '--regexp-tier-up-ticks=1',
  '--min-semi-space-size=0',
  '--initial-heap-size=0',
]

/** Runs the command line of this process. */
export async function runExecutable(): Promise<void> {
  const [, program = '', ...words] = process.argv
  const [verb = ''] = words
  if (!BRIEF.has(verb) && !process.execArgv.includes(USUAL_FLAGS[0]!)) {
    process.execve!(process.execPath, [process.argv0 || program, `--node-options=${USUAL_FLAGS.join(' ')}`, ...words])
  }
  const environment = readEnvironment()
  const parts = (): string => extractAssets(process.getBuiltinModule('node:sea'), environment.partsCache)
  if (verb === 'template') {
    return await runProcess(environment, { threadsFolder: () => pathToFileURL(join(parts(), 'threads/')) })
  }
  const folder = parts()
  const ended = new AbortController()
  void refreshLastUsed(folder, systemClock, ended.signal)
  try {
    const load = createRequire(join(folder, 'start.cjs'))
    await (load('./start.cjs') as () => Promise<unknown>)()
  } finally {
    ended.abort()
  }
}
