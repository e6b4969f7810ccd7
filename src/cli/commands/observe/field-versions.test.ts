import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { Release } from '../../../kinds/native/release.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { versionsText } from './field-versions.ts'

const [ONE, TWO] = [digestOf('one'), digestOf('two')]
const release = (name: string, generation: number, entry: object, isRollback = false): Release =>
  build(Release, `shop/${name}`, {
    spec: {
      bundles: [{ name: 'web', generation, set: ONE, placement: 'p', ...entry }],
      ...(isRollback ? { rollBack: { of: 'web-g2', scope: 'All' as const, by: 'admin' } } : {}),
    },
  })

test('clusters are counted by Release, and a rollback by the Release it returns to', () => {
  const releases = [release('web-g1', 1, {}), release('web-g2', 2, { set: TWO }), release('web-g2-undo-1', 3, {}, true)]
  assert.equal(
    versionsText([1, 3, 3, 2, undefined, 9], releases, 'web'),
    '3 on web-g1, 1 on generation 9, 1 on web-g2, 1 reported nothing',
  )
})

test('a rollback with content per cluster is named as one', () => {
  const variants = [
    { when: { name: 'a' }, set: TWO },
    { when: {}, set: ONE },
  ]
  const releases = [release('web-g1', 1, {}), release('web-g2-undo-1', 3, { variants }, true)]
  assert.equal(versionsText([3], releases, 'web'), '1 on web-g2-undo-1 (earlier content)')
})
