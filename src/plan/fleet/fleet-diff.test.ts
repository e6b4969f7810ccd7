import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { UnknownObject } from '../../kinds/meta.ts'
import { diffBundle } from './fleet-diff.ts'
import type { DiffContent, DriftedObject } from './fleet-diff.ts'
import { formatFieldChange, objectChanges } from '../objects/object-changes.ts'

const object = (kind: string, name: string, more: object = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'shop' },
  ...more,
})
const map = (name: string, value: string) => object('ConfigMap', name, { data: { v: value } })
const gets = (clusters: string[], ...objects: UnknownObject[]): DiffContent => ({
  clusters,
  content: { kind: 'Objects', objects },
})
const fails = (clusters: string[], problem: string): DiffContent => ({
  clusters,
  content: { kind: 'Problem', problem },
})
const told = (before: DiffContent[], after: DiffContent[], drift = new Map<string, DriftedObject[]>()) =>
  diffBundle({ before, after, drift }).map(
    ({ effect, clusters, objects, reverts, isOld, reason }) =>
      `${effect}${isOld ? ' as before' : ''} on ${clusters.join(',')}: ${objects.map((one) => `${one.change} ${one.object}`).join(', ')}${reverts ? ` reverts ${reverts.map((one) => one.object).join()}` : ''}${reason ? ` (${reason})` : ''}`,
  )

test('clusters with the same effect are one group, whatever variants they came from', () => {
  const before = [gets(['a', 'b'], map('x', '1'), map('r', 'eu')), gets(['c', 'd'], map('x', '1'), map('r', 'us'))]
  const after = [gets(['a', 'b'], map('x', '2'), map('r', 'eu')), gets(['c', 'd'], map('x', '2'), map('r', 'us'))]
  assert.deepEqual(told(before, after), ['changed on a,b,c,d: changed ConfigMap shop/x'])
  assert.deepEqual(told(before, before), ['same on a,b,c,d: '])
})

test('how a bundle is applied is a change too, also where no object changes', () => {
  const of = (clusters: string[], options: object, value = '1'): DiffContent => ({
    clusters,
    content: { kind: 'Objects', objects: [map('x', value)], options },
  })
  const before = [of(['a', 'b', 'c'], { drift: { mode: 'Report' } })]
  const after = [
    of(['a'], { drift: { mode: 'Report' } }),
    of(['b'], { drift: { mode: 'Correct' } }),
    of(['c'], {}, '2'),
  ]
  const groups = diffBundle({ before, after, drift: new Map() })
  assert.deepEqual(
    groups.map(({ effect, clusters, options }) => [effect, ...clusters, formatFieldChange(options ?? [])]),
    [
      ['changed', 'b', ['drift.mode Report→Correct']],
      ['changed', 'c', ['-drift.mode']],
      ['same', 'a', []],
    ],
  )
})

test('gained, lost, left out, broken, mended', () => {
  const before = [gets(['a', 'b', 'c'], map('x', '1')), fails(['d', 'e'], 'no vat')]
  const after = [
    gets(['b', 'new', 'd'], map('x', '1'), map('y', '1')),
    { clusters: ['c'], content: { kind: 'Skip', by: 'variant none' } },
    fails(['e'], 'no vat'),
    fails(['f'], 'no tax'),
  ] satisfies DiffContent[]
  assert.deepEqual(told(before, after), [
    'changed on b: added ConfigMap shop/y',
    'gained on new: added ConfigMap shop/x, added ConfigMap shop/y',
    'mended on d: added ConfigMap shop/x, added ConfigMap shop/y (no vat)',
    'skipped on c: removed ConfigMap shop/x (variant none)',
    'lost on a: removed ConfigMap shop/x',
    'cannot-render as before on e:  (no vat)',
    'cannot-render on f:  (no tax)',
  ])
})

test('drift is reverted where something changes, and only there', () => {
  const drift = (since: string) => [{ object: 'ConfigMap shop/printer', fields: ['.data.width'], since }]
  const drifts = new Map([
    ['b', drift('2026-01-01T00:00:00Z')],
    ['c', drift('2026-02-01T00:00:00Z')],
  ])
  const before = [gets(['a', 'b', 'c'], map('x', '1'))]
  assert.deepEqual(told(before, [gets(['a', 'b', 'c'], map('x', '2'))], drifts), [
    'changed on a: changed ConfigMap shop/x',
    'changed on b,c: changed ConfigMap shop/x reverts ConfigMap shop/printer',
  ])
  assert.deepEqual(told(before, before, drifts), ['same on a,b,c: '])
})

test('every cluster is in exactly one group', () => {
  const value = fc.constantFrom('1', '2', '3', 'fails', 'none')
  const fleet = fc.dictionary(fc.constantFrom(...'abcdefghij'), fc.tuple(value, value), { maxKeys: 10 })
  const side = (of: Record<string, [string, string]>, at: 0 | 1) =>
    ['1', '2', '3', 'fails'].flatMap((one) => {
      const clusters = Object.keys(of).filter((name) => of[name]![at] === one)
      if (clusters.length === 0) return []
      return [one === 'fails' ? fails(clusters, 'x') : gets(clusters, map('x', one))]
    })
  fc.assert(
    fc.property(fleet, (of) => {
      const groups = diffBundle({ before: side(of, 0), after: side(of, 1), drift: new Map() })
      const seen = groups.flatMap(({ clusters }) => clusters)
      const expected = Object.keys(of).filter((name) => of[name]!.some((one) => one !== 'none'))
      assert.deepEqual(seen.toSorted(), expected.sort())
      for (const { effect, clusters } of groups) {
        for (const name of clusters) {
          const [was, is] = of[name]!
          assert.equal(effect === 'same', was === is && is !== 'fails', `${name}: ${was} → ${is} is ${effect}`)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('the work follows contents, not clusters', () => {
  let looks = 0
  const clusters = (from: number) => Array.from({ length: 1000 }, (_, n) => `c${n}`).filter((_, n) => n % 3 === from)
  const side = (version: string): DiffContent[] =>
    [0, 1, 2].map((n) => ({
      clusters: clusters(n),
      content: {
        kind: 'Objects',
        get objects() {
          looks += 1
          return [map('x', `${version} ${n}`)]
        },
      },
    }))
  const groups = diffBundle({ before: side('1'), after: side('2'), drift: new Map() })
  assert.deepEqual(
    groups.map((group) => group.clusters.length),
    [334, 333, 333],
  )
  assert.ok(looks <= 2 * 3, `contents were looked at ${looks} times`)
})

test('fields are told by name, in words', () => {
  const pod = (image: string, env: object[], more: object = {}) =>
    object('Deployment', 'web', {
      spec: {
        replicas: 2,
        template: {
          spec: {
            containers: [
              { name: 'web', image, env, ...more },
              { name: 'log', image: 'log:1' },
            ],
          },
        },
      },
    })
  const before = pod('r.example/web:2.13.4', [
    { name: 'OLD', value: 'x' },
    { name: 'MODE', value: 'a' },
  ])
  const after = pod('r.example/web:2.14.0', [
    { name: 'FEATURE_X', value: '1' },
    { name: 'MODE', value: 'b' },
  ])
  assert.deepEqual(formatFieldChange(objectChanges(before, after)), [
    'image 2.13.4→2.14.0',
    'env -OLD',
    'env MODE a→b',
    'env +FEATURE_X',
  ])
  const from = (a: object, b: object) => formatFieldChange(objectChanges(object('X', 'x', a), object('X', 'x', b)))
  assert.deepEqual(from({ spec: { replicas: 2 } }, { spec: { replicas: 3 } }), ['replicas 2→3'])
  assert.deepEqual(from({}, { data: { a: '1', b: '2' } }), ['+data.a=1', '+data.b=2'])
  assert.deepEqual(from({ data: { 'app.conf': 'a\nb' } }, { data: { 'app.conf': 'a\nb\nc' } }), [
    'data["app.conf"] 2 lines→3 lines',
  ])
  assert.deepEqual(from({ spec: { list: [1, 2] } }, { spec: { list: [1] } }), ['list 2 items→1 item'])
  const order = [{ name: 'a' }, { name: 'b' }]
  assert.deepEqual(from({ spec: { list: order } }, { spec: { list: order.toReversed() } }), ['list (order)'])
})

test('values of Secrets and of what is called one are never told', () => {
  const secret = (password: string) => object('Secret', 's', { data: { password: btoa(password) }, type: 'Opaque' })
  const changes = objectChanges(secret('hunter2'), secret('hunter3'))
  assert.deepEqual(changes, [{ field: '.data.password', before: '', after: '', hidden: true }])
  assert.deepEqual(formatFieldChange(changes), ['data.password changed'])
  const wholly = objectChanges(object('Secret', 's'), object('Secret', 's', { stringData: { pin: '1234' } }))
  assert.doesNotMatch(JSON.stringify(wholly), /1234/)
  const env = (value: string) =>
    object('Pod', 'p', { spec: { containers: [{ name: 'c', env: [{ name: 'DB_PASSWORD', value }] }] } })
  assert.doesNotMatch(JSON.stringify(objectChanges(env('hunter2'), env('hunter3'))), /hunter/)
})
