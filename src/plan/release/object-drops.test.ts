import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { judgeContent, lostObjects } from './object-drops.ts'
import type { ContentChange, ContentObject } from './object-drops.ts'

const object = (kind: string, name: string): ContentObject =>
  kind === 'Namespace' ? { apiVersion: 'v1', kind, name } : { apiVersion: 'v1', kind, namespace: 'shop', name }
const maps = (count: number) => Array.from({ length: count }, (_, i) => object('ConfigMap', `c${i}`))
const change = (before: readonly ContentObject[], after: readonly ContentObject[], options?: BundleOptions) =>
  ({ cluster: 's1', before, after, options }) satisfies ContentChange

test('objects that a cluster loses', () => {
  const [shop, web, api] = [object('Namespace', 'shop'), object('Service', 'web'), object('Service', 'api')]
  const job = { ...object('ConfigMap', 'migrate'), hook: { on: ['PreApply'] } }
  const settings = (hash: string) => object('ConfigMap', `settings-${hash}`)
  const table: readonly (readonly [string, ContentChange, readonly string[], boolean])[] = [
    ['one of two', change([web, api], [web]), ['Service shop/api'], false],
    ['all, replaced by others', change([web], [api]), ['Service shop/web'], true],
    ['all but a namespace, which is kept anyway', change([shop, web], [shop]), ['Service shop/web'], true],
    ['a namespace, which the agent keeps', change([shop, web], [web]), [], false],
    [
      'a namespace that the author named',
      change([shop, web], [web], { delete: { named: [{ kind: 'Namespace' }] } }),
      ['Namespace shop'],
      false,
    ],
    ['an orphaned object', change([web, api], [web], { delete: { orphan: [{ name: 'api' }] } }), [], false],
    ['content without pruning', change([web, api], [web], { prune: { mode: 'Never' } }), [], false],
    ['objects that stay where they are', change([web], [api], { delete: { removed: 'Orphan' } }), [], false],
    ['a generated object with new content', change([settings('6ct58987ht')], [settings('g4hk9g2ff8')]), [], false],
    [
      'a generated object that is left out',
      change([settings('6ct58987ht'), web], [web]),
      ['ConfigMap shop/settings-6ct58987ht'],
      false,
    ],
    ['a hook', change([job, web], [web]), [], false],
    ['a new version of the API', change([{ ...web, apiVersion: 'x/v1' }], [{ ...web, apiVersion: 'x/v2' }]), [], false],
  ]
  for (const [what, one, dropped, isAll] of table) {
    const lost = lostObjects(one)
    assert.deepEqual([lost.dropped, lost.isAll], [dropped, isAll], what)
  }
})

test('a tenth may go, at least one, never all; one token releases the whole change', () => {
  const judge = (changes: readonly ContentChange[], guard: Partial<Parameters<typeof judgeContent>[1]> = {}) =>
    judgeContent(changes, { generation: 3, ...guard })
  assert.equal(judge([change(maps(5), maps(4))]).kind, 'Free')
  assert.equal(judge([change(maps(30), maps(27))]).kind, 'Free')
  assert.equal(judge([change(maps(30), maps(26))]).kind, 'Held')
  assert.equal(judge([change(maps(1), [object('Service', 'web')])], { limit: 5 }).kind, 'Held')
  assert.equal(judge([change(maps(1), [object('Service', 'web')])], { limit: '100%' }).kind, 'Free')
  const both = [change(maps(5), maps(2)), { ...change(maps(9), maps(1)), cluster: 's2' }]
  const held = judge(both)
  assert.ok(held.kind === 'Held')
  assert.equal(
    held.message,
    'The change would drop 3 of 5 objects; at most 1 can be dropped at once. On s1: ConfigMap shop/c2, ConfigMap shop/c3, ConfigMap shop/c4.',
  )
  assert.match(held.token, /^g3-drop8-[0-9a-f]{8}$/)
  assert.equal(judge(both, { release: held.token }).kind, 'Released')
  assert.equal(judge(both, { release: held.token, generation: 4 }).kind, 'Held')
  assert.equal(judge(both, { release: held.token, released: held.token }).kind, 'Held', 'a token counts once')
  const one = [change(maps(12), maps(11))]
  const asked = judge(one, { limit: 0 })
  assert.ok(asked.kind === 'Held')
  assert.equal(judge(one, { held: asked.token }).kind, 'Held', 'what was asked stays asked')
})

test('property: no content passes unasked that leaves nothing of what a cluster has', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 }), (had, kept) => {
      const stays = Math.min(had, kept)
      const { kind } = judgeContent([change(maps(had), [...maps(stays), object('Service', 'new')])], { generation: 1 })
      const dropped = had - stays
      const asks = dropped > 0 && (stays === 0 || dropped > Math.max(1, Math.floor(had / 10)))
      assert.equal(kind, asks ? 'Held' : 'Free')
    }),
  )
})
