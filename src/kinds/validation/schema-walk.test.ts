import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson, jsonClone } from '../../core/json.ts'
import { Specimen } from '../../testing/kinds-contract/specimen-cases.ts'
import { Deployment } from '../builtin/apps.ts'
import { BUILTIN_KINDS } from '../builtin/builtin-kinds.ts'
import { builtinKind } from '../builtin/kind-table.ts'
import { apiVersionOf } from '../meta.ts'
import type { KubeObject } from '../meta.ts'
import { NATIVE_KINDS } from '../native/native-kinds.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { defaultObject, pruneObject, validateObject } from './validate-object.ts'
import { applyDefaults } from '../schema/apply-defaults.ts'
import { structurallyEqual } from '../schema/structural-equality.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import { goFloat, goValue } from './go-text.ts'
import { itemKey, listMergeStrategy, schemaAt } from '../schema/merge-keys.ts'
import { pruneUnknown } from '../schema/prune.ts'

const KINDS = [...NATIVE_KINDS, ...BUILTIN_KINDS, Specimen]

function fieldNames(schema: StructuralSchema | undefined, names = new Set<string>()): Set<string> {
  for (const [field, child] of Object.entries(schema?.properties ?? {})) {
    names.add(field)
    fieldNames(child, names)
  }
  if (schema?.items) fieldNames(schema.items, names)
  return names
}

/** Nonsense that uses a kind's words, so that it gets past the first field. */
function nonsense(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const names = [...fieldNames(schema), '__proto__', 'constructor', 'odd']
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, 0, -1, 1.5, '', 'a', '25%', 'sha256:x'),
      fc.string({ maxLength: 4 }),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(fc.constantFrom(...names), tie('value')), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
  })).object
}

for (const kind of KINDS) {
  test(`${kind.kind}: pruning and defaulting settle, and validation survives nonsense`, () => {
    fc.assert(
      fc.property(nonsense(kind.schema), nonsense(kind.schema), (body, oldBody) => {
        const identity = { apiVersion: apiVersionOf(kind), kind: kind.kind }
        const metadata = { name: 'x', ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) }
        const object: KubeObject = { metadata, ...(jsonClone(body) as object), ...identity }
        const old: KubeObject = { ...(jsonClone(oldBody) as object), metadata, ...identity }
        pruneObject(kind, object)
        defaultObject(kind, object)
        const settled = canonicalJson(object)
        assert.deepEqual(pruneObject(kind, object), [], 'nothing is left to drop, not even in a default')
        defaultObject(kind, object)
        assert.equal(canonicalJson(object), settled)
        validateObject(kind, object)
        validateObject(kind, object, { old })
        validateObject(kind, object, { old, subresource: 'status' })
        assert.equal(canonicalJson(object), settled, 'validation changes nothing')
      }),
      { numRuns: 60 },
    )
  })
}

// Go's ObjectMeta is a struct: null and absent are both the empty one, and other things are for validation to refuse.
const ODD_METADATA: readonly (readonly [metadata: unknown, expected: unknown])[] = [
  [undefined, { labels: { app: 'web' } }],
  [null, { labels: { app: 'web' } }],
  [{}, { labels: { app: 'web' } }],
  [{ labels: null }, { labels: { app: 'web' } }],
  [{ labels: { own: 'yes' } }, { labels: { own: 'yes' } }],
  ['a', 'a'],
  [0, 0],
  [[], []],
]

for (const kind of [builtinKind('batch/v1', 'Job'), builtinKind('v1', 'ReplicationController')]) {
  for (const [metadata, expected] of ODD_METADATA) {
    test(`${kind.kind}: metadata ${JSON.stringify(metadata)} beside a template with labels`, () => {
      const template = { metadata: { labels: { app: 'web' } } }
      const body: unknown = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec: { template } }
      const object = body as KubeObject
      pruneObject(kind, object)
      defaultObject(kind, object)
      assert.deepEqual(object.metadata, expected)
      assert.notDeepEqual(validateObject(kind, object), [])
    })
  }
}

test('a key such as __proto__ is only a key', () => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: JSON.parse('{"__proto__":{"type":"string","default":"x"}}') as Record<string, StructuralSchema>,
  }
  const object: Record<string, unknown> = {}
  applyDefaults(object, schema)
  assert.equal(JSON.stringify(object), '{"__proto__":"x"}')
  assert.equal(Object.getPrototypeOf(object), Object.prototype)
  const map = JSON.parse('{"__proto__":{"a":1},"toString":2}') as Record<string, unknown>
  assert.deepEqual(pruneUnknown(map, { type: 'object', properties: {} }), ['__proto__', 'toString'])
  assert.equal(JSON.stringify(map), '{}')
})

test('defaults are copies', () => {
  const schema: StructuralSchema = { type: 'object', properties: { list: { type: 'array', default: [] } } }
  const [one, two] = [{}, {}] as { list: unknown[] }[]
  applyDefaults(one, schema)
  applyDefaults(two, schema)
  one!.list.push(1)
  assert.deepEqual(two!.list, [])
})

test('merge keys of lists at a path', () => {
  const at = (...path: (string | number)[]) => schemaAt(Deployment.schema, path)
  const containers = ['spec', 'template', 'spec', 'containers']
  assert.deepEqual(listMergeStrategy(at(...containers)), { type: 'map', keys: ['name'] })
  assert.deepEqual(listMergeStrategy(at(...containers, 0, 'ports')), {
    type: 'map',
    keys: ['containerPort', 'protocol'],
  })
  assert.deepEqual(listMergeStrategy(at(...containers, 0, 'args')), { type: 'atomic' })
  assert.deepEqual(listMergeStrategy(at('metadata', 'nowhere')), { type: 'atomic' })
  assert.equal(at('spec', 'template', 'metadata', 'labels', 'app')?.type, 'string')
  const ports = at(...containers, 0, 'ports')
  assert.deepEqual(itemKey({ containerPort: 80 }, ['containerPort', 'protocol'], ports), {
    containerPort: 80,
    protocol: 'TCP',
  })
})

test('equality minds the order only of atomic lists', () => {
  const keyed: StructuralSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object' },
  }
  const [a, b] = [
    { k: 1, v: [1, 2] },
    { k: 2, v: [] },
  ]
  assert.equal(structurallyEqual(keyed, [a, b], [b, a]), true)
  assert.equal(structurallyEqual(keyed, [a, b], [b, { k: 1, v: [2, 1] }]), false)
  assert.equal(structurallyEqual({ type: 'array', 'x-kubernetes-list-type': 'set' }, [1, 2], [2, 1]), true)
  assert.equal(structurallyEqual({ type: 'array' }, [1, 2], [2, 1]), false)
  assert.equal(structurallyEqual(undefined, { a: 1 }, { a: 1, b: undefined }), false)
})

test('values as Go prints them', () => {
  assert.equal(goQuote('a"\\\n\u0000\u00a0ä\u{1F600}\u{E0001}'), '"a\\"\\\\\\n\\x00\\u00a0ä\u{1F600}\\U000e0001"')
  assert.deepEqual([0.5, 1e6, 1234567.5, 1.5e-7, 100000].map(goFloat), [
    '0.5',
    '1e+06',
    '1.2345675e+06',
    '1.5e-07',
    '100000',
  ])
  assert.equal(goValue({ b: '<', a: [1, null] }), '{"a":[1,null],"b":"\\u003c"}')
})
