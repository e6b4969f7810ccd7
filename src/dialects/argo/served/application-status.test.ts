import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { finishedPhase, syncAndHealth, withDeployment, worstRow } from './application-status.ts'
import type { StateRow } from './application-status.ts'

const at = { generation: 2, target: 2, message: 'm' }

describe('the words of Argo CD', () => {
  const cases: readonly (readonly [StateRow, string])[] = [
    [{ ...at, state: 'Ready' }, 'Synced Healthy'],
    [{ ...at, state: 'Progressing' }, 'Synced Progressing'],
    [{ ...at, state: 'Progressing', generation: 1 }, 'OutOfSync Progressing'],
    [{ ...at, state: 'Ready', generation: 1, waitsFor: 'approval' }, 'OutOfSync Healthy'],
    [{ ...at, state: 'Drifted' }, 'OutOfSync Healthy'],
    [{ ...at, state: 'Failed' }, 'Unknown Degraded'],
    [{ ...at, state: 'Failed', generation: 1 }, 'OutOfSync Degraded'],
    [{ message: 'm', state: 'Pending', target: 2, waitsFor: 'approval' }, 'OutOfSync Missing'],
    [{ message: 'm', state: 'NotSelected' }, 'OutOfSync Missing'],
    [{ ...at, state: 'Offline', lastKnown: 'Ready' }, 'Unknown Healthy'],
    [{ ...at, state: 'Offline', lastKnown: 'Failed' }, 'Unknown Degraded'],
    [{ ...at, state: 'Offline' }, 'Unknown Unknown'],
    [{ ...at }, 'Unknown Unknown'],
  ]
  for (const [row, expected] of cases) {
    it(`${row.state ?? 'no state'} ${row.generation ?? '-'}/${row.target ?? '-'}: ${expected}`, () => {
      const { sync, health } = syncAndHealth(row)
      assert.equal(`${sync} ${health}`, expected)
    })
  }

  it('are the worst of several sources', () => {
    const { sync, health } = worstRow([
      { ...at, state: 'Ready' },
      { ...at, state: 'Progressing', generation: 1 },
    ])
    assert.deepEqual([sync, health], ['OutOfSync', 'Progressing'])
    assert.deepEqual(worstRow([]).sync, 'Unknown')
  })
})

describe('a sync', () => {
  it('ends when all is Ready at the target, or something failed', () => {
    assert.equal(finishedPhase([]), undefined)
    assert.equal(finishedPhase([{ ...at, state: 'Ready' }])?.phase, 'Succeeded')
    assert.equal(
      finishedPhase([
        { ...at, state: 'Ready' },
        { ...at, state: 'Progressing' },
      ]),
      undefined,
    )
    assert.deepEqual(finishedPhase([{ ...at, state: 'Failed' }]), { phase: 'Failed', message: 'm' })
    assert.equal(finishedPhase([{ ...at, state: 'Failed', generation: 1 }]), undefined, 'of an earlier content')
  })

  it('stands in a bounded history with growing ids', () => {
    const entry = { deployedAt: '2026-01-01T00:00:00Z' }
    let history = withDeployment([], entry)
    for (let count = 0; count < 12; count++) history = withDeployment(history, entry)
    assert.deepEqual([history.length, history[0]?.id, history.at(-1)?.id], [10, 3, 12])
  })
})
