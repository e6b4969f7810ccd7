import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '../../core/errors.ts'
import { conflictsOf, decideConflict, decideOwnership } from './ownership.ts'
import type { OwnershipDecision, OwnershipFacts } from './ownership.ts'

describe('meeting an object', () => {
  const facts: OwnershipFacts = {
    live: { uid: 'u1' },
    isAppliedByUs: false,
    recorded: undefined,
    others: [],
    takeover: 'Always',
    force: false,
  }
  const other = { bundle: 'default/other', uid: 'u1', isCurrent: true }
  const table: [string, Partial<OwnershipFacts>, OwnershipDecision][] = [
    ['nothing there', { live: undefined, recorded: { uid: 'u1' } }, { kind: 'Create' }],
    ['recorded', { recorded: { uid: 'u1' } }, { kind: 'Ours', adopted: false }],
    ['recorded as adopted', { recorded: { uid: 'u1', adopted: true } }, { kind: 'Ours', adopted: true }],
    ['there before', {}, { kind: 'Adopt', onlyIfSame: false }],
    ['there before, if the same', { takeover: 'IfNoDiff' }, { kind: 'Adopt', onlyIfSame: true }],
    ['recreated by another client', { recorded: { uid: 'u0' } }, { kind: 'Adopt', onlyIfSame: false }],
    ['written before a crash', { recorded: {}, isAppliedByUs: true }, { kind: 'Ours', adopted: false }],
    ['of a former life', { recorded: undefined, isAppliedByUs: true }, { kind: 'Ours', adopted: true }],
    ['adopted before a crash', { recorded: { adopted: true }, isAppliedByUs: true }, { kind: 'Ours', adopted: true }],
    ['of a bundle that is here', { others: [other] }, { kind: 'Share', adopted: false, with: 'default/other' }],
    [
      'of a bundle that left',
      { others: [{ ...other, isCurrent: false }] },
      { kind: 'Move', adopted: false, from: 'default/other' },
    ],
    [
      'adopted by a bundle that left',
      { others: [{ ...other, isCurrent: false, adopted: true }], takeover: 'Never' },
      { kind: 'Move', adopted: true, from: 'default/other' },
    ],
    ['of a bundle that had another one', { others: [{ ...other, uid: 'u0' }] }, { kind: 'Adopt', onlyIfSame: false }],
  ]
  for (const [name, more, expected] of table) {
    it(`${name}: ${expected.kind}`, () => assert.deepEqual(decideOwnership({ ...facts, ...more }), expected))
  }

  it('is refused with why when nothing may be taken over', () => {
    const meeting = decideOwnership({ ...facts, takeover: 'Never' })
    assert.equal(meeting.kind === 'Refuse' && meeting.why, 'it was there before the bundle, and takeover is Never')
  })
})

describe('contested fields', () => {
  const error = new ApiError('Conflict', 'Apply failed with 2 conflicts', {
    causes: [
      { reason: 'FieldManagerConflict', message: 'conflict with "kubectl-edit" using v1', field: '.data.a' },
      { reason: 'FieldManagerConflict', message: 'conflict with "flotilla:default/other"', field: '.data.b' },
    ],
  })
  const facts = {
    bundle: 'default/hello',
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'x' },
    conflicts: conflictsOf(error),
    holderOf: (manager: string) =>
      manager === 'flotilla:default/other' ? { bundle: 'default/other', isMoving: false } : undefined,
    isFormerBundle: () => false,
    mayTake: true,
  }
  const none = { ...facts, holderOf: () => undefined }

  it('are refused naming both bundles and the field, however much may be taken', () => {
    assert.deepEqual(decideConflict(facts), {
      kind: 'Refuse',
      message:
        'ConfigMap default/x: field .data.b belongs to bundle default/other, and bundle default/hello wants another value there; leave it to one of them',
    })
  })

  it('of a bundle that is about to change are waited for', () => {
    const holderOf = () => ({ bundle: 'default/other', isMoving: true })
    assert.deepEqual(decideConflict({ ...facts, holderOf }), {
      kind: 'Wait',
      message:
        'ConfigMap default/x: field .data.a belongs to bundle default/other, which is about to change and may give up the field; bundle default/hello waits',
    })
  })

  it('of bundles that left are taken', () => {
    assert.deepEqual(decideConflict({ ...none, mayTake: false, isFormerBundle: () => true }), { kind: 'Take' })
  })

  it('of people are taken only when that is allowed', () => {
    assert.deepEqual(decideConflict(none), { kind: 'Take' })
    assert.deepEqual(decideConflict({ ...none, mayTake: false }), {
      kind: 'Refuse',
      message:
        'ConfigMap default/x: field .data.a and 1 more belongs to kubectl-edit; set apply.force to take it, or leave the field out',
    })
  })
})
