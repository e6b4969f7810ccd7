import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { admitRequest, initialLoadState } from './load-shedding.ts'
import type { RequestClass } from './load-shedding.ts'

const LIMITS = { perSecond: 100, burst: 200, atWork: 50 }

test('streams leave room for reports, and reports for certificates', () => {
  let state = initialLoadState(LIMITS, 0)
  const letIn = (who: RequestClass): number => {
    for (let count = 0; ; count++) {
      const next = admitRequest(state, who, LIMITS, { now: 0, fraction: 0.5, atWork: 0 })
      state = next.state
      if (next.retryAfterMs !== undefined) return count
    }
  }
  assert.deepEqual([letIn('follow'), letIn('report'), letIn('renew')], [100, 60, 40])
})

test('while as many wait for the hub’s API as may, only certificates are let in', () => {
  const isIn = (who: RequestClass, atWork: number) =>
    admitRequest(initialLoadState(LIMITS, 0), who, LIMITS, { now: 0, fraction: 0, atWork }).retryAfterMs === undefined
  const last = (who: RequestClass) => Array.from({ length: 100 }, (_, atWork) => isIn(who, atWork)).lastIndexOf(true)
  assert.deepEqual([last('follow'), last('report'), last('renew')], [24, 39, 99])
})

test('a herd of 5,000 is spread over the time it needs, and all requests pass', () => {
  const ids = countingIds(5)
  let state = initialLoadState(LIMITS, 0)
  const due = Array.from({ length: 5000 }, () => 0)
  const admittedAt: number[] = []
  let asked = 0
  while (due.length > 0) {
    due.sort((a, b) => b - a)
    const now = due.pop()!
    asked += 1
    const next = admitRequest(state, 'follow', LIMITS, { now, fraction: ids.fraction(), atWork: 0 })
    state = next.state
    if (next.retryAfterMs === undefined) admittedAt.push(now)
    else due.push(now + next.retryAfterMs)
  }
  const last = Math.max(...admittedAt)
  assert.equal(admittedAt.length, 5000)
  assert.ok(last < 120_000, `the last after ${last} ms; at 100 a second 49 s is the least`)
  assert.ok(asked < 5 * 5000, `${asked} questions`)
  for (let second = 0; second < last; second += 1000) {
    const inIt = admittedAt.filter((at) => at >= second && at < second + 1000).length
    assert.ok(inIt <= LIMITS.perSecond + LIMITS.burst / 2, `${inIt} in second ${second / 1000}`)
  }
})
