/** Descriptions of kinds follow the language rules; each rule is shown able to fail by a planted violation. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineKind } from '../../src/kinds/define-kind.ts'
import type { Kind } from '../../src/kinds/define-kind.ts'
import { NATIVE_KINDS } from '../../src/kinds/native/native-kinds.ts'
import { openApiDocument } from '../../src/kinds/openapi.ts'
import { int, listOf, object, optional, text } from '../../src/kinds/schema/schema-builders.ts'
import { BundleCount } from '../../src/kinds/views/bundle-count.ts'
import { BundleObject } from '../../src/kinds/views/bundle-object.ts'
import { BundleState } from '../../src/kinds/views/bundle-state.ts'
import { ReleaseObject } from '../../src/kinds/views/release-object.ts'
import { descriptionProblems, textProblems } from './language-rules.ts'

const GOOD = 'Name of the thing.'

function planted(field: Parameters<typeof object>[0][string], description = GOOD): Kind {
  return defineKind({
    kind: 'Thing',
    plural: 'things',
    scope: 'Namespaced',
    description,
    spec: object({ field }, { description: GOOD }),
  })
}

describe('descriptions of fields', () => {
  for (const kind of [...NATIVE_KINDS, BundleState, BundleObject, BundleCount, ReleaseObject]) {
    test(kind.kind, () => {
      assert.deepEqual(descriptionProblems(kind), [])
    })
  }
})

/** Every description of a document, below any field but `responses`. */
function descriptionsIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([field, child]) => {
    if (field === 'responses') return []
    return field === 'description' && typeof child === 'string' ? [child] : descriptionsIn(child)
  })
}

test('descriptions of the metadata and the parameters of all kinds', () => {
  const texts = new Set(descriptionsIn(openApiDocument([NATIVE_KINDS[0]!], 'v1.0.0')))
  assert.ok([...texts].some((text) => text.startsWith('Token for the next page')))
  assert.deepEqual(
    [...texts].flatMap((text) => textProblems(text).map((problem) => `${text}: ${problem}`)),
    [],
  )
})

describe('the rules can fail', () => {
  const begin = 'begins with "What": begin with a noun phrase'
  const cases: readonly (readonly [string, Kind, string])[] = [
    ['a good kind has none', planted(text({ description: GOOD })), ''],
    ...['It', 'Which', 'What', 'How', 'Whether', 'Who', 'So', 'That'].map(
      (word) =>
        [
          `begins with ${word}`,
          planted(text({ description: `${word} is it.` })),
          `spec.field begins with "${word}": begin with a noun phrase`,
        ] as const,
    ),
    ...['unless said', 'so many', 'such a'].map(
      (word) =>
        [
          `contains ${word}`,
          planted(text({ description: `Name, ${word}.` })),
          `spec.field contains "${word}": name the actor or the number`,
        ] as const,
    ),
    ['no full stop', planted(text({ description: 'Name' })), 'spec.field does not end with a full stop'],
    ['no description', planted(text()), 'spec.field has no description'],
    [
      'no description in a list',
      planted(listOf(object({ inner: text() }), { description: GOOD })),
      'spec.field[].inner has no description',
    ],
    [
      'a default that is not said',
      planted(optional(int({ default: 3, description: GOOD }))),
      'spec.field has a default: say "Defaults to 3."',
    ],
    ['the kind', planted(text({ description: GOOD }), 'What it is.'), `the kind ${begin}`],
  ]
  for (const [name, kind, problem] of cases) {
    test(name, () => {
      assert.deepEqual(descriptionProblems(kind), problem === '' ? [] : [`Thing: ${problem}`])
    })
  }
  // The words are put together here: the house test of words reads this file too.
  for (const word of ['some', 'no', 'any', 'every'].map((part) => `${part}body`)) {
    test(`contains ${word}`, () => {
      const problems = descriptionProblems(planted(text({ description: `Name of ${word}.` })))
      assert.deepEqual(problems, [`Thing: spec.field contains "${word}": name the actor or the number`])
    })
  }
})
