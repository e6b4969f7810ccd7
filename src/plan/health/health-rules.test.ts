import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { applyHealthRules, compileHealthRules } from './health-rules.ts'

const widget = (status: object, generation?: number): UnknownObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'shop', ...(generation === undefined ? {} : { generation }) },
  status,
})
const id = { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'shop', name: 'w' }

function judged(options: BundleOptions, object: UnknownObject) {
  const read = compileHealthRules(options)
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
