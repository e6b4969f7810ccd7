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

  it('strategic merge orders, merges and deletes where keys repeat', () => {
    const [first, second] = [
      { name: 'a', v: 1 },
      { name: 'a', v: 2 },
    ]
    const merge = (items: object[], patch: object) =>
      (applyStrategicMerge({ items }, patch, keyed) as { items: unknown }).items
    const gone = { name: 'a', $patch: 'delete' }
    assert.deepEqual(merge([first, second], { items: [{ name: 'a', v: 3 }] }), [{ name: 'a', v: 3 }, second])
    assert.deepEqual(merge([first, second], { items: [gone] }), [second])
    assert.deepEqual(merge([first, second], { items: [gone, { name: 'a', v: 3 }] }), [{ name: 'a', v: 3 }])
    assert.deepEqual(merge([first], { items: [gone, { name: 'a', v: 3 }] }), [{ name: 'a', v: 3 }])
    const c = { name: 'c', v: 4 }
    assert.deepEqual(merge([first, { name: 'b' }], { items: [{ name: 'c' }, c] }), [c, first, { name: 'b' }])
  })

  describe('the cost of a patch grows with its size', () => {
    /** Counts how often items and fields are read, however deep. */
    const counting = () => {
      let reads = 0
      const counted = <T>(value: T): T => {
        if (typeof value !== 'object' || value === null) return value
        return new Proxy(value, {
          get(target, key, receiver) {
            reads += 1
            return counted(Reflect.get(target, key, receiver) as unknown)
          },
        })
      }
      return { counted, reads: () => reads }
    }
    const range = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, i) => make(i))
    const named = (count: number, from = 0) => range(count, (n) => ({ name: `n${n + from}`, v: n }))
    const words = (count: number, from = 0) => range(count, (n) => `w${n + from}`)

    const cases: Record<string, (n: number) => readonly [object, object]> = {
      'a set that is new': (n) => [{ words: ['x'] }, { words: words(n) }],
      'a set that is there': (n) => [{ words: words(n) }, { words: words(n) }],
      'a set of which half is there': (n) => [{ words: words(n) }, { words: words(n, n / 2).reverse() }],
      'items deleted from a set': (n) => [
        { words: words(n) },
        { '$deleteFromPrimitiveList/words': words(n).reverse() },
      ],
      'the order of a set': (n) => [{ words: words(n) }, { '$setElementOrder/words': words(n).reverse() }],
      'a keyed list that is new': (n) => [{ items: named(1) }, { items: named(n) }],
      'a keyed list that is there': (n) => [{ items: named(n) }, { items: named(n).reverse() }],
      'items deleted from a keyed list': (n) => [
        { items: named(n) },
        { items: named(n).map(({ name }) => ({ name, $patch: 'delete' })) },
      ],
      'the order of a keyed list': (n) => [{ items: named(n) }, { '$setElementOrder/items': named(n).reverse() }],
      'the keys to retain': (n) => [
        { how: Object.fromEntries(range(n, (i) => [`k${i}`, 1])) },
        { how: { $retainKeys: range(n, (i) => `k${n - i}`) } },
      ],
    }
    for (const [title, make] of Object.entries(cases)) {
      it(`strategic merge: ${title}`, () => {
        const readsFor = (n: number) => {
          const { counted, reads } = counting()
          const [value, patch] = make(n)
          applyStrategicMerge(counted(value), counted(patch), keyed)
          return reads()
        }
        const [few, many] = [readsFor(100), readsFor(400)]
        assert.ok(many < few * 5, `4 times the items took ${many} reads instead of ${few}`)
      })
    }

    it('merge patch', () => {
      const readsFor = (n: number) => {
        const { counted, reads } = counting()
        const fields = Object.fromEntries(range(n, (i) => [`k${i}`, { a: i }]))
        applyMergePatch(counted(fields), counted(fields))
        return reads()
      }
      assert.ok(readsFor(400) < readsFor(100) * 5)
    })

    it('strategic merge refuses a patch that names one item again and again', () => {
      const message =
        'Unable to complete the patch, the number of fields and list items it merges is more than the limit 3000000'
      const fields = { items: range(3_000, (n) => ({ name: 'a', [`k${n}`]: 1 })) }
      assert.throws(() => applyStrategicMerge({ items: [{ name: 'a' }] }, fields, keyed), { code: 413, message })
      const few = { items: fields.items.slice(0, 300) }
      const { items } = applyStrategicMerge({ items: [{ name: 'a' }] }, few, keyed) as { items: object[] }
      assert.equal(Object.keys(items[0]!).length, 301)
    })
  })
})
