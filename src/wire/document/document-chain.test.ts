import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { buildDocument } from '../../testing/fixtures/wire-builders.ts'
import { acceptDocument } from './document-chain.ts'
import type { ClusterDocument } from './cluster-document.ts'

const mine = digestOf('mine')
const theirs = digestOf('theirs')
const context = {
  clusterId: 'c-1',
  epoch: 2,
  features: ['sets/v1'],
  agentVersion: '0.2.0',
  minAgentVersion: '0.1.0',
}
const held = { epoch: 2, revision: 5, digest: mine }

function decide(
  overrides: Partial<ClusterDocument>,
  digest = theirs,
  heldHere: typeof held | undefined = held,
): string {
  const decision = acceptDocument(heldHere, { document: buildDocument({ epoch: 2, ...overrides }), digest }, context)
  return decision.kind === 'Refuse' ? decision.reason : decision.kind
}

describe('the chain rule', () => {
  const cases: [string, Partial<ClusterDocument>, string][] = [
    ['the next one', { revision: 6, previous: mine }, 'Accept'],
    ['the next one on another past', { revision: 6, previous: theirs }, 'BrokenChain'],
    ['the next one on no past', { revision: 6 }, 'BrokenChain'],
    ['a later one, with some missed', { revision: 9, previous: theirs }, 'Accept'],
    ['an older one', { revision: 4 }, 'OldRevision'],
    ['another one with the same number', { revision: 5 }, 'Equivocation'],
    ['an older epoch', { epoch: 1, revision: 99 }, 'OldEpoch'],
    ['an epoch the root did not sign', { epoch: 3, revision: 1 }, 'UnprovenEpoch'],
    ["another cluster's", { clusterId: 'c-2', revision: 6, previous: mine }, 'WrongCluster'],
    ["a cluster's whose id begins like ours", { clusterId: 'c-10', revision: 6, previous: mine }, 'WrongCluster'],
    ['one with a feature', { revision: 6, previous: mine, requires: ['sets/v1'] }, 'Accept'],
    [
      'one with an unknown feature',
      { revision: 6, previous: mine, requires: ['sets/v1', 'windows/v1'] },
      'MissingFeature',
    ],
  ]
  for (const [what, overrides, outcome] of cases) {
    it(`${outcome}: ${what}`, () => assert.equal(decide(overrides), outcome))
  }

  it('knows its own past also when some were missed', () => {
    const other = digestOf('other')
    const gap = (ancestors: ClusterDocument['ancestors']) =>
      decide({ revision: 8, previous: theirs, ancestors: ancestors! })
    assert.equal(gap([theirs, other, mine]), 'Accept')
    assert.equal(gap([theirs, other, other, mine]), 'BrokenChain')
    assert.equal(gap([theirs, mine]), 'Accept', 'further back than it remembers')
    assert.equal(decide({ revision: 6, previous: theirs, ancestors: [theirs] }), 'BrokenChain')
  })

  it('Same: the one that is held', () => assert.equal(decide({ revision: 5 }, mine), 'Same'))

  it('Accept: any first one of the signed epoch', () => {
    assert.equal(
      acceptDocument(undefined, { document: buildDocument({ epoch: 2, revision: 7 }), digest: mine }, context).kind,
      'Accept',
    )
  })

  it('Accept: a new epoch that the root signed, whatever its revision', () => {
    const old = { epoch: 1, revision: 500, digest: mine }
    assert.equal(decide({ epoch: 2, revision: 1 }, theirs, old), 'Accept')
  })

  it('AgentTooOld: anything new, for an agent below what the root asks for', () => {
    const old = { ...context, agentVersion: '0.0.9' }
    const next = { document: buildDocument({ epoch: 2, revision: 6, previous: mine }), digest: theirs }
    const decision = acceptDocument(held, next, old)
    assert.equal(decision.kind === 'Refuse' && decision.reason, 'AgentTooOld')
    const same = { document: buildDocument({ epoch: 2, revision: 5 }), digest: mine }
    assert.equal(acceptDocument(held, same, old).kind, 'Same')
  })

  it('names the missing feature', () => {
    const document = buildDocument({ epoch: 2, requires: ['windows/v1'] })
    const decision = acceptDocument(undefined, { document, digest: mine }, context)
    assert.match(decision.kind === 'Refuse' ? decision.message : '', /windows\/v1.*upgrade the agent/)
  })
})
