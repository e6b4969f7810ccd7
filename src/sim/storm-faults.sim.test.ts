/**
 * What the faults of bad days are there for: for each of them a fleet with a mistake that does well until it strikes, and is found out by
 * it. A fault under which nothing can go wrong proves nothing.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mistakes } from '../testing/storm-mistakes.ts'
import { runScenario } from '../testing/sim-seeds.ts'
import { storm } from '../testing/storm.ts'
import { FAULTS } from '../testing/storm-trouble.ts'

const ALL = mistakes()

test('every fault has a mistake that it finds', () => {
  assert.deepEqual(new Set(ALL.map(({ fault }) => fault)), new Set([...FAULTS, 'crash']))
})

describe('a mistake is found by', () => {
  for (const { fault, name, breaks, mistakes: wrong, strikes } of ALL) {
    // What shows only in the end takes a whole day.
    const skip = breaks.startsWith('I-12') && process.env['FLOTILLA_DEEP'] === undefined
    test(`${fault}: ${name}`, { skip }, async () => {
      let hasStruck = false
      const run = await runScenario(
        async (world) => {
          const plant = async (day: Parameters<typeof strikes>[0]): Promise<void> => {
            hasStruck = true
            await strikes(day)
          }
          await storm(world, { faults: [], plant, ...(wrong ? { mistakes: wrong } : {}) })
        },
        { seed: 'planted' },
      )
      assert.match(run.error?.message ?? 'nothing was noticed', new RegExp(breaks))
      assert.ok(hasStruck, 'it is not seen before the fault')
    })
  }
})
