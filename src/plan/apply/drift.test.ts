import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { afterCorrection, decideDrift, FIGHT_WINDOW_MS } from './drift.ts'
import type { DriftHistory } from './drift.ts'

const MINUTE = 60_000

describe('drift', () => {
  it('is corrected, reported or ignored as the bundle says', () => {
    const none = { correctedAtMs: [] }
    assert.deepEqual(decideDrift('Correct', none, 0), { kind: 'Correct' })
    assert.deepEqual(decideDrift('Report', none, 0), { kind: 'Report' })
    assert.deepEqual(decideDrift('Ignore', { correctedAtMs: [0, 0, 0, 0] }, 0), { kind: 'Ignore' })
  })

  const cases: [string, number[], number, string][] = [
    ['a second edit', [0], 1, 'Correct'],
    ['a third edit', [0, 1], 2, 'Correct'],
    ['a fourth one soon after', [0, 1, 2], 10_000, 'StepBack 30002'],
    ['and a while later', [0, 1, 2], 40_000, 'Correct'],
    ['each time longer', [0, 1, 2, 40_000], 50_000, 'StepBack 100000'],
    ['but not for ever', Array.from({ length: 20 }, (_, i) => i), MINUTE, `StepBack ${19 + 30 * MINUTE}`],
    ['long ago', [0, 1, 2, 3], FIGHT_WINDOW_MS + 10, 'Correct'],
  ]
  for (const [name, correctedAtMs, now, expected] of cases) {
    it(`${name}: ${expected}`, () => {
      const decision = decideDrift('Correct', { correctedAtMs }, now)
      assert.equal(decision.kind === 'StepBack' ? `StepBack ${decision.untilMs}` : decision.kind, expected)
    })
  }

  it('is not fought over: against one who never stops at most a few corrections an hour are made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30_000 }), (stepMs) => {
        let history: DriftHistory = { correctedAtMs: [] }
        let corrections = 0
        for (let now = 0; now < FIGHT_WINDOW_MS; now += stepMs) {
          if (decideDrift('Correct', history, now).kind !== 'Correct') continue
          corrections += 1
          history = afterCorrection(history, now)
        }
        assert.ok(corrections <= 10, `${corrections}`)
      }),
      { numRuns: 30 },
    )
  })
})
