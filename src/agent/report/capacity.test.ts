/** Free resources in the agent: read only while the hub asks, and at an interval. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { CAPACITY_TIMING } from '../timing.ts'
import { createCapacity } from './capacity.ts'

const status = { allocatable: { cpu: '10', pods: '10' }, conditions: [{ type: 'Ready', status: 'True' }] }

function started(pods: object[]) {
  const clock = createVirtualClock()
  const reads: string[] = []
  let asked = false
  let refusal: ApiError | undefined
  let changes = 0
  const list = async ({ kind }: { kind: string }) => {
    reads.push(kind)
    if (refusal && kind === 'Pod') throw refusal
    const items = kind === 'Node' ? [{ metadata: { name: 'a' }, status }] : kind === 'Pod' ? pods : []
    return { items, continue: '' }
  }
  const capacity = createCapacity({
    client: { list } as unknown as Client,
    clock,
    log: silentLogger,
    rules: () => ({ capacity: asked }),
    onChange: () => void (changes += 1),
  })
  const end = new AbortController()
  const running = capacity.run(end.signal)
  return {
    clock,
    capacity,
    reads,
    changes: () => changes,
    ask(value: boolean) {
      asked = value
      capacity.wake()
    },
    refuse: (error: ApiError | undefined) => void (refusal = error),
    async stop() {
      end.abort()
      await running
    },
  }
}

test('free resources are read while the hub asks, every five minutes, and a change of less than a step is none', async () => {
  const pods: object[] = []
  const agent = started(pods)
  await agent.clock.advance(60_000)
  assert.deepEqual([agent.reads, agent.capacity.current()], [[], undefined])
  agent.ask(true)
  await agent.clock.advance(1000)
  assert.deepEqual(agent.reads, ['Node', 'Pod', 'ResourceQuota'])
  assert.deepEqual(agent.capacity.current()?.free, [
    { name: 'cpu', amount: '10' },
    { name: 'pods', amount: '10' },
  ])
  assert.equal(agent.changes(), 1)
  pods.push({ spec: { nodeName: 'a', containers: [] } })
  agent.capacity.wake()
  await agent.clock.advance(CAPACITY_TIMING.intervalMs - 2000)
  assert.equal(agent.reads.length, 3, 'a notice leads to no read before the interval is over')
  await agent.clock.advance(2000)
  assert.deepEqual([agent.reads.length, agent.changes()], [6, 2])
  agent.ask(false)
  await agent.clock.advance(10 * CAPACITY_TIMING.intervalMs)
  assert.deepEqual([agent.reads.length, agent.capacity.current()], [6, undefined])
  await agent.stop()
})

test('an agent that may not list pods reports no estimate, and a failure is tried again', async () => {
  const agent = started([])
  agent.refuse(new ApiError('Forbidden', 'no'))
  agent.ask(true)
  await agent.clock.advance(1000)
  assert.equal(agent.capacity.current(), undefined)
  agent.refuse(new ApiError('ServiceUnavailable', 'later'))
  await agent.clock.advance(CAPACITY_TIMING.intervalMs)
  agent.refuse(undefined)
  await agent.clock.advance(CAPACITY_TIMING.retryMs)
  assert.notEqual(agent.capacity.current(), undefined)
  await agent.stop()
})

test('of each page of pods only sums are kept', async () => {
  const order: string[] = []
  let pages = 0
  const list = async ({ kind }: { kind: string }) => {
    if (kind === 'Node') return { items: [{ metadata: { name: 'a' }, status }], continue: '' }
    if (kind !== 'Pod') return { items: [], continue: '' }
    pages += 1
    const page = pages
    order.push(`request ${page}`)
    const pod = {
      get spec() {
        if (order.at(-1) !== `read ${page}`) order.push(`read ${page}`)
        return { nodeName: 'a', containers: [{ resources: { requests: { cpu: '1' } } }] }
      },
    }
    return { items: [pod], continue: page < 3 ? 'more' : '' }
  }
  const capacity = createCapacity({
    client: { list } as unknown as Client,
    clock: createVirtualClock(),
    log: silentLogger,
    rules: () => ({ capacity: true }),
    onChange: () => end.abort(),
  })
  const end = new AbortController()
  await capacity.run(end.signal)
  assert.deepEqual(order, ['request 1', 'read 1', 'request 2', 'read 2', 'request 3', 'read 3'])
  assert.deepEqual(capacity.current()?.free, [
    { name: 'cpu', amount: '7' },
    { name: 'pods', amount: '7' },
  ])
})
