import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { planDecommission } from './decommission.ts'
import type { DecommissionFacts } from './decommission.ts'

const one = (bundle: string) => ({ bundle, generation: 2 })
const facts = (over: Partial<DecommissionFacts> = {}): DecommissionFacts => ({
  asked: { policy: 'Remove', forceUnreachable: false },
  isRevoked: false,
  nowMs: 1_000_000,
  isOffline: false,
  document: { revision: 5, isTerminal: false, entries: [one('ns/a')], tombstones: [one('ns/b')] },
  readRevision: 5,
  removals: [],
  ...over,
})
const empty = { revision: 6, isTerminal: false, entries: [], tombstones: [] }
const last = { ...empty, revision: 7, isTerminal: true }
const cleared = { phase: 'Cleared' as const, left: [] }
const revoked = { phase: 'Revoked' as const, left: [] }
const REMOVE = { policy: 'Remove' as const, forceUnreachable: false }

const CASES: readonly (readonly [string, DecommissionFacts, string])[] = [
  ['not asked', facts({ asked: undefined }), 'Nothing'],
  ['it has bundles', facts(), 'Leaving Waits for 2 bundles to be removed: ns/a, ns/b.'],
  [
    'it has bundles and is offline',
    facts({ isOffline: true, asked: { policy: 'Orphan', forceUnreachable: false } }),
    'Leaving Waits for 2 bundles to be orphaned: ns/a, ns/b. The cluster is offline: it follows when it returns, or pass --force-unreachable.',
  ],
  ['a forced one that is there waits', facts({ asked: { policy: 'Remove', forceUnreachable: true } }), 'Leaving'],
  ['all receipts are there', facts({ document: empty }), 'Cleared All objects were removed or orphaned as requested.'],
  ['it never had a document', facts({ document: undefined as never }), 'Cleared'],
  [
    'written down, not told',
    facts({ document: empty, recorded: cleared }),
    'Cleared All objects were removed or orphaned as requested; the agent is being told to stop',
  ],
  ['told, not read', facts({ document: last, recorded: cleared, readRevision: 6 }), 'Cleared All objects were removed'],
  ['told and read', facts({ document: last, recorded: cleared, readRevision: 7 }), 'Revoke'],
  ['told while it is away', facts({ document: last, recorded: cleared, readRevision: 2, isOffline: true }), 'Revoke'],
  [
    'revoked',
    facts({ isRevoked: true, recorded: { phase: 'Cleared', left: ['ns/a: ConfigMap x: kept'] } }),
    'Revoked Decommissioned. Objects that stay in the cluster: ns/a: ConfigMap x: kept. The name can be used again after the Cluster is deleted.',
  ],
  [
    'revoked, to be forgotten later',
    facts({ isRevoked: true, asked: { ...REMOVE, forgetAtMs: 2_000_000 }, recorded: revoked }),
    'Revoked Decommissioned. No objects stay in the cluster. The name can be used again at 1970-01-01T00:33:20Z.',
  ],
  [
    'revoked long enough',
    facts({ isRevoked: true, asked: { ...REMOVE, forgetAtMs: 1_000_000 }, recorded: revoked }),
    'Forget',
  ],
  [
    'revoked long enough, not shown yet',
    facts({ isRevoked: true, asked: { ...REMOVE, forgetAtMs: 0 }, recorded: cleared }),
    'Revoked',
  ],
  ['to be forgotten, not revoked', facts({ asked: { ...REMOVE, forgetAtMs: 0 } }), 'Leaving'],
]

for (const [what, given, expected] of CASES) {
  test(`decommission: ${what}`, () => {
    const step = planDecommission(given)
    const said = step.kind === 'Show' ? `${step.phase} ${step.message}` : step.kind
    assert.ok(said.startsWith(expected), said)
  })
}

test('what an unreachable cluster had is listed before it is revoked, and what receipts left as well', () => {
  const removals = [{ bundle: 'ns/c', left: ['PersistentVolumeClaim default/data: it may hold data'] }]
  const step = planDecommission(
    facts({ isOffline: true, asked: { policy: 'Remove', forceUnreachable: true }, removals }),
  )
  assert.deepEqual(step.kind === 'Show' && [step.phase, step.left], [
    'Cleared',
    [
      'ns/a generation 2: the cluster was offline',
      'ns/b generation 2: the cluster was offline',
      'ns/c: PersistentVolumeClaim default/data: it may hold data',
    ],
  ])
})

test('property: a cluster is revoked only when asked, and only after what is left was written down', () => {
  const bool = fc.boolean()
  const phase = fc.constantFrom(undefined, 'Leaving' as const, 'Cleared' as const)
  fc.assert(
    fc.property(fc.tuple(bool, bool, bool, bool), phase, ([isAsked, isOffline, force, isEmpty], recorded) => {
      const step = planDecommission(
        facts({
          asked: isAsked ? { policy: 'Remove', forceUnreachable: force } : undefined,
          isOffline,
          ...(isEmpty ? { document: last } : {}),
          ...(recorded ? { recorded: { phase: recorded, left: [] } } : {}),
        }),
      )
      if (step.kind === 'Revoke') assert.ok(isAsked && recorded === 'Cleared')
      if (step.kind === 'Show' && step.phase === 'Cleared' && recorded !== 'Cleared')
        assert.ok(isEmpty || (isOffline && force))
    }),
  )
})
