import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createSupervisor } from './supervisor.ts'
import type { GatewayKeys } from './messages.ts'
import type { Thread } from './thread.ts'

/** A gateway thread that the test plays. */
interface PlayedThread {
  readonly settings: unknown
  readonly told: unknown[]
  isBusy: boolean
  isClosed: boolean
  /** How a kill ends: at once, or never. */
  isStuck: boolean
  wasKilled: boolean
  die(error: Error): void
}

function scene() {
  const clock = createVirtualClock()
  const ids = createSeededIds('supervisor')
  const errors: string[] = []
  const log = {
    ...silentLogger,
    error: (fields: object, message: string) =>
      void errors.push(`${message}: ${(fields as { part: string; cause: string }).cause}`),
  }
  const supervisor = createSupervisor({ clock, ids, log })
  const threads: PlayedThread[] = []
  /** Errors of the next starts. */
  const refusals: Error[] = []
  const start = async (settings: unknown): Promise<Thread<'gateway'>> => {
    const refusal = refusals.shift()
    if (refusal) throw refusal
    const death = Promise.withResolvers<never>()
    death.promise.catch(() => {})
    const silent = Promise.withResolvers<never>()
    silent.promise.catch(() => {})
    const played: PlayedThread = {
      settings,
      told: [],
      isBusy: false,
      isClosed: false,
      isStuck: false,
      wasKilled: false,
      die: (error) => {
        death.reject(error)
        silent.reject(error)
      },
    }
    threads.push(played)
    return {
      ready: { port: 7000 + threads.length },
      death: death.promise,
      metrics: async () => 'metrics',
      call: async (input) => {
        if (played.isBusy) return await silent.promise
        played.told.push(input)
        return undefined
      },
      ping: async () => {
        if (played.isBusy) await silent.promise
      },
      close: async () => void (played.isClosed = true),
      kill: async () => {
        played.wasKilled = true
        if (played.isStuck) await silent.promise
      },
    }
  }
  const state = () => supervisor.health().map(({ name, state, restarts }) => `${name} ${state} ${restarts}`)
  return { clock, supervisor, threads, refusals, errors, start, state }
}

const NEVER = new AbortController().signal
const settings = (name: string) => ({ server: { certificate: name } }) as unknown as GatewayKeys

test('a thread that dies is started again with the newest settings, and says why', async () => {
  const { clock, supervisor, threads, errors, start, state } = scene()
  const ends: string[] = []
  supervisor.onEnd(({ name, cause }) => ends.push(`${name} ${cause}`))
  const kept = await supervisor.keepThread('gateway', { start })
  await kept.tell(settings('one'), NEVER)
  assert.deepEqual([kept.ready.port, threads[0]!.told], [7001, [settings('one')]])
  const outOfMemory = Object.assign(new Error('heap out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  threads[0]!.die(new Error('the gateway thread ended: heap out of memory', { cause: outOfMemory }))
  await clock.settle()
  assert.deepEqual(state(), ['gateway Down 1'])
  assert.equal(kept.metrics(), undefined)
  await kept.tell(settings('two'), NEVER)
  await clock.advance(1000)
  assert.deepEqual(state(), ['gateway Running 1'])
  assert.deepEqual(threads[1]!.settings, settings('two'))
  assert.equal(await kept.metrics(), 'metrics')
  for (const [error, cause] of [
    [new Error('the gateway thread ended: boom', { cause: new Error('boom') }), 'error'],
    [new Error('the gateway thread ended with code 3'), 'exit'],
  ] as const) {
    await clock.advance(120_000)
    threads.at(-1)!.die(error)
    await clock.advance(1000)
    assert.equal(ends.at(-1), `gateway ${cause}`)
  }
  assert.deepEqual(
    errors,
    ['memory', 'error', 'exit'].map((cause) => `a part of the hub ended: ${cause}`),
  )
  assert.equal(supervisor.health()[0]?.last?.message, 'the gateway thread ended with code 3')
  await kept.close()
  assert.deepEqual([threads.at(-1)!.isClosed, threads.length], [true, 4])
})

test('a thread that does not answer is ended and started again; settings it did not hear go to the next one', async () => {
  const { clock, supervisor, threads, start, state } = scene()
  const kept = await supervisor.keepThread('gateway', { start })
  await clock.advance(10_000)
  threads[0]!.isBusy = true
  const told = kept.tell(settings('late'), NEVER)
  await clock.advance(29_000)
  assert.deepEqual([state(), threads[0]!.wasKilled], [['gateway Running 0'], false])
  await clock.advance(4000)
  assert.deepEqual([state(), threads[0]!.wasKilled], [['gateway Running 1'], true])
  threads[0]!.die(new Error('the gateway thread ended with code 1'))
  await told
  assert.deepEqual(threads[1]!.settings, settings('late'))
  assert.equal(supervisor.health()[0]?.last?.cause, 'silent')
  await kept.close()
})

test('a thread that is busy for a while and answers then stays', async () => {
  const { clock, supervisor, threads, start, state } = scene()
  const kept = await supervisor.keepThread('gateway', { start })
  for (let round = 0; round < 5; round++) {
    clock.standStill(40_000)
    await clock.advance(10_000)
  }
  assert.deepEqual([state(), threads.length], [['gateway Running 0'], 1])
  await kept.close()
})

test('a thread that ends again and again is tried at most once a minute, without end, and the hub is not ready', async () => {
  const { clock, supervisor, threads, refusals, start, state } = scene()
  const kept = await supervisor.keepThread('gateway', { start })
  let tries = 0
  for (let second = 0; second < 1800; second++) {
    const newest = threads.at(-1)!
    if (threads.length > tries) {
      tries = threads.length
      newest.die(new Error('the gateway thread ended with code 1'))
    }
    await clock.advance(1000)
  }
  assert.ok(tries > 30 && tries < 50, `${tries} starts within half an hour`)
  assert.match(state()[0]!, /^gateway (Down|Unstable) \d+$/)
  // The last thread stays, and is trusted again after a minute.
  await clock.advance(60_000)
  const isUnstable = state()[0]!.includes('Unstable')
  let changes = 0
  supervisor.onChange(() => (changes += 1))
  await clock.advance(70_000)
  assert.match(state()[0]!, /Running/)
  assert.ok(!isUnstable || changes > 0, 'the change is announced')
  refusals.push(...Array.from({ length: 4 }, () => new Error('listen EADDRINUSE')))
  threads.at(-1)!.die(new Error('the gateway thread ended with code 1'))
  await clock.advance(400)
  assert.match(state()[0]!, /Down|Running/)
  await clock.advance(20_000)
  assert.deepEqual([supervisor.health()[0]?.last?.cause, supervisor.health()[0]?.state], ['start', 'Unstable'])
  await kept.close()
})

test('a thread that cannot be ended ends the hub with an error that says so', async () => {
  const { clock, supervisor, threads, start } = scene()
  await supervisor.keepThread('gateway', { start })
  threads[0]!.isBusy = true
  threads[0]!.isStuck = true
  const fatal = assert.rejects(supervisor.fatal, /the gateway thread does not answer and did not end within 20 s/)
  await clock.advance(60_000)
  await fatal
})

test('the first start that fails is reported to the caller, and nothing is tried again', async () => {
  const { clock, supervisor, refusals, threads, start } = scene()
  refusals.push(new Error('listen EADDRINUSE'))
  await assert.rejects(supervisor.keepThread('gateway', { start }), { message: 'listen EADDRINUSE' })
  await clock.advance(60_000)
  assert.equal(threads.length, 0)
})

test('a loop that fails begins again, and ends with the hub', async () => {
  const { clock, supervisor, state } = scene()
  const life = new AbortController()
  let rounds = 0
  const loop = supervisor.keepLoop(
    'controllers',
    async (signal) => {
      rounds += 1
      if (rounds < 3) throw new Error('boom')
      await clock.sleep(3_600_000, signal)
    },
    life.signal,
  )
  await clock.advance(5000)
  assert.deepEqual([rounds, state()], [3, ['controllers Running 2']])
  life.abort()
  await loop
})

test('threads that their users start again are counted, and stay running', async () => {
  const { supervisor, state } = scene()
  for (let round = 0; round < 5; round++) {
    supervisor.noteEnd({ name: 'render', cause: 'silent', error: new Error('the content of default/a took too long') })
  }
  assert.deepEqual(state(), ['render Running 5'])
})
