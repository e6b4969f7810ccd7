/**
 * What the faults of bad days are there for: for each of them a fleet with a mistake that does well until it strikes,
 * and is found out by it. A fault under which nothing can go wrong proves nothing.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mistakes } from '../../testing/storm/planted-bugs.ts'
import { runScenario } from '../../testing/simulation/run-seeds.ts'
import { storm } from '../../testing/storm/storm.ts'
import { FAULTS } from '../../testing/storm/faults.ts'

const ALL = mistakes()
/** Whether a mistake shows is a matter of moments: one of several days has to find it. */
const DAYS = ['planted', 'planted-2', 'planted-3', 'planted-4', 'planted-5', 'planted-6']

test('every fault has a mistake that it finds', () => {
  assert.deepEqual(new Set(ALL.map(({ fault }) => fault)), new Set([...FAULTS, 'crash']))
})

describe('a mistake is found by', () => {
  for (const { fault, name, breaks, plantedBugs: wrong, strikes } of ALL) {
    // What shows only in the end takes a whole day.
    const skip = breaks.startsWith('I-12') && process.env['FLOTILLA_DEEP'] === undefined
    test(`${fault}: ${name}`, { skip }, async () => {
      const seen: string[] = []
      for (const seed of DAYS) {
        let hasStruck = false
        const plant = async (day: Parameters<typeof strikes>[0]): Promise<void> => {
          hasStruck = true
          await strikes(day)
        }
        const day = { faults: [], plant, ...(wrong ? { mistakes: wrong } : {}) }
        const run = await runScenario(async (world) => void (await storm(world, day)), { seed })
        assert.ok(hasStruck, `${seed}: it is seen before the fault`)
        seen.push(run.error?.message ?? 'nothing was noticed')
        if (new RegExp(breaks).test(seen.at(-1)!)) return
      }
      assert.fail(`not found as ${breaks}:\n${seen.join('\n')}`)
    })
  }
})
