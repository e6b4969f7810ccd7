import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excludeObjects } from './exclude-objects.ts'

const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'shop' } })
const rendered = (...objects: ReturnType<typeof object>[]) => ({
  when: {},
  clusters: ['c1'],
  result: { ok: true as const, objects },
})
const variants = [rendered(object('ConfigMap', 'a'), object('Secret', 's')), rendered(object('ConfigMap', 'b'))]

test('selected objects are left out of all variants, and named', () => {
  const { variants: kept, excluded } = excludeObjects(variants, { exclude: [{ group: '', kind: 'ConfigMap' }] })
  assert.deepEqual(
    kept.map(({ result }) => (result.ok === true ? result.objects.map(({ kind }) => kind) : result.ok)),
    [['Secret'], []],
  )
  assert.deepEqual(excluded, ['ConfigMap shop/a', 'ConfigMap shop/b'])
})

test('without selectors nothing changes', () => {
  assert.equal(excludeObjects(variants, {}).variants, variants)
})

test('content that agents render cannot be excluded', () => {
  const prepared = { when: {}, clusters: ['c1'], result: { ok: 'prepared' } } as unknown as (typeof variants)[number]
  const [found] = excludeObjects([prepared], { exclude: [{ kind: 'Pod' }] }).variants
  assert.match(JSON.stringify(found?.result), /cannot be combined with a rendering in the cluster/)
  const failed = { ...rendered(), result: { ok: false as const, problems: [{ message: 'x' }] } }
  assert.deepEqual(excludeObjects([failed], { exclude: [{ kind: 'Pod' }] }).variants, [failed])
})
