import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FieldSet, fromFieldsV1, keyElement, pathText, toFieldsV1, valueElement } from './field-set.ts'
import type { FieldPath, PathElement } from './field-set.ts'

const element = fc.oneof(
  fc.constantFrom<PathElement>('f:a', 'f:b', 'f:spec'),
  fc.constantFrom('x', 'y').map((name) => keyElement({ name })),
  fc.constantFrom<string | number>('x', 1).map((value) => valueElement(value)),
)
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
const setOf = (list: readonly FieldPath[]) => FieldSet.of(...list)
const texts = (set: FieldSet) => [...set.paths()].map((path) => path.join(' '))

describe('field sets', () => {
  it('are what a set of paths is', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const keys = (list: readonly FieldPath[]) => new Set(list.map((path) => path.join(' ')))
        const expected = {
          union: keys(a).union(keys(b)),
          intersection: keys(a).intersection(keys(b)),
          difference: keys(a).difference(keys(b)),
        }
        assert.deepEqual(new Set(texts(setOf(a).union(setOf(b)))), expected.union)
        assert.deepEqual(new Set(texts(setOf(a).intersection(setOf(b)))), expected.intersection)
        assert.deepEqual(new Set(texts(setOf(a).difference(setOf(b)))), expected.difference)
        assert.equal(setOf(a).difference(setOf(a)).isEmpty(), true)
      }),
    )
  })

  it('a recursive difference also takes what is below', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const isBelow = (path: FieldPath) => b.some((taken) => taken.every((step, index) => path[index] === step))
        const expected = new Set(a.filter((path) => !isBelow(path)).map((path) => path.join(' ')))
        assert.deepEqual(new Set(texts(setOf(a).recursiveDifference(setOf(b)))), expected)
      }),
    )
  })

  it('come back from their written form', () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(list)
        const read = fromFieldsV1(JSON.parse(JSON.stringify(toFieldsV1(set))))
        assert.deepEqual(read && texts(read), texts(set))
      }),
    )
  })

  it('are written as Kubernetes writes them', () => {
    const set = setOf([
      ['f:metadata', 'f:labels'],
      ['f:metadata', 'f:labels', 'f:app'],
      ['f:spec', 'f:ports', keyElement({ protocol: 'TCP', port: 80 })],
      ['f:spec', 'f:ports', keyElement({ port: 80, protocol: 'TCP' }), 'f:name'],
      ['f:spec', 'f:words', valueElement('<a>')],
    ])
    assert.equal(
      JSON.stringify(toFieldsV1(set)),
      JSON.stringify({
        'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
        'f:spec': {
          'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} } },
          'f:words': { 'v:"\\u003ca\\u003e"': {} },
        },
      }),
    )
  })

  it('show paths as conflicts do', () => {
    assert.equal(
      pathText(['f:spec', keyElement({ port: 80, protocol: 'TCP' }), 'f:name']),
      '.spec[port=80,protocol="TCP"].name',
    )
    assert.equal(pathText(['f:spec', 'f:words', valueElement('x')]), '.spec.words[="x"]')
  })

  it('refuse what is not FieldsV1', () => {
    for (const bad of [null, [], { x: {} }, { 'f:a': 1 }, { 'k:nope': {} }, { 'v:': {} }, { 'i:x': {} }]) {
      assert.equal(fromFieldsV1(bad), undefined, JSON.stringify(bad))
    }
  })
})
