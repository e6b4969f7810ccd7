import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionsPage } from './condition-page.ts'
import { CONDITIONS, REASON_GROUPS } from './condition-reference.ts'

test('no condition type, and no reason of a group, is listed twice', () => {
  const types = CONDITIONS.map(({ type }) => type)
  assert.equal(new Set(types).size, types.length)
  for (const { title, reasons } of REASON_GROUPS) {
    const names = reasons.map(({ reason }) => reason)
    assert.equal(new Set(names).size, names.length, title)
  }
})

test('meanings and actions are sentences', () => {
  const sentences = [
    ...CONDITIONS.map(({ meaning }) => meaning),
    ...REASON_GROUPS.flatMap(({ about, reasons }) => [
      about,
      ...reasons.flatMap(({ meaning, todo }) => (todo === '' ? [meaning] : [meaning, todo])),
    ]),
  ]
  for (const sentence of sentences) assert.match(sentence, /^[A-Z`].*\.$/s)
})

test('the page has a row for every reason', () => {
  const page = conditionsPage()
  for (const { reasons } of REASON_GROUPS)
    for (const { reason } of reasons) assert.ok(page.includes(`| \`${reason}\` |`))
})
