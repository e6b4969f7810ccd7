import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measure } from './measures.ts'
import { readSources } from './source-tree.ts'

/** Words such as "those" and "something" in 1000 words of comments; the aim of the plan. */
const MOST_INDEFINITE = 10

test('comments name what they are about: indefinite words stay below the aim', () => {
  const { indefinitePer1000 } = measure(readSources('src'), [])
  assert.ok(indefinitePer1000 <= MOST_INDEFINITE, `${indefinitePer1000.toFixed(2)} of ${MOST_INDEFINITE}`)
})

test('a comment of indefinite words is counted', () => {
  const text = '/** Something that others need for such things. */\nexport const one = 1\n'
  assert.ok(measure([{ path: 'src/core/one.ts', text, imports: [] }], []).indefinitePer1000 > 100)
})
