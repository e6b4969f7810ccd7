/**
 * Notices a main thread that hangs. The main thread counts; a thread of a few lines compares. The supervisor runs in
 * the main thread itself, so that only another thread can tell, and only the end of the process helps: its process
 * manager starts the hub again.
 */
import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'

export interface WatchdogTiming {
  /** Interval of counting and comparing. */
  readonly everyMs: number
  /** Comparisons without progress until a line is written to stderr. */
  readonly warnAfter: number
  /** Comparisons without progress until the process is ended. */
  readonly endAfter: number
}

// Comparisons, not time: a machine that was suspended, or too busy for the watchdog itself, is no hanging thread.
const TIMING: WatchdogTiming = { everyMs: 5_000, warnAfter: 6, endAfter: 24 }

const WATCH = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { beats, everyMs, warnAfter, endAfter } = workerData
let seen = -1
let still = 0
const say = (level, msg) => writeSync(2, JSON.stringify({ level, time: new Date().toISOString(), part: 'main', msg }) + '\\n')
setInterval(() => {
  const now = Atomics.load(beats, 0)
  // A debugger stops the main thread on purpose.
  if (now !== seen || Atomics.load(beats, 1) === 1) {
    seen = now
    still = 0
    return
  }
  still += 1
  if (still === warnAfter) say('error', 'the main thread of the hub does not answer')
  if (still < endAfter) return
  say('error', 'the main thread of the hub does not answer and the process ends; its process manager must start it again')
  process.kill(process.pid, 'SIGKILL')
}, everyMs)
`

/** Watches over the main thread until the signal is aborted. */
export async function watchMainThread(
  { clock, log }: { readonly clock: Pick<Clock, 'sleep'>; readonly log: Pick<Logger, 'warn'> },
  signal: AbortSignal,
  { everyMs, warnAfter, endAfter }: WatchdogTiming = TIMING,
): Promise<void> {
  const beats = new Int32Array(new SharedArrayBuffer(8))
  const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 }
  const workerData = { beats, everyMs, warnAfter, endAfter }
  // Flags of the process may change how the text of a thread is read.
  const options = { eval: true, execArgv: [], name: 'flotilla-watchdog', workerData, resourceLimits: limits }
  const worker = new Worker(WATCH, options)
  worker.unref()
  worker.on('error', (caught) => log.warn({ err: caught }, 'the main thread is not watched'))
  while (!signal.aborted) {
    Atomics.add(beats, 0, 1)
    Atomics.store(beats, 1, inspectorUrl() === undefined ? 0 : 1)
    await clock.sleep(everyMs / 2, signal).catch(() => {}) // the hub closes
  }
  await worker.terminate()
}
