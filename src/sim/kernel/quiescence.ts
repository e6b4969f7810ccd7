/**
 * When has a simulated moment ended? When nothing in this thread can run any more without time passing.
 *
 * Everything simulated lives in promises. Node drains all promise jobs and `process.nextTick` callbacks before it goes
 * on to the next phase of its event loop, so a `setImmediate` callback runs only when no promise job is left: one turn
 * is enough as long as nothing but promises is involved. Two more kinds of work may be under way: other immediates, and
 * requests for files and names, as a lazy import makes. An async hook, which does not look at promises and so
 * costs little, counts them from their start to their callback. Virtual time stands still while any is open, so their
 * slowness changes nothing; only the order *between* two of them is the machine's.
 *
 * Not waited for are real timers, sockets, threads, and asynchronous crypto and zlib (their synchronous forms announce
 * themselves in the same way and never call back): simulated code must not have any.
 */
import { createHook } from 'node:async_hooks'

const MAX_TURNS = 10_000_000
const POOLED = /^(FSREQ|GETADDRINFOREQ|GETNAMEINFOREQ|QUERYWRAP)/

// The event loop is one per thread, and so is this.
const underWay = new Map<number, string>()
let asking = false
let ownTurns = 0
// Without a destroy hook, which would make Node follow every resource through garbage collection.
const hook = createHook({
  trackPromises: false,
  init: (id, type) => {
    if (type === 'Immediate' ? !asking : POOLED.test(type)) underWay.set(id, type)
  },
  after: (id) => underWay.delete(id),
})

/** Starts to count what is under way; what began before is not seen. */
export function watchQuiescence(): void {
  hook.enable()
}

/** Resolves when no promise job, immediate or request for a file is left in this thread. */
export async function quiescence(): Promise<void> {
  for (let turns = 1; turns < MAX_TURNS; turns += 1) {
    await turn()
    if (turns % 100 === 0) forgetClearedImmediates()
    if (underWay.size === 0) return
  }
  throw new Error(`the simulation never comes to rest: ${[...underWay.values()].join(', ')} under way`)
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    asking = true // two may wait for rest at once, and must not wait for each other
    ownTurns += 1
    // oxlint-disable-next-line no-restricted-globals -- the one place that may ask the event loop for a turn
    setImmediate(() => {
      ownTurns -= 1
      resolve()
    })
    asking = false
  })
}

// An immediate that was cleared never calls back.
function forgetClearedImmediates(): void {
  const waiting = process.getActiveResourcesInfo().filter((resource) => resource === 'Immediate').length
  if (waiting > ownTurns) return
  for (const [id, type] of underWay) if (type === 'Immediate') underWay.delete(id)
}
