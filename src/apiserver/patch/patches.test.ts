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

  describe('CVE-2019-1002100: a JSON patch that multiplies what it patches', () => {
    const repeated = (count: number, operation: (n: number) => object): object[] =>
      Array.from({ length: count }, (_, n) => operation(n))
    const LIMIT = 3 * 1024 * 1024
    const copies = (message: RegExp) => ({ code: 413, reason: 'RequestEntityTooLarge', message })
    const TOO_MUCH = new RegExp(
      `^Unable to complete the copy, the accumulated size increase of copy is \\d+, exceeding the limit ${LIMIT}$`,
    )

    it('is refused when its copies double', () => {
      const patch = repeated(200, (n) => ({ op: 'copy', from: '/data', path: `/data/k${n}` }))
      assert.throws(() => applyJsonPatch({ data: { a: 'b' } }, patch), copies(TOO_MUCH))
    })

    it('is refused when it copies something into itself', () => {
      const patch = repeated(9_999, () => ({ op: 'copy', from: '/metadata', path: '/metadata/k' }))
      assert.throws(() => applyJsonPatch({ metadata: { name: 'a' } }, patch), { code: 413 })
      const long = { name: 'a'.repeat(20_000) }
      assert.throws(() => applyJsonPatch({ metadata: long }, patch), copies(TOO_MUCH))
    })

    it('is refused when its copies are more than 3 MiB together, and not before', () => {
      const value = { text: 'x'.repeat(1024 * 1024 - 2), others: {} }
      const patch = (count: number) => repeated(count, (n) => ({ op: 'copy', from: '/text', path: `/others/k${n}` }))
      const { others } = applyJsonPatch(value, patch(3)) as { others: object }
      assert.equal(Object.keys(others).length, 3)
      assert.throws(() => applyJsonPatch(value, patch(4)), copies(TOO_MUCH))
      // What is removed again was copied all the same.
      const again = patch(4).flatMap((copy, n) => [copy, { op: 'remove', path: `/others/k${n}` }])
      assert.throws(() => applyJsonPatch(value, again), copies(TOO_MUCH))
    })

    it('is refused when it nests deeper than a body may', () => {
      const deeper = [
        { op: 'add', path: '/y', value: {} },
        { op: 'move', from: '/x', path: '/y/k' },
        { op: 'move', from: '/y', path: '/x' },
      ]
      const nested = (levels: number) => repeated(levels, (n) => ({ n })).flatMap(() => deeper)
      // The object itself and its field are two levels already.
      assert.equal(JSON.stringify(applyJsonPatch({ x: {} }, nested(498))).match(/\{/g)?.length, 500)
      const message = 'The patched object is nested deeper than the allowed 500 levels'
      assert.throws(() => applyJsonPatch({ x: {} }, nested(499)), { code: 413, message })
      assert.throws(() => applyJsonPatch({ x: {} }, nested(3_333)), { code: 413, message })
      const copied = [...nested(1_000), { op: 'copy', from: '/x', path: '/z' }]
      assert.throws(() => applyJsonPatch({ x: {} }, copied), { code: 413, message })
    })

    it('is refused when it moves the items of a long list again and again', () => {
      const list = Array<number>(900_000).fill(0)
      const ways: readonly object[] = [
        { op: 'add', path: '/list/0', value: 0 },
        { op: 'remove', path: '/list/0' },
        { op: 'move', from: '/list/899999', path: '/list/0' },
      ]
      for (const way of ways) {
        assert.throws(
          () =>
            applyJsonPatch(
              { list },
              repeated(9_999, () => way),
            ),
          {
            code: 413,
            message:
              /^Unable to complete the patch, the number of list items it moves is \d+, exceeding the limit 100000000$/,
          },
        )
      }
      // As many as operations and items of a list of the largest kind that people have.
      const short = Array<number>(5_000).fill(0)
      const kept = applyJsonPatch(
        { list: short },
        repeated(9_999, () => ({ op: 'add', path: '/list/0', value: 1 })),
      )
      assert.equal((kept as { list: number[] }).list.length, 14_999)
      const replaced = applyJsonPatch(
        { list },
        repeated(9_999, () => ({ op: 'replace', path: '/list/0', value: 1 })),
      )
      assert.equal((replaced as { list: number[] }).list[0], 1)
    })
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
