import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { decideFailureAction, hasFailureAction } from './failure-policy.ts'
import type { FailureFacts } from './failure-policy.ts'

const BEFORE = digestOf('before')
const facts = (more: Partial<FailureFacts>): FailureFacts => ({
  options: undefined,
  operation: 'Upgrade',
  attempt: 1,
  failedAtMs: 1000,
  before: BEFORE,
  ...more,
})
const both = { install: 'Uninstall', upgrade: 'RollBack' } as const

describe('a failed operation', () => {
  const table: readonly (readonly [string, Partial<FailureFacts>, string])[] = [
    ['nothing was asked for', {}, 'None'],
    ['an install, as helm --atomic', { options: both, operation: 'Install', before: undefined }, 'Uninstall'],
    ['an upgrade, as helm --atomic', { options: both }, 'RollBack'],
    ['a roll back, as an upgrade', { options: both, operation: 'RollBack' }, 'RollBack'],
    ['nothing to go back to', { options: both, before: undefined }, 'None'],
    ['an upgrade that is to be taken out', { options: { upgrade: 'Uninstall' } }, 'Uninstall'],
    ['a try left', { options: { ...both, retries: 1 } }, 'Retry'],
    ['no try left', { options: { ...both, retries: 1 }, attempt: 2 }, 'RollBack'],
    ['tries without an end to them', { options: { retries: 3 }, attempt: 4 }, 'None'],
  ]
  for (const [what, more, expected] of table) {
    it(`${what}: ${expected}`, () => assert.equal(decideFailureAction(facts(more)).kind, expected))
  }

  it('is tried again later each time, up to five minutes', () => {
    const waits = Array.from({ length: 8 }, (_, i) => {
      const remedy = decideFailureAction(facts({ options: { retries: 10 }, attempt: i + 1 }))
      return remedy.kind === 'Retry' ? (remedy.atMs - 1000) / 1000 : undefined
    })
    assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300, 300])
  })

  it('has a remedy only where one was asked for', () => {
    assert.equal(hasFailureAction(undefined, 'Install'), false)
    assert.equal(hasFailureAction({ install: 'None', upgrade: 'RollBack' }, 'Install'), false)
    assert.equal(hasFailureAction({ upgrade: 'RollBack' }, 'Upgrade'), true)
    assert.equal(hasFailureAction({ retries: 1 }, 'Install'), true)
  })
})
