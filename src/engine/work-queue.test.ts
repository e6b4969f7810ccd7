import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createWorkQueue } from './work-queue.ts'

function made(perLane?: number, laneOf?: (key: string) => string) {
  const clock = createVirtualClock()
  const backoff = { baseMs: 100, maxMs: 1_000, jitter: 0 }
  return {
    clock,
    queue: createWorkQueue({
      name: 'test',
      clock,
      ids: createSeededIds(1),
      backoff,
      ...(perLane ? { perLane } : {}),
      ...(laneOf ? { laneOf } : {}),
    }),
  }
}

describe('work queue', () => {
  it('holds a key once', async () => {
    const { queue } = made()
    queue.add('a')
    queue.add('a')
    queue.add('b')
    assert.equal(queue.depth(), 2)
    assert.deepEqual([await queue.next(), await queue.next()], ['a', 'b'])
  })

  it('never gives a key to two workers, and gives it again when it was added meanwhile', async () => {
    const { queue, clock } = made()
    queue.add('a')
    assert.equal(await queue.next(), 'a')
    queue.add('a')
    let second: string | undefined
    void queue.next().then((key) => (second = key))
    await clock.settle()
    assert.equal(second, undefined)
    queue.done('a')
    await clock.settle()
    assert.equal(second, 'a')
  })

  it('takes from namespaces in turn', async () => {
    const { queue } = made()
    for (const key of ['noisy/1', 'noisy/2', 'noisy/3', 'quiet/1', 'quiet/2', 'cluster']) queue.add(key)
    const order = []
    for (let taken = 0; taken < 6; taken += 1) order.push(await queue.next())
    assert.deepEqual(order, ['noisy/1', 'quiet/1', 'cluster', 'noisy/2', 'quiet/2', 'noisy/3'])
  })

  it('leaves workers to other namespaces when a namespace has its most', async () => {
    const { queue, clock } = made(2)
    for (const key of ['noisy/1', 'noisy/2', 'noisy/3', 'noisy/4']) queue.add(key)
    const order: (string | undefined)[] = []
    for (let worker = 0; worker < 4; worker += 1) void queue.next().then((key) => order.push(key))
    await clock.settle()
    assert.deepEqual(order, ['noisy/1', 'noisy/2'])
    queue.add('quiet/1')
    await clock.settle()
    assert.deepEqual(order, ['noisy/1', 'noisy/2', 'quiet/1'])
    queue.done('noisy/1')
    await clock.settle()
    assert.deepEqual(order, ['noisy/1', 'noisy/2', 'quiet/1', 'noisy/3'])
  })

  it('counts a key for the lane it was taken from, also when the lane of the key changes', async () => {
    let lane = 'a'
    const { queue } = made(1, () => lane)
    queue.add('1')
    queue.add('2')
    assert.equal(await queue.next(), '1')
    lane = 'b'
    queue.done('1')
    assert.equal(await queue.next(), '2')
    queue.done('2')
    queue.add('3')
    assert.equal(await queue.next(), '3')
  })

  it('of several waits the earliest counts', async () => {
    const { queue, clock } = made()
    queue.addAfter('a', 500)
    queue.addAfter('a', 200)
    queue.addAfter('a', 900)
    await clock.advance(199)
    assert.equal(queue.depth(), 0)
    await clock.advance(1)
    assert.equal(queue.depth(), 1)
    assert.equal(clock.sleepers(), 0)
  })

  it('being worked on ends a wait', async () => {
    const { queue, clock } = made()
    queue.addAfter('a', 500)
    queue.add('a')
    assert.equal(await queue.next(), 'a')
    queue.done('a')
    await clock.advance(1_000)
    assert.equal(queue.depth(), 0)
  })

  it('doubles the delay of retries up to the most, until forgotten', async () => {
    const { queue, clock } = made()
    const delays = []
    for (let tries = 0; tries < 6; tries += 1) {
      if (tries === 5) queue.forget('a')
      const before = clock.monotonicMs()
      queue.retry('a')
      await clock.runUntilIdle()
      delays.push(clock.monotonicMs() - before)
      queue.done((await queue.next())!)
    }
    assert.deepEqual(delays, [100, 200, 400, 800, 1_000, 100])
  })

  it('closes when what was handed out is done, and hands out nothing more', async () => {
    const { queue, clock } = made()
    queue.add('a')
    queue.add('b')
    queue.addAfter('c', 100)
    assert.equal(await queue.next(), 'a')
    let closed = false
    void queue.close().then(() => (closed = true))
    assert.equal(await queue.next(), undefined)
    await clock.settle()
    assert.equal(closed, false)
    queue.done('a')
    await clock.settle()
    assert.equal(closed, true)
    assert.equal(clock.sleepers(), 0)
  })
})
