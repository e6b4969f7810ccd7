/** The table of conditions and reasons against the sources, both ways; each check is shown able to fail. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { conditionsPage } from '../../src/kinds/condition-page.ts'
import { CONDITIONS, REASON_GROUPS } from '../../src/kinds/condition-reference.ts'
import { NATIVE_KINDS } from '../../src/kinds/native/native-kinds.ts'
import type { StructuralSchema } from '../../src/kinds/schema/structural.ts'
import { usedConditionTypes, usedReasons } from './reason-scan.ts'
import { importsOf, readSources, REPOSITORY } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

const sources = readSources('src')
const listedReasons = new Set(REASON_GROUPS.flatMap(({ reasons }) => reasons.map(({ reason }) => reason)))
const listedTypes = new Set(CONDITIONS.map(({ type }) => type))

/** Conditions of a Cluster repeat these fields as their reason. */
const FIELDS = ['spec.refused.verdict', 'status.decommission.phase']

function fieldWords(): string[] {
  const cluster = NATIVE_KINDS.find(({ kind }) => kind === 'Cluster')!
  return FIELDS.flatMap((path) => {
    const field = path.split('.').reduce<StructuralSchema>((schema, name) => schema.properties![name]!, cluster.schema)
    return (field.enum ?? []).map(String)
  })
}

const names = (uses: readonly { readonly name: string }[]): Set<string> => new Set(uses.map(({ name }) => name))

function file(text: string, path = 'src/controllers/x/reconcile.ts'): SourceFile {
  return { path, text, imports: importsOf(text) }
}

describe('docs/reference/conditions.md', () => {
  test('lists every reason that the sources use', () => {
    assert.deepEqual(
      usedReasons(sources).filter(({ name }) => !listedReasons.has(name)),
      [],
    )
  })

  test('lists no reason that the sources do not use', () => {
    const used = new Set([...names(usedReasons(sources)), ...fieldWords()])
    assert.deepEqual(
      [...listedReasons].filter((reason) => !used.has(reason)),
      [],
    )
  })

  test('lists every condition type, and no other', () => {
    assert.deepEqual([...names(usedConditionTypes(sources))].sort(), [...listedTypes].sort())
  })

  test('is what npm run docs writes', () => {
    assert.equal(readFileSync(join(REPOSITORY, 'docs/reference/conditions.md'), 'utf8'), conditionsPage())
  })
})

describe('the scan finds', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['a condition', "draft.conditions.set('Ready', 'True', 'Planted', message)", ['Planted']],
    ['both ways of a choice', "conditions.set('Ready', 'True', isOld ? 'Old' : 'New', f(a, 'No'))", ['Old', 'New']],
    ['a wait over lines', "throw new Waiting(\n  'Planted',\n  `a, ${b(1, 2)}`,\n  10,\n)", ['Planted']],
    ['a stall', "throw new Stalled('Planted', 'x')", ['Planted']],
    ['an error of a source', "new SourceError('Planted', 'x')", ['Planted']],
    ['a hold', "return holdOf('Planted', 'x', 'y')", ['Planted']],
    ['a refusal', "return refuse('Planted', 'x')", ['Planted']],
    ['a member', "return { kind: 'Held', reason: 'Planted', message: 'No' }", ['Planted']],
    ['no comment', "// new Stalled('Planted')", []],
  ]
  for (const [name, text, reasons] of cases) {
    test(name, () => {
      assert.deepEqual([...names(usedReasons([file(text)]))], reasons)
    })
  }

  test('condition types, also of failures', () => {
    const text = "conditions.set('Planted', 'True', 'A', 'b')\nconst options = { failureCondition: 'Other' }"
    assert.deepEqual([...names(usedConditionTypes([file(text)]))], ['Planted', 'Other'])
  })

  test('nothing in tests and in the API server', () => {
    const text = "throw new Stalled('Planted', 'x')"
    assert.deepEqual(usedReasons([file(text, 'src/hub/x.test.ts'), file(text, 'src/apiserver/x.ts')]), [])
  })
})
