/** Every native kind keeps the house rules of kinds; each rule is shown able to fail by a planted violation. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { BUILTIN_KINDS } from '../../src/kinds/builtin/builtin-kinds.ts'
import { defineKind } from '../../src/kinds/define-kind.ts'
import type { Kind } from '../../src/kinds/define-kind.ts'
import { docsFileName, withGeneratedPart } from '../../src/kinds/docs-page.ts'
import { parseJsonPath } from '../../src/kinds/json-path.ts'
import type { KubeObject } from '../../src/kinds/meta.ts'
import { NATIVE_KINDS } from '../../src/kinds/native/native-kinds.ts'
import { object } from '../../src/kinds/schema/schema-builders.ts'
import { defaultObject, pruneObject, validateObject } from '../../src/kinds/validation/validate-object.ts'
import type { StructuralSchema } from '../../src/kinds/schema/structural.ts'
import { structuralProblems, unboundedPaths } from '../../src/kinds/schema/structural-problems.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'
import { REPOSITORY } from './source-tree.ts'

const DOCS = join(REPOSITORY, 'docs/kinds')

function kindProblems(kind: Kind): string[] {
  return [
    ...structuralProblems(kind.schema),
    ...['spec', 'status'].flatMap((part) =>
      unboundedPaths(kind.schema.properties?.[part], part).map((path) => `${path}: has no bound`),
    ),
    ...booleanWords(kind.schema.properties?.['spec'], 'spec').map(
      (path) => `${path}: YAML 1.1 reads this word as a boolean`,
    ),
    ...undescribedFields(kind).map((path) => `${path}: has no description`),
    ...kind.columns
      .filter((column) => parseJsonPath(column.jsonPath) === undefined)
      .map((column) => `column ${column.name}: ${column.jsonPath} cannot be read`),
  ]
}

/** Choices that kubectl would send as true or false. */
function booleanWords(schema: StructuralSchema | undefined, path: string): string[] {
  if (!schema) return []
  const words = (schema.enum ?? []).filter((word) => /^(y|yes|n|no|true|false|on|off)$/i.test(String(word)))
  return [
    ...words.map((word) => `${path} ${String(word)}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => booleanWords(field, `${path}.${name}`)),
    ...booleanWords(schema.items, `${path}[]`),
  ]
}

function undescribedFields(kind: Kind): string[] {
  const spec = kind.schema.properties?.['spec']?.properties ?? {}
  return Object.entries(spec).flatMap(([field, schema]) => (schema.description ? [] : [`spec.${field}`]))
}

function namesTaken(kinds: readonly Kind[]): string[] {
  const names = kinds.flatMap((kind) => [kind.plural, ...kind.shortNames])
  return names.filter((name, index) => names.indexOf(name) !== index)
}

function readPage(kind: Kind): string {
  return readFileSync(join(DOCS, docsFileName(kind)), 'utf8')
}

function planted(spec: object): string[] {
  return kindProblems(
    defineKind({
      kind: 'Planted',
      plural: 'planteds',
      scope: 'Cluster',
      description: 'A violation.',
      spec: object({ field: Type.Unsafe<unknown>({ description: 'Wrong.', ...spec }) }),
    }),
  )
}

describe('kinds', () => {
  test('there are kinds to look at', () => {
    assert.ok(NATIVE_KINDS.length >= 9)
  })

  for (const kind of NATIVE_KINDS) {
    test(`${kind.kind} is structural, bounded and described`, () => {
      assert.deepEqual(kindProblems(kind), [])
    })

    test(`${kind.kind} has its page, and the page is up to date`, () => {
      const page = readPage(kind)
      assert.equal(withGeneratedPart(page, kind), page, `docs/kinds/${docsFileName(kind)} is stale: run npm run docs`)
      const prose = page
        .slice(0, page.indexOf('## Fields'))
        .split('\n')
        .filter((line) => line.trim() !== '')
      assert.ok(prose.length >= 3, 'the page says nothing')
    })

    test(`${kind.kind}'s page shows an example that works`, () => {
      const blocks = [...readPage(kind).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((match) => match[1]!)
      const documents = blocks.flatMap((block) => readYaml(block)).map((document) => document.value as KubeObject)
      const own = documents.filter((document) => document.kind === kind.kind)
      assert.ok(own.length > 0, 'no example')
      for (const example of own) {
        assert.deepEqual(pruneObject(kind, example), [])
        defaultObject(kind, example)
        assert.deepEqual(validateObject(kind, example), [])
      }
    })
  }

  test('no page is left of a kind that is gone', () => {
    const pages = readdirSync(DOCS).filter((file) => file.endsWith('.md') && file !== 'README.md')
    assert.deepEqual(pages.sort(), NATIVE_KINDS.map(docsFileName).sort())
  })

  test('short names and plurals are unique, also beside those of Kubernetes', () => {
    // Kubernetes itself serves events in two groups, autoscalers in two versions.
    const builtIn = BUILTIN_KINDS.filter(({ group, version }) => group !== 'events.k8s.io' && version !== 'v2')
    assert.deepEqual(namesTaken([...NATIVE_KINDS, ...builtIn]), [])
    assert.deepEqual(namesTaken([...NATIVE_KINDS, NATIVE_KINDS[0]!]), ['clusters', 'fcl'])
  })

  test('planted violations are caught', () => {
    assert.deepEqual(planted({ type: 'string', maxLength: 5 }), [])
    assert.deepEqual(planted(Type.Union([Type.Literal('a'), Type.Literal('b')])), [
      'spec.field: must have a type',
      'spec.field anyOf: type must not be used below a combination',
      'spec.field anyOf: type must not be used below a combination',
    ])
    assert.deepEqual(planted(Type.Record(Type.String(), Type.String())), [
      'spec.field: patternProperties is no keyword of a structural schema',
    ])
    assert.deepEqual(planted({ type: 'string', const: 'a', enum: ['a'] }), [
      'spec.field: const is no keyword of a structural schema',
    ])
    assert.deepEqual(planted({ $ref: '#/x' }), [
      'spec.field: $ref is no keyword of a structural schema',
      'spec.field: must have a type',
    ])
    assert.deepEqual(planted({ type: 'array', maxItems: 1, uniqueItems: true, items: { type: 'boolean' } }), [
      'spec.field: uniqueItems is no keyword of a structural schema',
    ])
    assert.deepEqual(
      planted({ type: 'object', maxProperties: 1, properties: {}, additionalProperties: { type: 'boolean' } }),
      ['spec.field: properties and additionalProperties exclude each other'],
    )
    assert.deepEqual(
      planted({
        type: 'array',
        maxItems: 1,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: { type: 'string', maxLength: 1 } } },
      }),
      ['spec.field: key name must be required or have a default'],
    )
    assert.deepEqual(planted({ type: 'string' }), ['spec.field: has no bound'])
    assert.deepEqual(planted({ type: 'string', enum: ['Off', 'Auto'] }), [
      'spec.field Off: YAML 1.1 reads this word as a boolean',
    ])
    assert.deepEqual(planted({ type: 'array', items: { type: 'string' } }), [
      'spec.field: has no bound',
      'spec.field[*]: has no bound',
    ])
    assert.deepEqual(planted({ type: 'boolean', description: '' }), ['spec.field: has no description'])
  })

  test('a stale page is caught', () => {
    const kind = NATIVE_KINDS[0]!
    const page = readPage(kind).replace('| `spec.id` | string', '| `spec.id` | integer')
    assert.notEqual(withGeneratedPart(page, kind), page)
  })
})
