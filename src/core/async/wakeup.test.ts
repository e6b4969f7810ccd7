import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createWakeup } from './wakeup.ts'

it('a notice wakes its waiter, is kept without a waiter, and ends with time or signal', async () => {
  const clock = createVirtualClock()
  const notice = createWakeup(clock)
  const never = new AbortController()
  const log: string[] = []
  const wait = (name: string, ms: number, signal = never.signal) =>
    notice.wait(ms, signal).then(
      () => log.push(`${name} woke`),
      () => log.push(`${name} aborted`),
    )
  notice.notify()
  notice.notify()
  await wait('kept', 1000)
  void wait('second', 1000)
  await clock.settle()
  assert.deepEqual(log, ['kept woke'])
  notice.notify()
  await clock.settle()
  void wait('timed', 1000)
  await clock.advance(1000)
  const stop = new AbortController()
  void wait('stopped', 1000, stop.signal)
  await clock.settle()
  stop.abort()
  await clock.settle()
  assert.deepEqual(log, ['kept woke', 'second woke', 'timed woke', 'stopped aborted'])
  assert.equal(clock.sleepers(), 0)
})
