import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { createTimers } from './timers.ts'
import { createSeededIds } from './seeded-ids.ts'
import { createVirtualClock } from './virtual-clock.ts'

describe('virtual clock', () => {
  it('wakes sleepers by time, then by going to sleep', async () => {
    const clock = createVirtualClock()
    const woken: string[] = []
    const sleep = (name: string, ms: number) => clock.sleep(ms).then(() => woken.push(`${name}@${clock.monotonicMs()}`))
    void sleep('b', 20)
    void sleep('a', 10)
    void sleep('c', 20)
    await clock.advance(15)
    assert.deepEqual(woken, ['a@10'])
    assert.equal(clock.monotonicMs(), 15)
    await clock.advance(5)
    assert.deepEqual(woken, ['a@10', 'b@20', 'c@20'])
  })

  it('counts whole milliseconds: a sleep too short for the sum to show would be no sleep', async () => {
    const clock = createVirtualClock()
    const looks: number[] = []
    const wait = async (): Promise<void> => {
      await clock.sleep(0.25)
      looks.push(clock.monotonicMs())
      await clock.sleep(1e-10)
      looks.push(clock.monotonicMs())
    }
    await Promise.all([wait(), clock.advance(4.5)])
    assert.deepEqual(looks, [1, 2])
    assert.equal(clock.monotonicMs(), 5)
  })

  it('says so when time stands still', async () => {
    const clock = createVirtualClock()
    const spin = async (): Promise<void> => {
      for (;;) await clock.sleep(0)
    }
    void spin()
    await assert.rejects(clock.advance(1), /time stands still at 0 ms: a loop sleeps for 0 ms/)
  })

  it('lets everything come to rest between two sleepers of the same time', async () => {
    const clock = createVirtualClock()
    const order: string[] = []
    async function work(name: string): Promise<void> {
      await clock.sleep(10)
      for (let step = 0; step < 3; step += 1) {
        await Promise.resolve()
        order.push(name)
      }
    }
    await Promise.all([work('a'), work('b'), clock.advance(10)])
    assert.deepEqual(order, ['a', 'a', 'a', 'b', 'b', 'b'])
  })

  it('waits for files and immediates without letting time pass', async () => {
    const clock = createVirtualClock()
    let read = 0
    let turned = false
    void readFile(import.meta.filename).then((bytes) => (read = bytes.byteLength))
    generateKeyPairSync('ed25519') // done at once, and never calls back
    zstdCompressSync(new Uint8Array(10))
    setImmediate(() => setImmediate(() => (turned = true)))
    clearImmediate(setImmediate(() => assert.fail('was cleared')))
    await clock.settle()
    assert.ok(read > 0)
    assert.equal(turned, true)
    assert.equal(clock.monotonicMs(), 0)
  })

  it('two may wait for rest at once', async () => {
    const clock = createVirtualClock()
    await Promise.all([clock.settle(), clock.settle(), clock.advance(5)])
    assert.equal(clock.monotonicMs(), 5)
  })

  it('an aborted sleeper is gone, with the reason', async () => {
    const clock = createVirtualClock()
    const controller = new AbortController()
    const sleeping = assert.rejects(clock.sleep(10, controller.signal), /enough/)
    controller.abort(new Error('enough'))
    await sleeping
    assert.equal(clock.sleepers(), 0)
    await assert.rejects(clock.sleep(10, controller.signal), /enough/)
  })

  it('runs until something holds, or says what did not', async () => {
    const clock = createVirtualClock()
    let beats = 0
    const stop = new AbortController()
    const beating = (async () => {
      for (;;) {
        await clock.sleep(1_000, stop.signal)
        beats += 1
      }
    })()
    beating.catch(() => {})
    await clock.runUntil(() => beats === 5, { withinMs: 60_000, what: 'five beats' })
    assert.equal(clock.monotonicMs(), 5_000)
    await assert.rejects(
      clock.runUntil(() => beats === 50, { withinMs: 10_000, what: 'fifty beats' }),
      /fifty beats: not within 10 simulated seconds/,
    )
    stop.abort()
    await clock.runUntilIdle()
    assert.equal(clock.sleepers(), 0)
  })

  it('wall time may jump, monotonic time does not', () => {
    const clock = createVirtualClock(1_000)
    clock.jumpWall(-600)
    assert.deepEqual([clock.now(), clock.monotonicMs()], [400, 0])
  })
})

describe('timers', () => {
  it('come out in order, whatever was added and cancelled', () => {
    const ids = createSeededIds('timers')
    const timers = createTimers()
    const kept: { at: number; order: number }[] = []
    for (let order = 0; order < 5_000; order += 1) {
      const timer = timers.add(ids.integer(0, 500), () => {})
      if (ids.chance(0.6)) timers.cancel(timer)
      else kept.push(timer)
    }
    assert.equal(timers.size(), kept.length)
    kept.sort((a, b) => a.at - b.at || a.order - b.order)
    const out = []
    for (let timer = timers.pop(); timer; timer = timers.pop()) out.push(timer)
    assert.deepEqual(
      out.map(({ order }) => order),
      kept.map(({ order }) => order),
    )
  })
})

describe('seeded ids', () => {
  it('are the same for the same seed on any machine', () => {
    const ids = createSeededIds(42)
    assert.deepEqual(
      [ids.uid(), ids.suffix(5), ids.fraction(), ids.integer(1, 6)],
      ['02d5f90c-9e52-4ec3-9333-7d0463b28b0e', 'pqj4d', 0.600262171621481, 6],
    )
  })

  it('differ between seeds and forks, and forks do not move their origin', () => {
    const a = createSeededIds(1)
    const b = createSeededIds(1)
    b.fork('x').bytes(100)
    assert.equal(a.uid(), b.uid())
    assert.notEqual(a.fork('x').uid(), a.fork('y').uid())
    assert.notEqual(createSeededIds(1).uid(), createSeededIds(2).uid())
  })

  it('look random', () => {
    const ids = createSeededIds('mean')
    let sum = 0
    for (let draw = 0; draw < 10_000; draw += 1) {
      const fraction = ids.fraction()
      assert.ok(fraction >= 0 && fraction < 1)
      sum += fraction
    }
    assert.ok(Math.abs(sum / 10_000 - 0.5) < 0.02)
    assert.match(ids.uid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
