import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectTree } from './object-tree.ts'
import type { ObjectRow } from './object-tree.ts'

function row(bundle: string, kind: string, name: string, state = 'Ready'): ObjectRow {
  return {
    metadata: { name: `${bundle}.${kind}.${name}`, namespace: 'default' },
    bundle,
    object: { apiVersion: 'v1', kind, name },
    state,
  }
}

test('objects by bundle and kind, the worst first', () => {
  const tree = objectTree([
    row('web', 'Service', 'web'),
    row('web', 'Deployment', 'a'),
    row('web', 'Deployment', 'b', 'Failed'),
    row('base', 'Namespace', 'shop', 'NotReported'),
  ])
  assert.deepEqual(
    tree.map(({ bundle, counts, kinds }) => [
      bundle,
      counts.map(([state, count]) => `${state} ${count}`).join(),
      kinds.map(({ kind, objects }) => `${kind}: ${objects.map(({ object }) => object.name).join()}`).join('; '),
    ]),
    [
      ['default/base', 'NotReported 1', 'Namespace: shop'],
      ['default/web', 'Failed 1,Ready 2', 'Deployment: b,a; Service: web'],
    ],
  )
})
