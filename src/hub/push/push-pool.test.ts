import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { PushCall, PushedClusterState } from '../threads/messages.ts'
import { createPushPool } from './push-pool.ts'

/** Rejects when the signal is aborted, and not before. */
async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Threads that remember their agents; `poison` is an agent that ends its thread, `tar` is one that makes it hang. */
function world({ perThread = 4, poison = '', tar = '' } = {}) {
  const clock = createVirtualClock()
  const threads: { readonly agents: Map<string, string>; isDead: boolean }[] = []
  const ends: string[] = []
  const startThread = async () => {
    const death = Promise.withResolvers<never>()
    death.promise.catch(() => {})
    const thread = { agents: new Map<string, string>(), isDead: false }
    threads.push(thread)
    const end = (): void => {
      thread.isDead = true
      death.reject(new Error('the push thread ended', { cause: new Error('out of memory') }))
    }
    return {
      death: death.promise,
      call: async (call: PushCall, signal: AbortSignal): Promise<PushedClusterState[]> => {
        if (thread.isDead) throw new Error('dead')
        if (call.do === 'run') {
          thread.agents.set(call.target.name, call.target.credential.token ?? '')
          if (call.target.name === poison) end()
        } else if (call.do === 'stop') thread.agents.delete(call.name)
        else if (thread.agents.has(tar)) return await aborted(signal)
        else return [...thread.agents.keys()].map((name) => ({ name, reason: 'Running', message: 'Runs.' }))
        return []
      },
      close: async () => void (thread.isDead = true),
      kill: async () => void (thread.isDead = true),
    }
  }
  const changed: string[] = []
  const pool = createPushPool({
    clock,
    ids: createSeededIds('pool'),
    log: silentLogger,
    startThread,
    noteEnd: ({ name }) => void ends.push(name),
    onChange: (name) => void changed.push(name),
    perThread,
  })
  const life = new AbortController()
  const serving = pool.serve(life.signal)
  const run = (name: string, token = 't') =>
    pool.run({ name, clusterId: `c-${name}`, credential: { server: 'https://a', token } })
  const alive = () => threads.filter(({ isDead }) => !isDead).map(({ agents }) => [...agents.keys()])
  return { clock, pool, run, alive, threads, changed, ends, close: () => (life.abort(), serving) }
}

test('threads fill up, states come back, and the last agent of a thread ends it', async () => {
  const { clock, pool, run, alive, changed, close } = world({ perThread: 2 })
  for (const name of ['a', 'b', 'c']) run(name)
  await clock.advance(5000)
  assert.deepEqual(alive(), [['a', 'b'], ['c']])
  assert.deepEqual([pool.stateOf('a')?.reason, changed.toSorted()], ['Running', ['a', 'b', 'c']])
  await pool.stop('c')
  assert.deepEqual([alive(), pool.stateOf('c')], [[['a', 'b']], undefined])
  await close()
  assert.deepEqual(alive(), [])
})

test('a new credential reaches the thread, an equal one does not', async () => {
  const { clock, run, threads, close } = world()
  run('a')
  await clock.advance(1000)
  run('a', 'rotated')
  await clock.advance(1000)
  assert.equal(threads[0]?.agents.get('a'), 'rotated')
  await close()
})

test('an agent that ends its thread is alone after a few ends, and the others run', async () => {
  const { clock, run, alive, ends, close } = world({ perThread: 4, poison: 'c' })
  for (const name of ['a', 'b', 'c', 'd']) run(name)
  await clock.advance(600_000)
  assert.deepEqual(
    alive().toSorted((a, b) => a.join().localeCompare(b.join())),
    [['a', 'b'], ['d']],
  )
  assert.ok(ends.length >= 3 && ends.length < 30, `${ends.length} ends: the pauses grow`)
  await close()
})

test('an agent that makes its thread hang is alone after a while, and the others run and are heard', async () => {
  const { clock, pool, run, alive, ends, close } = world({ perThread: 2, tar: 'c' })
  for (const name of ['a', 'b', 'c', 'd']) run(name)
  await clock.advance(5000)
  assert.equal(pool.stateOf('a')?.reason, 'Running', 'a thread that hangs keeps no other from being asked')
  await clock.advance(600_000)
  assert.deepEqual([pool.stateOf('d')?.reason, pool.stateOf('c')?.reason], ['Running', 'Restarting'])
  assert.ok(alive().some((agents) => agents.join() === 'd'))
  assert.ok(ends.length >= 2 && ends.length < 30, `${ends.length} ends: the pauses grow`)
  await close()
})

test('an agent that is to run after the hub closed starts no thread, and the next term runs its own', async () => {
  const { pool, run, alive, threads, close, clock } = world()
  run('a')
  await clock.advance(1000)
  await close()
  run('b')
  await clock.advance(1000)
  assert.deepEqual([alive(), threads.length], [[], 1])
  const life = new AbortController()
  const serving = pool.serve(life.signal)
  run('b')
  await clock.advance(1000)
  assert.deepEqual(alive(), [['b']])
  life.abort()
  await serving
  assert.deepEqual(alive(), [])
})

test('a thread that was starting when the hub closed does not stay', async () => {
  const { run, alive, close, clock } = world()
  run('a')
  await close()
  await clock.advance(1000)
  assert.deepEqual(alive(), [])
})
