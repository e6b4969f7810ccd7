import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../client/create-client.ts'
import { createInformers } from '../client/informers.ts'
import { ApiError, Stalled, Waiting } from '../core/errors.ts'
import { silentLogger } from '../core/log.ts'
import type { MetricLabels, Metrics } from '../core/metrics.ts'
import type { Condition, KubeObject, ResourceType } from '../kinds/meta.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createFakeApi, refuse } from '../testing/hub/fake-api.ts'
import type { FakeApi } from '../testing/hub/fake-api.ts'
import { createController } from './controller.ts'
import type { ControllerOptions } from './controller.ts'
import type { Reconciler } from './reconciler.ts'
import { triggerOnObject } from './trigger.ts'

interface Thing extends KubeObject {
  spec: { size: number; uses?: string }
  status?: { conditions?: Condition[]; size?: number }
}

const Thing: ResourceType<Thing> = { group: 'x.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Cluster' }
const Part: ResourceType = { group: 'x.dev', version: 'v1', kind: 'Part', plural: 'parts', scope: 'Cluster' }

const path = (name: string) => `/apis/x.dev/v1/things/${name}`
const thing = (name: string, size = 1, uses?: string) => ({
  apiVersion: 'x.dev/v1',
  kind: 'Thing',
  metadata: { name },
  spec: { size, ...(uses ? { uses } : {}) },
})

function countingMetrics(): { metrics: Metrics; counts: Map<string, number> } {
  const counts = new Map<string, number>()
  const adding =
    ({ name }: { readonly name: string }) =>
    (labels: MetricLabels, value: number) => {
      const key = labels['result'] ? `${name} ${labels['result']}` : name
      counts.set(key, (counts.get(key) ?? 0) + value)
    }
  return { counts, metrics: { counter: adding, gauge: () => () => {}, histogram: () => () => {} } }
}

function running(
  reconcile: Reconciler<Thing>['reconcile'],
  options: Partial<ControllerOptions<Thing>> = {},
  api: FakeApi = createFakeApi(),
) {
  const clock = createVirtualClock()
  const ids = createSeededIds(1)
  const { metrics, counts } = countingMetrics()
  const client = createClient({ transport: api.transport, clock })
  const informers = createInformers({ client, clock, ids, log: silentLogger })
  const passes: string[] = []
  const stop = new AbortController()
  const informer = informers.of(Thing)
  informer.addIndex('uses', (object) => (object.spec.uses ? [object.spec.uses] : []))
  const parts = informers.of(Part)
  const controller = createController<Thing>({
    type: Thing,
    informer,
    client,
    clock,
    ids,
    metrics,
    log: silentLogger,
    triggers: [
      triggerOnObject(parts, (part) =>
        informer.lister.by('uses', part.metadata.name).map((user) => user.metadata.name),
      ),
    ],
    reconciler: {
      name: 'test',
      reconcile: (draft, context) => {
        passes.push(draft.seen.metadata.name)
        return reconcile(draft, context)
      },
    },
    ...options,
  })
  const ended = Promise.all([informers.run(stop.signal), controller.run(stop.signal)])
  return {
    api,
    clock,
    counts,
    passes,
    controller,
    conditions: (name: string) => (api.get(path(name)) as unknown as Thing | undefined)?.status?.conditions ?? [],
    writes: () => api.requests.filter((request) => !request.startsWith('GET')),
    end: async () => {
      stop.abort(new Error('stop'))
      await clock.settle()
      await ended
    },
  }
}

describe('controller', () => {
  it('writes the status once and then rests', async () => {
    const { api, clock, writes, passes, end } = running(async (draft) => {
      draft.next.status = { ...draft.next.status, size: draft.seen.spec.size }
      draft.conditions.set('Ready', 'True', 'Sized', 'has its size')
      return {}
    })
    api.put(path('a'), thing('a', 7))
    await clock.advance(60_000)
    assert.deepEqual(writes(), [`PUT ${path('a')}/status?fieldManager=flotilla-test`])
    assert.equal((api.get(path('a')) as unknown as Thing).status?.size, 7)
    assert.deepEqual(passes, ['a', 'a'], 'one pass for the object, one for its own write')
    await end()
    assert.equal(clock.sleepers(), 0)
  })

  it('writes a status again after a while when another process overwrote it, and a new status at once', async () => {
    const { api, clock, writes, end } = running(async (draft) => {
      draft.next.status = { ...draft.next.status, size: draft.seen.spec.size }
      return {}
    })
    const takeBack = (size: number) => api.put(path('a'), { ...thing('a', size), status: { size: 1 } })
    api.put(path('a'), thing('a', 7))
    await clock.advance(1_000)
    takeBack(7)
    await clock.advance(5_000)
    assert.equal(writes().length, 1, 'it waits')
    await clock.advance(5_000)
    assert.equal(writes().length, 2, 'it said so again')
    takeBack(8)
    await clock.advance(1_000)
    assert.equal(writes().length, 3, 'its size is another one')
    await end()
  })

  it('writes metadata in one pass and status in the next', async () => {
    const { api, clock, writes, end } = running(async (draft) => {
      if (!draft.seen.metadata.finalizers) draft.next.metadata.finalizers = ['x.dev/f']
      else draft.conditions.set('Ready', 'True', 'Done', '')
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.advance(10_000)
    assert.deepEqual(
      writes().map((write) => write.split('?')[0]),
      [`PUT ${path('a')}`, `PUT ${path('a')}/status`],
    )
    await end()
  })

  it('looks again when something watched changes', async () => {
    const { api, clock, passes, end } = running(async () => ({}))
    api.put(path('a'), thing('a', 1, 'wheel'))
    api.put(path('b'), thing('b'))
    await clock.settle()
    passes.length = 0
    api.put('/apis/x.dev/v1/parts/wheel', { apiVersion: 'x.dev/v1', kind: 'Part', metadata: { name: 'wheel' } })
    await clock.settle()
    assert.deepEqual(passes, ['a'])
    await end()
  })

  it('looks again after the time asked for', async () => {
    const { api, clock, passes, end } = running(async () => ({ requeueAfterMs: 10_000 }))
    api.put(path('a'), thing('a'))
    await clock.advance(25_000)
    assert.equal(passes.length, 3)
    await end()
  })

  it('reconciles a resting object when its rest is over, however often it changes before', async () => {
    const resting = new Map<string, number>()
    const { api, clock, passes, end } = running(async () => ({}), {
      restMs: ({ metadata }) => Math.max(0, (resting.get(metadata.name) ?? 0) - clock.monotonicMs()),
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    resting.set('a', clock.monotonicMs() + 1000)
    for (let size = 2; size < 6; size++) {
      api.put(path('a'), thing('a', size))
      api.put(path('b'), thing('b', size))
      await clock.advance(100)
    }
    assert.deepEqual(
      passes.filter((name) => name === 'a'),
      ['a'],
    )
    assert.equal(passes.filter((name) => name === 'b').length, 4)
    await clock.advance(1000)
    assert.equal(passes.filter((name) => name === 'a').length, 2)
    await end()
  })

  it('keeps all conditions and writes nothing after a pass that returns unchanged', async () => {
    let isUnchanged = false
    const { api, clock, passes, writes, conditions, end } = running(async (draft) => {
      if (isUnchanged) return { unchanged: true }
      draft.conditions.set('Ready', 'False', 'Busy', '')
      draft.conditions.set('Reconciling', 'True', 'Busy', '')
      return { requeueAfterMs: 10_000 }
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    const before = writes().length
    isUnchanged = true
    await clock.advance(10_000)
    assert.ok(passes.length > 1)
    assert.equal(writes().length, before)
    assert.deepEqual(
      conditions('a').map(({ type, status }) => `${type}=${status}`),
      ['Ready=False', 'Reconciling=True'],
    )
    await end()
  })

  it('fails a pass that returns unchanged and changed its draft', async () => {
    const { api, clock, writes, counts, end } = running(async (draft) => {
      draft.conditions.set('Ready', 'True', 'Done', '')
      return { unchanged: true }
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    assert.deepEqual(writes(), [])
    assert.equal(counts.get('controller_runtime_reconcile_errors_total'), 1)
    await end()
  })

  it('Waiting becomes Ready=False and Reconciling=True, and is tried again', async () => {
    let there = false
    const { api, clock, passes, conditions, counts, end } = running(async (draft) => {
      if (!there) throw new Waiting('NoClusters', 'no cluster has joined yet', 5_000)
      draft.conditions.set('Ready', 'True', 'Done', '')
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    assert.deepEqual(
      conditions('a').map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
      ['Ready=False NoClusters: no cluster has joined yet', 'Reconciling=True NoClusters: no cluster has joined yet'],
    )
    there = true
    const before = passes.length
    await clock.advance(5_000)
    assert.ok(passes.length > before)
    assert.deepEqual(
      conditions('a').map(({ type, status }) => `${type}=${status}`),
      ['Ready=True'],
    )
    assert.equal(counts.get('controller_runtime_reconcile_errors_total'), undefined)
    await end()
  })

  it('Stalled becomes Stalled=True, and waits for a change', async () => {
    const { api, clock, passes, conditions, end } = running(async (draft) => {
      if (draft.seen.spec.size < 0) throw new Stalled('BadSize', 'size is -1: give it a size of 0 or more')
      draft.conditions.set('Ready', 'True', 'Done', '')
      return {}
    })
    api.put(path('a'), thing('a', -1))
    await clock.advance(600_000)
    assert.ok(passes.length <= 2, 'no retries')
    assert.deepEqual(
      conditions('a').map(({ type, status }) => `${type}=${status}`),
      ['Ready=False', 'Stalled=True'],
    )
    api.put(path('a'), { ...api.get(path('a'))!, spec: { size: 1 } })
    await clock.settle()
    assert.deepEqual(
      conditions('a').map(({ type, status }) => `${type}=${status}`),
      ['Ready=True'],
    )
    await end()
  })

  it('a controller that does not own Ready writes its own condition, or none', async () => {
    for (const [failureCondition, expected] of [
      ['Placed', ['Placed']],
      [false, []],
    ] as const) {
      const { api, clock, conditions, end } = running(
        async () => {
          throw new Waiting('Later', 'later', 5_000)
        },
        { failureCondition },
      )
      api.put(path('a'), thing('a'))
      await clock.settle()
      assert.deepEqual(
        conditions('a').map(({ type }) => type),
        expected,
      )
      await end()
    }
  })

  it('notes the generation it looked at, unless that is for another controller', async () => {
    for (const [notesGeneration, expected] of [
      [true, 1],
      [false, undefined],
    ] as const) {
      const schema = { properties: { status: { properties: { observedGeneration: {} } } } }
      const type: typeof Thing = Object.assign({}, Thing, { schema })
      const { api, clock, end } = running(async () => ({}), { type, notesGeneration })
      api.put(path('a'), { ...thing('a'), metadata: { name: 'a', generation: 1 } })
      await clock.settle()
      const { status } = api.get(path('a')) as { status?: { observedGeneration?: number } }
      assert.equal(status?.observedGeneration, expected)
      await end()
    }
  })

  it('retries a conflict quietly', async () => {
    const { api, clock, counts, conditions, end } = running(async (draft) => {
      draft.conditions.set('Ready', 'True', 'Done', '')
      return {}
    })
    let refusals = 2
    api.intercept(({ method }) => {
      if (method !== 'PUT' || refusals === 0) return undefined
      refusals -= 1
      return refuse('Conflict', 'the object has been modified')
    })
    api.put(path('a'), thing('a'))
    await clock.advance(5_000)
    assert.equal(conditions('a').length, 1)
    assert.equal(counts.get('controller_runtime_reconcile_total requeue'), 2)
    assert.equal(counts.get('controller_runtime_reconcile_errors_total'), undefined)
    await end()
  })

  it('retries other failures with backoff, counts them, and does not delay other keys', async () => {
    const { api, clock, counts, passes, conditions, end } = running(
      async (draft) => {
        if (draft.seen.metadata.name === 'bad') throw new Error('disk on fire')
        draft.conditions.set('Ready', 'True', 'Done', '')
        return {}
      },
      { workers: 1 },
    )
    api.put(path('bad'), thing('bad'))
    api.put(path('good'), thing('good'))
    await clock.advance(60_000)
    assert.equal(conditions('good').length, 1)
    const tries = passes.filter((name) => name === 'bad').length
    assert.ok(tries > 5 && tries < 20, `${tries} tries in a minute`)
    assert.equal(counts.get('controller_runtime_reconcile_errors_total'), tries)
    await end()
  })

  it('waits as long as a busy server asks', async () => {
    let busy = true
    const { api, clock, passes, end } = running(async () => {
      if (busy) throw new ApiError('TooManyRequests', 'slow down', { retryAfterSeconds: 30 })
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.advance(29_999)
    assert.equal(passes.length, 1)
    busy = false
    await clock.advance(1)
    assert.equal(passes.length, 2)
    await end()
  })

  it('an object deleted under a pass is no failure', async () => {
    const { api, clock, counts, end } = running(async (draft) => {
      api.remove(path('a'))
      draft.conditions.set('Ready', 'True', 'Done', '')
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.advance(5_000)
    assert.equal(counts.get('controller_runtime_reconcile_errors_total'), undefined)
    await end()
  })

  it('reconciles nothing before every cache is complete', async () => {
    const api = createFakeApi()
    api.put(path('a'), thing('a'))
    api.intercept(({ path: asked }) => (asked.includes('/parts') ? new Error('connection refused') : undefined))
    const { clock, passes, end } = running(async () => ({}), {}, api)
    await clock.advance(10_000)
    assert.deepEqual(passes, [])
    api.intercept(undefined)
    await clock.advance(30_000)
    assert.deepEqual(passes, ['a'])
    await end()
  })

  it('knows its own writes while the watch is away', async () => {
    let size = 1
    const { api, clock, controller, counts, writes, end } = running(async (draft) => {
      draft.next.status = { size }
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    api.intercept(({ path: asked }) => (asked.includes('watch=true') ? new Error('connection refused') : undefined))
    api.breakWatches()
    for (size = 2; size < 5; size += 1) {
      controller.enqueue('a')
      await clock.settle()
    }
    assert.equal(writes().length, 4)
    assert.equal(counts.get('controller_runtime_reconcile_total requeue'), undefined, 'no conflict with itself')
    await end()
  })

  it('ends only after the pass it is in', async () => {
    const passing = Promise.withResolvers<void>()
    let finished = false
    const { api, clock, end } = running(async () => {
      await passing.promise
      finished = true
      return {}
    })
    api.put(path('a'), thing('a'))
    await clock.settle()
    let ended = false
    const ending = end().then(() => (ended = true))
    await clock.settle()
    assert.equal(ended, false)
    passing.resolve()
    await ending
    assert.equal(finished, true)
  })
})
