import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { callerClass, createFairQueue, FAIR_LIMITS } from './fair-queue.ts'

describe('the fair queue', () => {
  const never = new AbortController().signal
  const person = (user: string) => ({ user, groups: [] })

  function controlled(seats: number, waiting: number) {
    const queue = createFairQueue({ ...FAIR_LIMITS, people: { seats, waiting } })
    const started: string[] = []
    const finish = new Map<string, () => void>()
    const begin = (user: string, name: string, signal = never) =>
      queue.run(person(user), signal, () => {
        started.push(name)
        return new Promise<void>((resolve) => finish.set(name, resolve))
      })
    return { queue, started, begin, end: (name: string) => finish.get(name)!() }
  }

  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

  it('gives seats in turns to the callers that wait', async () => {
    const { started, begin, end } = controlled(1, 10)
    const all = [begin('a', 'a1'), begin('a', 'a2'), begin('a', 'a3'), begin('b', 'b1'), begin('a', 'a4')]
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4']) {
      await settle()
      assert.equal(started.at(-1), name)
      end(name)
    }
    await Promise.all(all)
  })

  it('tells one too many to come back, and other classes do not notice', async () => {
    const { queue, begin, end } = controlled(1, 1)
    const first = begin('a', 'a1')
    const second = begin('a', 'a2')
    await assert.rejects(begin('b', 'b1'), { reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 1 } })
    assert.equal(await queue.run({ user: 'system:flotilla:hub', groups: [] }, never, async () => 'served'), 'served')
    assert.equal(
      await queue.run({ user: 'system:flotilla:gateway', groups: [] }, never, async () => 'served'),
      'served',
    )
    end('a1')
    await first
    await settle()
    end('a2')
    await second
    const third = begin('b', 'b2')
    await settle()
    end('b2')
    await third
  })

  it('refuses the longest line when too many wait, and never a shorter one', async () => {
    const { started, begin, end } = controlled(1, 3)
    const seated = begin('a', 'a1')
    const waiting = [begin('a', 'a2'), begin('a', 'a3')]
    const pushedOut = begin('a', 'a4')
    const late = begin('b', 'b1')
    await assert.rejects(pushedOut, { reason: 'TooManyRequests' })
    await assert.rejects(begin('a', 'a5'), { reason: 'TooManyRequests' })
    const second = begin('c', 'c1')
    await assert.rejects(waiting[1]!, { reason: 'TooManyRequests' })
    await assert.rejects(begin('b', 'b2'), { reason: 'TooManyRequests' }, 'all lines are equally long')
    for (const name of ['a1', 'a2', 'b1', 'c1']) {
      await settle()
      end(name)
    }
    await Promise.all([seated, waiting[0], late, second])
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'c1'])
  })

  it('lets the ServiceAccounts of one tenant wait in one line', async () => {
    const limits = { ...FAIR_LIMITS, people: { seats: 1, waiting: 10 } }
    const queue = createFairQueue(limits, (namespace) => namespace.replace(/-.*/, ''))
    const order: string[] = []
    const run = (user: string) => queue.run(person(user), never, async () => void order.push(user))
    const many = ['a-1', 'a-2', 'a-3'].map((namespace) => run(`system:serviceaccount:${namespace}:ci`))
    await Promise.all([...many, run('system:serviceaccount:b:ci'), run('ann')])
    assert.deepEqual(
      order.map((user) => user.replace('system:serviceaccount:', '')),
      ['a-1:ci', 'a-2:ci', 'b:ci', 'ann', 'a-3:ci'],
    )
  })

  it('lets a tenant with hundreds of requests delay the p99 of another tenant by less than 2x', async () => {
    // Times of requests in milliseconds, one after the other; the queue is played in virtual time.
    const times = [20, 80, 35, 60, 50, 10, 95, 45]
    async function p99(busy: number): Promise<number> {
      const clock = createVirtualClock()
      const limits = { ...FAIR_LIMITS, people: { seats: 8, waiting: 100 } }
      const queue = createFairQueue(limits, (namespace) => namespace.replace(/-.*/, ''))
      let served = 0
      const over = new AbortController()
      const call = (namespace: string) =>
        queue.run(person(`system:serviceaccount:${namespace}:ci`), never, () =>
          clock.sleep(times[served++ % times.length]!, never),
        )
      const crowd = Array.from({ length: busy }, async (_, at) => {
        while (!over.signal.aborted) {
          const [outcome] = await Promise.allSettled([call(`busy-${at % 50}`)])
          if (outcome.status === 'rejected') await clock.sleep(1000, never)
        }
      })
      const waited: number[] = []
      for (let at = 0; at < 100; at++) {
        const began = clock.now()
        const answered = new AbortController()
        const done = call('quiet').then(() => answered.abort())
        while (!answered.signal.aborted) await clock.advance(1)
        await done
        waited.push(clock.now() - began)
      }
      over.abort()
      await clock.advance(10_000)
      await Promise.all(crowd)
      return waited.toSorted((a, b) => a - b)[98]!
    }
    const [alone, beside] = [await p99(0), await p99(300)]
    assert.ok(alone >= 95, String(alone))
    assert.ok(beside < 2 * alone, `${beside} ms beside a busy tenant, ${alone} ms alone`)
  })

  it('forgets who went away, and a failure gives its seat back', async () => {
    const { queue, started, begin, end } = controlled(1, 1)
    const first = begin('a', 'a1')
    const gone = new AbortController()
    const second = begin('b', 'b1', gone.signal)
    gone.abort()
    await assert.rejects(second, { reason: 'Timeout' })
    const third = begin('c', 'c1')
    end('a1')
    await first
    await settle()
    assert.deepEqual(started, ['a1', 'c1'])
    end('c1')
    await third
    await assert.rejects(
      queue.run(person('d'), never, () => Promise.reject(new Error('broken'))),
      /broken/,
    )
    assert.equal(await queue.run(person('d'), never, async () => 1), 1)
  })

  it('knows callers by who they are, not by whom they play', () => {
    assert.equal(callerClass({ user: 'system:flotilla:gateway', groups: [] }), 'gateway')
    assert.equal(callerClass({ user: 'system:flotilla:hub', groups: [] }), 'controllers')
    assert.equal(callerClass({ user: 'system:serviceaccount:a:b', groups: [] }), 'people')
    assert.equal(callerClass({ user: 'system:flotilla:hub', groups: [], impersonator: 'eve' }), 'people')
  })
})
