import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appliedRevision, attemptedRevision } from './revisions.ts'
import type { AssignedRevision } from './revisions.ts'
import type { ReportedBundle, Revision } from './state.ts'

const at = (generation: number): Revision => ({
  generation,
  set: `sha256:${String(generation).repeat(64)}`,
})
const [r1, r2] = [at(1), at(2)]
const assigned: AssignedRevision = { ...r2, before: r1 }

describe('attempted and applied', () => {
  const cases: readonly [string, ReportedBundle | undefined, number | undefined, number | undefined][] = [
    ['nothing is reported', undefined, undefined, undefined],
    ['Ready', { ...r2, state: 'Ready' }, 2, 2],
    ['Drifted', { ...r2, state: 'Drifted' }, 2, 2],
    ['failed while it was applied', { ...r2, state: 'Failed', applied: false }, 2, 1],
    ['applied and not healthy', { ...r2, state: 'Failed', applied: true }, 2, 2],
    ['under way', { ...r2, state: 'Progressing', applied: false }, 2, 1],
    ['failed, by an agent of 0.1', { ...r2, state: 'Failed' }, 2, undefined],
    ['waits to start, the one before is well', { ...r2, state: 'Pending', running: { ...r1, state: 'Ready' } }, 1, 1],
    [
      'waits to start, the one before failed',
      { ...r2, state: 'Pending', running: { ...r1, state: 'Failed' } },
      1,
      undefined,
    ],
    ['waits to start, nothing runs', { ...r2, state: 'Pending' }, undefined, undefined],
    ['a report about an earlier revision', { ...r1, state: 'Failed', applied: false }, 1, undefined],
  ]
  for (const [name, reported, attempt, applied] of cases) {
    it(name, () => {
      assert.equal(attemptedRevision(reported)?.generation, attempt)
      assert.equal(appliedRevision(reported, assigned)?.generation, applied)
    })
  }
})
