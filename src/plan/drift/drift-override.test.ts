import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOfJson } from '../../core/crypto/digest.ts'
import { driftOverride } from './drift-override.ts'
import type { DriftDecision } from './drift-override.ts'

const since = '2026-01-01T00:00:00Z'
const nowMs = Date.parse(since)
const decision: DriftDecision = { verb: 'accept', cluster: 'store-1', owner: 'ana', reason: 'sale', nowMs }
const rowOf = (...fields: string[]) => ({
  bundle: 'shop/web',
  drift: [{ object: 'Deployment pos/web', fields, since }],
})

test('accepting leaves the fields to other managers, until it is deleted or for a time', () => {
  const row = rowOf('.spec.replicas (changed by hpa)', '.spec.containers[name=web].image')
  const mark = digestOfJson([
    'web',
    'store-1',
    'accept',
    'Deployment pos/web .spec.containers[?(@.name=="web")].image',
    'Deployment pos/web .spec.replicas',
  ]).slice(7, 15)
  assert.deepEqual(driftOverride(row, decision), {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Override',
    metadata: { name: `accept-web-store-1-${mark}`, namespace: 'shop' },
    spec: {
      bundle: 'web',
      clusters: ['store-1'],
      owner: 'ana',
      reason: 'sale',
      drift: [
        {
          kind: 'Deployment',
          name: 'web',
          namespace: 'pos',
          action: 'Accept',
          fields: ['.spec.replicas', '.spec.containers[?(@.name=="web")].image'],
        },
      ],
    },
  })
  const ending = driftOverride(row, { ...decision, forMs: 60_000 })
  assert.equal('spec' in ending && ending.spec.expiresAt, '2026-01-01T00:01:00Z')
})

test('an acceptance of other fields does not replace the first, and one of the same fields does', () => {
  const nameOf = (...fields: string[]) => {
    const made = driftOverride(rowOf(...fields), decision)
    return 'metadata' in made ? made.metadata.name : ''
  }
  assert.notEqual(nameOf('.data.a'), nameOf('.data.b'))
  assert.equal(nameOf('.data.a (changed by x)', '.data.b'), nameOf('.data.b', '.data.a'))
})

test('reverting corrects drift for an hour, also what cannot be named', () => {
  const reverted = driftOverride(rowOf('.'), { ...decision, verb: 'revert', forMs: 1 })
  assert.ok('spec' in reverted)
  assert.deepEqual(reverted.spec.drift, [{ kind: 'Deployment', name: 'web', namespace: 'pos', action: 'Revert' }])
  assert.equal(reverted.spec.patches, undefined, 'no part of a Release (D10)')
  assert.equal(reverted.spec.expiresAt, '2026-01-01T01:00:00Z')
})

test('a field that an Override cannot name is said', () => {
  for (const field of ['.', '.data[a b]', '.data.x,y']) {
    assert.deepEqual(driftOverride(rowOf('.ok', field), decision), { unnameable: field })
  }
})
