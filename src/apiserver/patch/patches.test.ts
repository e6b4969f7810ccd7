import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'
import { applyStrategicMerge } from './strategic-merge.ts'

const keyed: StructuralSchema = {
  type: 'object',
  properties: {
    items: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
      items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer' } } },
    },
    words: { type: 'array', 'x-kubernetes-patch-strategy': 'merge', items: { type: 'string' } },
    // Server-side apply merges these, strategic merge does not: it has words of its own.
    claims: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' } } },
    },
    steps: { type: 'array', items: { type: 'string' } },
    how: { type: 'object', properties: { type: { type: 'string' }, rolling: { type: 'object' } } },
  },
}

describe('patches', () => {
  it('JSON patch addresses lists, escapes and the end', () => {
    const value = { a: [1, 2, 3], 'x/y': { 'm~n': 1 } }
    const patch = [
      { op: 'add', path: '/a/1', value: 9 },
      { op: 'add', path: '/a/-', value: 10 },
      { op: 'remove', path: '/a/0' },
      { op: 'replace', path: '/x~1y/m~0n', value: 2 },
    ]
    assert.deepEqual(applyJsonPatch(value, patch), { a: [9, 2, 3, 10], 'x/y': { 'm~n': 2 } })
    assert.deepEqual(value.a, [1, 2, 3])
  })

  it('JSON patch refuses what it cannot do', () => {
    const refused = (patch: unknown, code: number) => assert.throws(() => applyJsonPatch({ a: [1] }, patch), { code })
    refused({}, 400)
    refused([{ op: 'nope', path: '/a' }], 400)
    refused([{ op: 'add', path: 'a', value: 1 }], 400)
    refused([{ op: 'move', path: '/b' }], 400)
    refused([{ op: 'add', path: '/__proto__', value: {} }], 400)
    refused([{ op: 'remove', path: '/b' }], 422)
    refused([{ op: 'add', path: '/a/7', value: 1 }], 422)
    refused([{ op: 'replace', path: '/a/01', value: 1 }], 422)
    refused([{ op: 'test', path: '/a', value: [2] }], 422)
    refused(
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: [1] })),
      413,
    )
  })

  it('merge patch follows RFC 7386', () => {
    const cases: readonly [unknown, unknown, unknown][] = [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { a: null }, {}],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [['a'], { b: 1 }, { b: 1 }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ]
    for (const [value, patch, expected] of cases) assert.deepEqual(applyMergePatch(value, patch), expected)
  })

  it('strategic merge merges by key, deletes, replaces, orders', () => {
    const value = {
      items: [
        { name: 'a', v: 1 },
        { name: 'b', v: 2 },
      ],
      words: ['x', 'y'],
      steps: ['1'],
      claims: [{ name: 'a' }],
    }
    const merge = (patch: object) => applyStrategicMerge(value, patch, keyed) as Record<string, unknown>
    assert.deepEqual(merge({ items: [{ name: 'b', v: 3 }, { name: 'c' }] })['items'], [
      { name: 'a', v: 1 },
      { name: 'b', v: 3 },
      { name: 'c' },
    ])
    assert.deepEqual(merge({ items: [{ name: 'a', $patch: 'delete' }] })['items'], [{ name: 'b', v: 2 }])
    assert.deepEqual(merge({ items: [{ $patch: 'replace' }, { name: 'z' }] })['items'], [{ name: 'z' }])
    assert.deepEqual(merge({ words: ['y', 'z'] })['words'], ['x', 'y', 'z'])
    assert.deepEqual(merge({ '$deleteFromPrimitiveList/words': ['x'] })['words'], ['y'])
    assert.deepEqual(merge({ steps: ['2'] })['steps'], ['2'])
    assert.deepEqual(merge({ claims: [{ name: 'b' }] })['claims'], [{ name: 'b' }])
    assert.deepEqual(
      merge({ '$setElementOrder/items': [{ name: 'b' }, { name: 'a' }], items: [{ name: 'a', v: 5 }] })['items'],
      [
        { name: 'b', v: 2 },
        { name: 'a', v: 5 },
      ],
    )
    assert.throws(() => merge({ items: [{ v: 1 }] }), /does not contain declared merge key: name/)
  })

  it('strategic merge retains only the keys it names', () => {
    const value = { how: { type: 'Rolling', rolling: { max: 1 } } }
    const patch = { how: { $retainKeys: ['type'], type: 'Recreate' } }
    assert.deepEqual(applyStrategicMerge(value, patch, keyed), { how: { type: 'Recreate' } })
  })
})
