import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { decideOperation, decideRendered, nextWaveStep, rememberSet } from './operation.ts'
import type { OperationDecision, Recorded, Wanted, WaveStep } from './operation.ts'

const [A, B, C] = [digestOf('a'), digestOf('b'), digestOf('c')] as const
const recorded = (more: Partial<Recorded> = {}): Recorded => ({
  generation: 3,
  epoch: 1,
  set: A,
  phase: 'Settled',
  ...more,
})
const wanted = (more: Partial<Wanted> = {}): Wanted => ({ generation: 4, epoch: 1, set: B, ...more })

describe('which operation', () => {
  const back = { action: 'RollBack', set: B, generation: 3 } as const
  const out = { action: 'Uninstall', set: B, generation: 3 } as const
  const table: [string, Recorded | undefined, Wanted, string][] = [
    ['nothing recorded', undefined, wanted(), 'Install'],
    ['another set', recorded(), wanted(), 'Upgrade'],
    ['another set, killed in the middle of one', recorded({ phase: 'Applying' }), wanted(), 'Upgrade'],
    ['a set that ran before', recorded({ history: [A, B] }), wanted(), 'RollBack'],
    ['a set that never settled', recorded({ history: [A, C] }), wanted(), 'Upgrade'],
    ['the same set in the middle', recorded({ phase: 'Applying' }), wanted({ set: A, generation: 3 }), 'Resume'],
    ['the same set, applied', recorded({ phase: 'Applied' }), wanted({ set: A, generation: 3 }), 'Keep'],
    ['the same set, settled', recorded(), wanted({ set: A, generation: 3 }), 'Keep'],
    ['the same set under a higher number', recorded(), wanted({ set: A, generation: 9 }), 'Renumber'],
    [
      'the same set under a lower number of a new epoch',
      recorded(),
      wanted({ set: A, generation: 1, epoch: 2 }),
      'Keep',
    ],
    ['a new epoch that is behind', recorded(), wanted({ generation: 2, epoch: 2 }), 'Hold'],
    ['a new epoch that has caught up', recorded(), wanted({ generation: 3, epoch: 2 }), 'Upgrade'],
    ['an older generation', recorded(), wanted({ generation: 2 }), 'Hold'],
    ['too late to begin', recorded(), wanted({ startByMs: 999 }), 'Hold'],
    ['in time', recorded(), wanted({ startByMs: 1000 }), 'Upgrade'],
    [
      'the same set after a hook failed',
      recorded({ phase: 'Applying', isStuck: true }),
      wanted({ set: A, generation: 3 }),
      'Resume',
    ],
    [
      'the same set after a hook failed, asked for again',
      recorded({ phase: 'Applying', isStuck: true }),
      wanted({ set: A, generation: 4 }),
      'Install',
    ],
    ['the same set, to be tried again', recorded(), wanted({ set: A, generation: 3, again: true }), 'Install'],
    [
      'the same, which ran here before',
      recorded({ history: [A], phase: 'Applied' }),
      wanted({ set: A, generation: 3, again: true }),
      'Upgrade',
    ],
    ['too late to try again', recorded(), wanted({ set: A, generation: 3, again: true, startByMs: 1 }), 'Keep'],
    ['taken back, to be tried again', recorded({ remedy: back }), wanted({ generation: 3, again: true }), 'Upgrade'],
    [
      'taken out, to be tried again',
      recorded({ set: B, remedy: out }),
      wanted({ generation: 3, again: true }),
      'Install',
    ],
    ['a set that failed and was taken back', recorded({ set: A, remedy: back }), wanted({ generation: 3 }), 'Remedied'],
    ['it again, asked for', recorded({ set: A, remedy: back }), wanted(), 'Upgrade'],
    ['another one after it', recorded({ set: A, remedy: back }), wanted({ set: C }), 'Upgrade'],
    ['the one that runs', recorded({ set: A, remedy: back }), wanted({ set: A }), 'Renumber'],
    ['a set that failed and was taken out', recorded({ set: B, remedy: out }), wanted({ generation: 3 }), 'Remedied'],
    ['it again, asked for, from nothing', recorded({ set: B, remedy: out }), wanted(), 'Install'],
    ['another one from nothing', recorded({ set: B, remedy: out, history: [C] }), wanted({ set: C }), 'Install'],
    ['too late, but begun', recorded({ set: B, phase: 'Applying' }), wanted({ startByMs: 1 }), 'Resume'],
  ]
  for (const [name, has, wants, expected] of table) {
    it(`${name}: ${expected}`, () => {
      const decision = decideOperation(has, wants, 1000)
      assert.equal(decision.kind === 'Begin' ? decision.operation : decision.kind, expected)
    })
  }

  it('says why it holds', () => {
    const epoch = decideOperation(recorded(), wanted({ generation: 2, epoch: 2 }), 0)
    assert.match(epoch.kind === 'Hold' ? epoch.message : '', /a new epoch began: held at generation 3/)
    const unknown = decideOperation(undefined, wanted({ startByMs: 5 }), undefined)
    assert.match(unknown.kind === 'Hold' ? unknown.message : '', /the time is not known for certain/)
    assert.equal(decideOperation(undefined, wanted(), undefined).kind, 'Begin', 'without a start-by no time is needed')
    const late = decideOperation(undefined, wanted({ startByMs: 0 }), 1)
    assert.match(
      late.kind === 'Hold' ? late.message : '',
      /start by 1970-01-01T00:00:00Z; waiting to be admitted again/,
    )
  })

  it('remembers the last ten sets once each', () => {
    assert.deepEqual(rememberSet([A, B], B), [B, A])
    const many = Array.from({ length: 12 }, (_, i) => digestOf(String(i)))
    assert.equal(many.reduce((history, set) => rememberSet(history, set), [] as (typeof A)[]).length, 10)
  })
})

describe('waves', () => {
  const facts = { wave: 0, waves: 3, appliedAtMs: 0, health: 'Progressing' as const, nowMs: 10, timeoutMs: 60_000 }
  const table: [string, Partial<Parameters<typeof nextWaveStep>[0]>, WaveStep['kind']][] = [
    ['not applied', { appliedAtMs: undefined }, 'Apply'],
    ['applied, not healthy', {}, 'Wait'],
    ['healthy', { health: 'Ready' }, 'Advance'],
    ['failed within its time', { health: 'Failed' }, 'Wait'],
    ['not healthy in time', { nowMs: 60_000 }, 'TimedOut'],
    ['healthy after its time', { nowMs: 90_000, health: 'Ready' }, 'Advance'],
    ['the last one is applied', { wave: 2 }, 'Applied'],
    ['the only one is applied', { waves: 1, health: 'Failed' }, 'Applied'],
    ['an empty set', { waves: 0 }, 'Applied'],
    ['a clock that went back waits', { nowMs: -5 }, 'Wait'],
  ]
  for (const [name, more, kind] of table) {
    it(`${name}: ${kind}`, () => assert.equal(nextWaveStep({ ...facts, ...more }).kind, kind))
  }

  it('names the wave that took too long', () => {
    const move = nextWaveStep({ ...facts, wave: 1, nowMs: 60_000 })
    assert.equal(move.kind === 'TimedOut' ? move.message : '', 'wave 2 of 3 was not healthy within 1m0s')
  })
})

describe('which operation, for a set that is rendered in the cluster', () => {
  const keep: OperationDecision = { kind: 'Keep' }
  const table: [string, OperationDecision, Parameters<typeof decideRendered>[1], string | undefined, string][] = [
    ['a set of objects', keep, { rendered: 'm' }, undefined, 'Keep'],
    ['the same objects', keep, { rendered: 'm' }, 'm', 'Keep'],
    ['other objects', keep, { rendered: 'm', history: [A] }, 'n', 'Upgrade'],
    ['other objects, never settled', keep, { rendered: 'm' }, 'n', 'Install'],
    ['other objects under a higher number', { kind: 'Renumber' }, { rendered: 'm', history: [A] }, 'n', 'Upgrade'],
    ['other objects after a crash in the middle', { kind: 'Resume' }, { rendered: 'm', history: [A] }, 'n', 'Upgrade'],
    ['the same objects after a crash in the middle', { kind: 'Resume' }, { rendered: 'm' }, 'm', 'Resume'],
    ['the first time here', keep, { history: [A] }, 'n', 'Upgrade'],
    ['nothing recorded', { kind: 'Begin', operation: 'Install' }, undefined, 'n', 'Install'],
    ['what was decided already', { kind: 'Begin', operation: 'RollBack' }, { rendered: 'm' }, 'n', 'RollBack'],
    ['what is held', { kind: 'Hold', message: '' }, { rendered: 'm' }, 'n', 'Hold'],
    ['what was answered for', { kind: 'Remedied' }, { rendered: 'm' }, 'n', 'Remedied'],
  ]
  for (const [what, decision, before, mark, expected] of table) {
    it(`${what}: ${expected}`, () => {
      const decided = decideRendered(decision, before, mark)
      assert.equal(decided.kind === 'Begin' ? decided.operation : decided.kind, expected)
    })
  }
})
