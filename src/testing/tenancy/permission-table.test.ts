import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dialectKinds } from '../../hub/home/dialects.ts'
import { DIALECT_NAMES } from '../../hub/home/dialect-names.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { allowedBy, isWalkedGroup, permissionRows } from './permission-table.ts'

test('each kind of the hub and of its dialects has a row, and no row is without a kind', () => {
  const kinds = [...NATIVE_KINDS, ...DIALECT_NAMES.flatMap((name) => dialectKinds(name))]
  const names = kinds.flatMap(({ plural, group, subresources }) => [
    `${plural}.${group}`,
    ...(subresources?.status ? [`${plural}/status.${group}`] : []),
  ])
  const rows = new Set(permissionRows())
  const missing = [...new Set(names)].filter((name) => !rows.has(name))
  assert.deepEqual(
    missing,
    [],
    'say in src/testing/tenancy/permission-table.ts what view and edit may do with the kind',
  )
  assert.deepEqual(
    [...rows].filter((name) => !names.includes(name)),
    [],
    'the kind of the row is gone',
  )
  for (const { group, kind } of kinds) assert.ok(isWalkedGroup(group), kind)
})

test('a viewer writes nothing, and an editor has all that a viewer has', () => {
  const [view, edit] = [allowedBy('view'), allowedBy('edit')]
  for (const [name, letters] of Object.entries(view)) {
    assert.match(letters, /^[glw]+$/, name)
    for (const letter of letters) assert.ok(edit[name]?.includes(letter), `${name}: ${letter}`)
  }
  for (const group of ['apps', 'rbac.authorization.k8s.io', 'view.flotilla.dev']) assert.ok(!isWalkedGroup(group))
})
