/** The supervisor with real threads that fail as content, bugs and memory make them fail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { RestartCause } from '../../plan/fleet/hub-health.ts'
import { createSupervisor } from './supervisor.ts'
import { superviseThread } from './thread.ts'

const READY =
  "const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ type: 'ready', value: {} });"
const WELL = `parentPort.on('message', ({ type, id }) => {
  if (type === 'ping') parentPort.postMessage({ type: 'pong', id })
  else process.exit()
});`

const FAULTS: Readonly<Record<Exclude<RestartCause, 'start'>, string>> = {
  exit: 'setTimeout(() => process.exit(3), 10)',
  error: "setTimeout(() => { throw new Error('planted') }, 10)",
  memory: 'setTimeout(() => { const kept = []; for (;;) kept.push(new Array(100_000).fill(1.5)) }, 10)',
  silent: 'setTimeout(() => { for (;;) {} }, 10)',
}

for (const [cause, fault] of Object.entries(FAULTS)) {
  test(`a thread that fails by ${cause} is started again, and the cause is told`, { timeout: 60_000 }, async () => {
    const supervisor = createSupervisor({ clock: systemClock, ids: systemIds, log: silentLogger })
    const ended = Promise.withResolvers<string>()
    const restarted = Promise.withResolvers<void>()
    supervisor.onEnd((end) => ended.resolve(end.cause))
    let starts = 0
    const kept = await supervisor.keepThread('gateway', {
      silenceMs: 1000,
      start: async () => {
        starts += 1
        const script = `${READY} ${starts === 1 ? `${WELL} ${fault}` : WELL}`
        const worker = new Worker(script, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 32 } })
        return await superviseThread('gateway', worker)
      },
    })
    supervisor.onChange(() => {
      if (supervisor.health()[0]?.state === 'Running') restarted.resolve()
    })
    assert.equal(await ended.promise, cause)
    await restarted.promise
    assert.equal(starts, 2)
    await kept.close()
  })
}
