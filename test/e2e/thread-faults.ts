/**
 * Faults in the threads of a hub, for tests. Preloaded with `--import` into the main thread and every worker. Each
 * thread looks for a file with its own name in FLOTILLA_FAULTS; the file says how the thread fails.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread, threadName } from 'node:worker_threads'

const folder = process.env['FLOTILLA_FAULTS']

function fail(fault: string): void {
  switch (fault) {
    case 'exit':
      process.exit(3)
      break
    case 'memory': {
      const kept: number[][] = []
      for (;;) kept.push(Array.from({ length: 1_000_000 }, () => 1.5))
    }
    case 'loop':
      for (;;);
    default:
      throw new Error(fault)
  }
}

if (folder !== undefined && !isMainThread && threadName !== null) {
  const file = join(folder, threadName)
  setInterval(() => {
    let fault: string
    try {
      fault = readFileSync(file, 'utf8')
    } catch {
      return // no fault is planted
    }
    rmSync(file, { force: true })
    fail(fault)
  }, 50).unref()
}
