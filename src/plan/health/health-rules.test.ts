import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { applyHealthRules, compileHealthRules, withUsedRules } from './health-rules.ts'
import type { CompileScript } from './health-rules.ts'

const widget = (status: object, generation?: number): UnknownObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'shop', ...(generation === undefined ? {} : { generation }) },
  status,
})
const id = { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'shop', name: 'w' }

function judged(options: BundleOptions, object: UnknownObject, compileScript?: CompileScript) {
  const read = compileHealthRules(options, compileScript)
  assert.ok(read.ok)
  const rules = read.rulesFor(id)
  assert.ok(rules)
  return applyHealthRules(object, rules)
}

const rule = {
  kind: 'Widget',
  failed: 'object.status.state == "broken"',
  progressing: 'has(object.status.todo) && object.status.todo > 0',
  ready: 'object.status.state == "fine"',
  message: '"state is " + object.status.state',
}

describe('health rules', () => {
  const cases: [string, object, string, string][] = [
    ['failed first', { state: 'broken', todo: 3 }, 'Failed', 'state is broken'],
    ['then progressing', { state: 'fine', todo: 3 }, 'Progressing', 'state is fine'],
    ['then ready', { state: 'fine' }, 'Ready', ''],
    ['anything else is on its way', { state: 'odd' }, 'Progressing', 'state is odd'],
    [
      'what cannot be worked out is said',
      {},
      'Progressing',
      'its health rule object.status.state == "broken" failed: no such key: state',
    ],
  ]
  for (const [name, status, state, message] of cases) {
    it(name, () => assert.deepEqual(judged({ health: [rule] }, widget(status)).health, { state, message }))
  }

  it('say nothing about an older generation', () => {
    const { health } = judged({ health: [rule] }, widget({ state: 'fine', observedGeneration: 1 }, 2))
    assert.equal(health.state, 'Progressing')
  })

  it('without ready leave the rest to what is known of the kind', () => {
    const { failed } = rule
    assert.equal(judged({ health: [{ failed }] }, widget({ state: 'odd' })).health.state, 'Ready')
  })

  it('may leave objects out, and are for those they select', () => {
    assert.equal(
      judged({ health: [{ kind: 'Widget', ignore: true }] }, widget({ state: 'broken' })).health.state,
      'Ready',
    )
    const read = compileHealthRules({ health: [{ ...rule, namespace: 'other' }] })
    assert.equal(read.ok && read.rulesFor(id), undefined)
  })

  it('that are no CEL are refused with their place', () => {
    const read = compileHealthRules({
      health: [{ ready: 'object.status.' }],
      feedback: [{ as: 'x', expression: 'unknown' }],
    })
    assert.match(
      read.ok ? '' : read.problem,
      /^health\[0\]\.ready: .*; feedback\[0\]\.expression: undeclared reference to 'unknown'/,
    )
  })
})

describe('feedback', () => {
  it('is any value as text, and an error is one too', () => {
    const feedback = [
      { as: 'count', expression: 'object.status.count' },
      { as: 'isMany', expression: 'object.status.count > 2' },
      { as: 'list', expression: 'object.status.names' },
      { as: 'missing', expression: 'object.status.nothing' },
    ]
    assert.deepEqual(judged({ feedback }, widget({ count: 3, names: ['a', 'b'] })).feedback, [
      { name: 'count', type: 'Integer', value: '3' },
      { name: 'isMany', type: 'Boolean', value: 'true' },
      { name: 'list', type: 'JsonRaw', value: '["a","b"]' },
      { name: 'missing', type: 'String', value: 'error: no such key: nothing' },
    ])
  })
})

describe('ignored conditions', () => {
  const conditions = [{ type: 'Stalled', status: 'True', reason: 'Waiting', message: 'for a person' }]

  it('do not count for health, and only where all their fields fit', () => {
    const stalled = widget({ conditions })
    assert.equal(judged({ ignoreConditions: [{ type: 'Stalled', reason: 'Broken' }] }, stalled).health.state, 'Failed')
    assert.equal(judged({ ignoreConditions: [{ type: 'Stalled', status: 'True' }] }, stalled).health.state, 'Ready')
  })
})

describe('scripts', () => {
  const health = [{ group: 'example.com', kind: 'Widget', lua: 'script' }]
  const answer =
    (found: ReturnType<Extract<ReturnType<CompileScript>, { ok: true }>['check']>): CompileScript =>
    () => ({ ok: true, check: () => found })
  const cases: [string, Parameters<typeof answer>[0], string, string][] = [
    ['healthy', { status: 'Healthy', message: 'fine' }, 'Ready', ''],
    ['suspended', { status: 'Suspended', message: 'asleep' }, 'Ready', ''],
    ['degraded', { status: 'Degraded', message: 'broken' }, 'Failed', 'broken'],
    ['unknown', { status: 'Unknown', message: '' }, 'Progressing', 'its health is Unknown'],
    ['no health', undefined, 'Ready', ''],
    [
      'a state that does not exist',
      { status: 'Fine', message: '' },
      'Progressing',
      'its health check returned the status "Fine"',
    ],
    ['an error', { error: 'line 1: no' }, 'Progressing', 'its health check failed: line 1: no'],
  ]
  for (const [name, found, state, message] of cases) {
    it(name, () => assert.deepEqual(judged({ health }, widget({}), answer(found)).health, { state, message }))
  }

  it('say nothing about an older generation, nor about an object that is being deleted', () => {
    const healthy = answer({ status: 'Healthy', message: '' })
    assert.equal(judged({ health }, widget({ observedGeneration: 1 }, 2), healthy).health.state, 'Progressing')
    const leaving = widget({})
    const gone = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    assert.equal(judged({ health }, gone, healthy).health.state, 'Progressing')
  })

  it('that cannot run are refused with their place, and never stand beside expressions', () => {
    const refused = compileHealthRules({ health }, () => ({ ok: false, problem: 'line 1: os is not available' }))
    assert.equal(refused.ok ? '' : refused.problem, 'health[0].lua: line 1: os is not available')
    const both = compileHealthRules({ health: [{ lua: 'x', ready: 'true' }] })
    assert.match(both.ok ? '' : both.problem, /health\[0\]: lua cannot be combined/)
  })

  it('are left out of a set without their kind', () => {
    const other = { kind: 'Other', lua: 'script' }
    const ready = { kind: 'Nothing', ready: 'true' }
    const healthProfile = 'Argo'
    const ignore = [{ kind: 'Other', pointers: ['/a'] }]
    assert.deepEqual(withUsedRules({ healthProfile, health: [...health, other], ignore }, [id]), {
      healthProfile,
      health,
    })
    assert.deepEqual(withUsedRules({ healthProfile, hooks: 'Skip', ignore: [{}] }, [id]), {
      healthProfile,
      hooks: 'Skip',
      ignore: [{}],
    })
    assert.deepEqual(
      withUsedRules({ health: [ready], ignore }, [id]),
      { health: [ready], ignore },
      'other Bundles stay',
    )
  })
})

describe('health profiles', () => {
  const notReady = widget({ conditions: [{ type: 'Ready', status: 'False', message: 'no' }] })
  const cases: [BundleOptions['healthProfile'], string][] = [
    ['Argo', 'Ready'],
    ['KStatus', 'Progressing'],
    ['Exists', 'Ready'],
  ]
  for (const [healthProfile, state] of cases) {
    it(healthProfile ?? '', () => assert.equal(judged({ healthProfile }, notReady).health.state, state))
  }

  it('Native has no rules of its own', () => {
    const read = compileHealthRules({ healthProfile: 'Native' })
    assert.equal(read.ok && read.rulesFor(id), undefined)
  })

  it('come after the rules of the Bundle', () => {
    const health = [{ kind: 'Widget', failed: 'true' }]
    assert.equal(judged({ healthProfile: 'Exists', health }, notReady).health.state, 'Failed')
  })

  it('never call a deleted object or an older status ready', () => {
    for (const healthProfile of ['Argo', 'KStatus', 'Exists'] as const) {
      const leaving = { ...notReady, metadata: { ...notReady.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
      assert.equal(judged({ healthProfile }, leaving).health.state, 'Progressing', healthProfile)
      const stale = widget({ observedGeneration: 1 }, 2)
      assert.equal(judged({ healthProfile }, stale).health.state, 'Progressing', healthProfile)
    }
  })
})
