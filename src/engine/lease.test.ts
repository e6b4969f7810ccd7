import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Lease } from '../kinds/builtin/coordination.ts'
import { leaseFor, decideLeaseAction, observeLease } from './lease.ts'
import type { LeaseAction } from './lease.ts'

function lease(holderIdentity: string | undefined, resourceVersion = '1'): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'ns', name: 'hub', resourceVersion },
    spec: {
      leaseDurationSeconds: 15,
      leaseTransitions: 4,
      acquireTime: 'then',
      ...(holderIdentity === undefined ? {} : { holderIdentity }),
    },
  }
}

describe('moves', () => {
  const cases: readonly (readonly [string, Lease | undefined, number, LeaseAction])[] = [
    ['no Lease', undefined, 0, { kind: 'Create' }],
    ['ours', lease('me'), 0, { kind: 'Renew' }],
    ['ours, long expired', lease('me'), 100_000, { kind: 'Renew' }],
    ['released', lease(''), 0, { kind: 'Take' }],
    ['never held', lease(undefined), 0, { kind: 'Take' }],
    ["another's, fresh", lease('other'), 0, { kind: 'Wait', holder: 'other', forMs: 15_000 }],
    ["another's, almost expired", lease('other'), 14_999, { kind: 'Wait', holder: 'other', forMs: 1 }],
    ["another's, expired", lease('other'), 15_000, { kind: 'Take' }],
  ]
  for (const [what, seen, age, expected] of cases) {
    it(what, () => {
      const observation = seen && observeLease(undefined, seen, 1_000)
      assert.deepEqual(decideLeaseAction(seen, observation, { identity: 'me', nowMs: 1_000 + age }), expected)
    })
  }

  it('a renewal seen late counts from when it was seen', () => {
    const first = observeLease(undefined, lease('other', '1'), 0)
    assert.equal(observeLease(first, lease('other', '1'), 9_000).atMs, 0)
    assert.equal(observeLease(first, lease('other', '2'), 9_000).atMs, 9_000)
  })
})

describe('writes', () => {
  const by = { identity: 'me', durationMs: 15_000, wallMs: 1_767_225_600_000 }
  it('taking counts a transition, renewing keeps the time it was taken', () => {
    const now = '2026-01-01T00:00:00.000000Z'
    assert.partialDeepStrictEqual(leaseFor('Take', lease('other'), by).spec, {
      holderIdentity: 'me',
      leaseTransitions: 5,
      acquireTime: now,
      renewTime: now,
    })
    assert.partialDeepStrictEqual(leaseFor('Renew', lease('me'), by).spec, {
      leaseTransitions: 4,
      acquireTime: 'then',
      renewTime: now,
    })
    assert.partialDeepStrictEqual(leaseFor('Release', lease('me'), by).spec, {
      holderIdentity: '',
      leaseDurationSeconds: 1,
    })
  })
})
