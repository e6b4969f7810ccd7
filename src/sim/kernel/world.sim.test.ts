import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { invariant } from '../../core/errors.ts'
import { bytesBody, readBody } from '../../core/http.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { assertDeterministic, runScenario, simulate } from '../../testing/simulation/run-seeds.ts'
import type { Scenario } from '../../testing/simulation/run-seeds.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import type { Host } from './process.ts'
import { createWorld } from './world.ts'

const CALLER = { user: 'client', groups: [] }

/** A server that counts in a store, and a client that counts to ten through it. */
function counting(disk: Store) {
  async function server(host: Host): Promise<void> {
    const store = host.store(disk)
    host.listen('counter', async ({ method, body }) => {
      const entry = await store.get('/n')
      if (method === 'POST') {
        const result = await store.commit({ key: '/n', expect: entry?.modRevision ?? 0, value: () => fromUtf8(body!) })
        return { status: result.ok ? 200 : 409, headers: {}, body: bytesBody(utf8('')) }
      }
      return { status: 200, headers: {}, body: bytesBody(utf8(entry?.value ?? '0')) }
    })
    await host.untilStopped()
  }

  async function client(host: Host): Promise<void> {
    const send = host.connect('counter', CALLER)
    const request = (method: string, text: string) =>
      send({ method, path: '/', headers: {}, body: utf8(text) }, host.signal)
    while (!host.signal.aborted) {
      try {
        const n = Number(fromUtf8(await readBody((await request('GET', '')).body, 100)))
        if (n >= 10) return
        await readBody((await request('POST', String(n + 1))).body, 100)
      } catch {
        await host.clock.sleep(1_000, host.signal)
      }
    }
  }
  return { server, client }
}

function countToTen(): Scenario {
  return async (world) => {
    const disk = createMemoryStore()
    const { server, client } = counting(disk)
    world.start('server', server)
    world.start('client', client)
    const count = async () => Number((await disk.get('/n'))?.value ?? 0)
    await world.runUntil(async () => (await count()) === 10, { withinMs: 3_600_000, what: 'the count to ten' })
    await world.run(10_000)
    assert.equal(await count(), 10)
  }
}

describe('world', () => {
  it('has the same history for the same seed, and another for another', async () => {
    const scenario = countToTen()
    const link = { drop: 0.05, reset: 0.05 }
    const one = await assertDeterministic(scenario, { seed: 1, link })
    const two = await assertDeterministic(scenario, { seed: 2, link })
    assert.notEqual(one.hash, two.hash)
  })

  it('holds over seeds with faults, and over every crash', async () => {
    await simulate(countToTen(), { seeds: 20, link: { drop: 0.1, reset: 0.1 } })
    const tried = await simulateCrashes(countToTen(), { seed: 1 })
    assert.equal(tried, 2 * (10 + 10), 'ten posts and ten commits, before and after')
  })

  it('reports a failing seed with the way to replay it', async () => {
    const broken: Scenario = async (world) => {
      await world.run(1_000)
      if (world.seed === '3') throw new Error('three is bad')
    }
    await assert.rejects(simulate(broken, { seeds: 5 }), (caught: Error) => {
      assert.match(
        caught.message,
        /^seed 3: three is bad\na replay has the same history; run it alone with FLOTILLA_SEED=3\n/,
      )
      return true
    })
  })

  it('says when a replay differs', async () => {
    let runs = 0
    const moody: Scenario = async (world) => {
      runs += 1
      world.history.record(`run ${runs}`)
      throw new Error('no')
    }
    await assert.rejects(simulate(moody, { seeds: 1 }), /something is not deterministic/)
    await assert.rejects(
      assertDeterministic(async (world) => world.history.record(`run ${(runs += 1)}`), { seed: 1 }),
      /seed 1 has two histories/,
    )
  })

  it('names the crash that breaks a promise', async () => {
    // Three entries and a mark, written without looking what is there already: a crash between them makes it more.
    const careless: Scenario = async (world) => {
      const disk = createMemoryStore()
      world.start('writer', async (host) => {
        const store = host.store(disk)
        if (await store.get('/done')) return
        for (let n = 0; n < 3; n += 1) await store.commit({ key: `/${host.ids.uid()}`, expect: 0, value: () => '' })
        await store.commit({ key: '/done', expect: 0, value: () => '' })
      })
      await world.run(60_000)
      assert.equal((await disk.list({ prefix: '/' })).entries.length, 4)
    }
    await assert.rejects(
      simulateCrashes(careless, { seed: 1 }),
      /killed after durable step 1 of 4 \(FLOTILLA_CRASH=after-1\): seed 1: /,
    )
  })
})

describe('process', () => {
  it('may be killed around the very first thing it does', async () => {
    for (const when of ['before', 'after'] as const) {
      const world = createWorld({ seed: 1, crash: { step: 1, when } })
      const lives: number[] = []
      world.start('p', (host) =>
        host.step('first', async () => lives.push(host.incarnation)).then(() => host.untilStopped()),
      )
      await world.run(5_000)
      assert.deepEqual(lives, when === 'before' ? [2] : [1, 2])
      assert.equal(world.processes()[0]?.running(), true)
      await world.end()
    }
  })

  it('a killed one does nothing more: no step, no answer, no timer', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const blobs = createMemoryBlobs()
    const acts: string[] = []
    const victim = world.start('victim', async (host) => {
      const store = host.store(disk)
      const files = host.blobs(blobs)
      host.listen('victim', async (_request, _caller, signal) => {
        signal.addEventListener('abort', () => acts.push('told'))
        await host.clock.sleep(5_000)
        acts.push('answered')
        return { status: 200, headers: {}, body: bytesBody(utf8('')) }
      })
      try {
        for (let n = 1; ; n += 1) {
          await host.clock.sleep(1_000)
          await store.commit({ key: `/${n}`, expect: 0, value: () => '' })
          await files.put(utf8(String(n)))
        }
      } finally {
        acts.push('finally')
      }
    })
    let heard = ''
    world.start('caller', async (host) => {
      const send = host.connect('victim', CALLER)
      await send({ method: 'GET', path: '/', headers: {} }, host.signal).catch((caught: { code: string }) => {
        heard = caught.code
      })
    })
    await world.run(3_500)
    victim.kill()
    await world.run(60_000)
    assert.equal(disk.revision(), 3)
    assert.equal(heard, 'ECONNRESET')
    assert.deepEqual(acts, [], 'not even its finally blocks run')
    assert.equal(world.clock.sleepers(), 0)
    await world.end()
  })

  it('a paused one stands still and does not know; what came meanwhile comes when it goes on', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const woke: number[] = []
    const sleeper = world.start('sleeper', async (host) => {
      const store = host.store(disk)
      host.listen('sleeper', async () => ({ status: 200, headers: {}, body: bytesBody(utf8(String(woke.length))) }))
      for (let n = 1; ; n += 1) {
        await host.clock.sleep(1_000)
        woke.push(host.clock.monotonicMs())
        await store.commit({ key: `/${n}`, expect: 0, value: () => '' })
      }
    })
    let heard = ''
    world.start('caller', async (host) => {
      await host.clock.sleep(5_000)
      const answer = await host.connect('sleeper', CALLER)({ method: 'GET', path: '/', headers: {} }, host.signal)
      heard = fromUtf8(await readBody(answer.body, 100))
    })
    await world.run(2_500)
    sleeper.pause()
    await world.run(10_000)
    assert.deepEqual([woke, disk.revision(), heard, sleeper.paused()], [[1_000, 2_000], 2, '', true])
    sleeper.resume()
    await world.run(600)
    assert.deepEqual([woke, heard], [[1_000, 2_000, 12_500], '3'])
    sleeper.pause()
    sleeper.kill()
    sleeper.start()
    assert.equal(sleeper.paused(), false, 'a new life is not paused')
    await world.end()
  })

  it('one that was killed lets go when its world ends, and not before', async () => {
    const world = createWorld({ seed: 1 })
    const told: string[] = []
    const victim = world.start('victim', async (host) => {
      host.signal.addEventListener('abort', () => told.push('the process'))
      host.listen('victim', async (_request, _caller, signal) => {
        signal.addEventListener('abort', () => told.push('the request'))
        return new Promise(() => {})
      })
      await host.untilStopped()
    })
    world.start('caller', async (host) => {
      const send = host.connect('victim', CALLER)
      await send({ method: 'GET', path: '/', headers: {} }, host.signal).catch(() => {})
    })
    await world.run(1_000)
    victim.kill()
    await world.run(1_000)
    assert.deepEqual(told, [])
    await world.end()
    assert.deepEqual(told, ['the process', 'the request'])
  })

  it('may be killed around every so many steps, as long as the focus lasts', async () => {
    const world = createWorld({ seed: 1, crash: { step: 2, every: 3, when: 'before' } })
    world.start('busy', async (host) => {
      for (;;) {
        await host.clock.sleep(100)
        await host.crashPoint('a step')
      }
    })
    await world.run(1_000)
    assert.equal(world.crashes().length, 0, 'not before the focus')
    world.focus()
    await world.run(5_000)
    world.endFocus()
    const crashed = world.crashes().length
    assert.ok(crashed >= 3, `${crashed} crashes`)
    await world.run(5_000)
    assert.equal(world.crashes().length, crashed)
    assert.equal(world.processes()[0]?.running(), true)
    await world.end()
  })

  it('a killed one neither hears the end of what it began nor begins anything', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const acts: string[] = []
    const outside = Promise.withResolvers<void>()
    const victim = world.start('victim', async (host) => {
      const store = host.store(disk)
      const slow = host.step('slow', () => world.clock.sleep(1_000)).then(() => acts.push('heard'))
      // Not a port: what a zombie may still run are its own promise jobs, and the next port stops it.
      await outside.promise
      await store.commit({ key: '/a', expect: 0, value: () => '' })
      acts.push('committed')
      await slow
    })
    await world.run(500)
    victim.kill()
    outside.resolve()
    await world.run(10_000)
    assert.deepEqual(acts, [])
    assert.equal(disk.revision(), 0)
    assert.equal(world.steps().length, 1, 'a dead process takes no steps')
  })

  it('starts again with what outlived it, at a new zero of its own clock', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const starts: string[] = []
    const process = world.start('p', async (host) => {
      const store = host.store(disk)
      starts.push(`${host.incarnation} found ${store.revision()} at ${host.clock.monotonicMs()}`)
      await store.commit({ key: `/${host.ids.uid()}`, expect: 0, value: () => '' })
      await host.untilStopped()
    })
    await world.run(5_000)
    process.kill()
    process.start()
    await world.run(1_000)
    assert.deepEqual(starts, ['1 found 0 at 0', '2 found 1 at 0'])
    assert.equal(disk.revision(), 2, 'each life draws its own ids')
    await world.end()
  })

  it('stops when asked, after its own clean-up', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const process = world.start('p', async (host) => {
      await host.untilStopped()
      await host.clock.sleep(100)
      await host.store(disk).commit({ key: '/bye', expect: 0, value: () => '' })
    })
    const stopping = process.stop()
    await world.run(1_000)
    await stopping
    assert.equal(disk.revision(), 1)
    assert.equal(process.running(), false)
  })

  it('one that dies, or violates an invariant, fails the run', async () => {
    const dies = await runScenario(
      async (world) => {
        world.start('p', async () => {
          throw new Error('out of memory')
        })
        await world.run(1_000)
      },
      { seed: 1 },
    )
    assert.match(dies.error?.message ?? '', /process p died: out of memory/)
    const violates = await runScenario(
      async (world) => {
        world.start('p', async (host) => {
          try {
            invariant(false, 'one is more than two')
          } catch (err) {
            host.log.error({ err }, 'reconcile failed')
          }
        })
        await world.run(1_000)
      },
      { seed: 1 },
    )
    assert.match(violates.error?.message ?? '', /invariant violated: one is more than two/)
  })

  it('a watch through a killed process ends behind it', async () => {
    const world = createWorld({ seed: 1 })
    const disk = createMemoryStore()
    const seen: number[] = []
    const process = world.start('p', async (host) => {
      const watch = host.store(disk).watch('/', 0, host.signal)
      for await (const event of watch) seen.push(event.revision)
    })
    const put = (key: string) => disk.commit({ key, expect: 0, value: () => '' })
    await put('/a')
    await world.run(10)
    assert.deepEqual(seen, [1])
    process.kill()
    await put('/b')
    await world.run(10)
    assert.deepEqual(seen, [1])
  })
})
