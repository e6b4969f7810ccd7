import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rollingLimits, rollingPods } from './rolling.ts'

const LIMITS: readonly (readonly [wanted: number, strategy: object | undefined, expected: string])[] = [
  [1, undefined, '1 more, 0 less'],
  [2, undefined, '1 more, 0 less'],
  [4, undefined, '1 more, 1 less'],
  [10, undefined, '3 more, 2 less'],
  [10, { rollingUpdate: { maxSurge: '50%', maxUnavailable: 1 } }, '5 more, 1 less'],
  [3, { rollingUpdate: { maxSurge: 0, maxUnavailable: '25%' } }, '0 more, 1 less'],
  [2, { rollingUpdate: { maxSurge: 1, maxUnavailable: 5 } }, '1 more, 2 less'],
  [3, { type: 'Recreate' }, '0 more, 3 less'],
]

for (const [wanted, strategy, expected] of LIMITS) {
  test(`limits of ${wanted} replicas under ${JSON.stringify(strategy) ?? 'defaults'}: ${expected}`, () => {
    const { surge, unavailable } = rollingLimits({ spec: { strategy } }, wanted)
    assert.equal(`${surge} more, ${unavailable} less`, expected)
  })
}

interface Row {
  readonly what: string
  readonly wanted: number
  readonly strategy?: object
  /** [replicas, updatedReplicas, availableReplicas] */
  readonly had: readonly [number, number, number]
  readonly isSameSet?: boolean
  readonly expected: { readonly old: number; readonly updated: number; readonly available: number }
}

const ROWS: readonly Row[] = [
  { what: 'the first content', wanted: 3, had: [0, 0, 0], expected: { old: 0, updated: 3, available: 0 } },
  { what: 'one replica', wanted: 1, had: [1, 1, 1], expected: { old: 1, updated: 1, available: 1 } },
  { what: 'two replicas', wanted: 2, had: [2, 2, 2], expected: { old: 2, updated: 1, available: 2 } },
  { what: 'four replicas', wanted: 4, had: [4, 4, 4], expected: { old: 3, updated: 2, available: 3 } },
  {
    what: 'one replica without surge',
    wanted: 1,
    strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    had: [1, 1, 1],
    expected: { old: 0, updated: 1, available: 0 },
  },
  {
    what: 'all at once',
    wanted: 3,
    strategy: { type: 'Recreate' },
    had: [3, 3, 3],
    expected: { old: 0, updated: 3, available: 0 },
  },
  { what: 'after a broken one', wanted: 1, had: [2, 1, 1], expected: { old: 1, updated: 1, available: 1 } },
  {
    what: 'more of the same',
    wanted: 3,
    had: [1, 1, 1],
    isSameSet: true,
    expected: { old: 0, updated: 3, available: 1 },
  },
  {
    what: 'less of the same',
    wanted: 1,
    had: [3, 3, 3],
    isSameSet: true,
    expected: { old: 0, updated: 1, available: 1 },
  },
  { what: 'less, and new', wanted: 1, had: [3, 3, 3], expected: { old: 1, updated: 1, available: 1 } },
]

for (const { what, wanted, strategy, had, isSameSet = false, expected } of ROWS) {
  test(`pods in the middle of a rollout: ${what}`, () => {
    const [replicas, updatedReplicas, availableReplicas] = had
    const limits = rollingLimits({ spec: { strategy } }, wanted)
    const status = { replicas, updatedReplicas, availableReplicas }
    assert.deepEqual(rollingPods(status, wanted, limits, isSameSet), expected)
  })
}

test('property: never more than surge allows nor fewer than unavailable allows, and asking again changes nothing', () => {
  const count = fc.integer({ min: 0, max: 12 })
  fc.assert(
    fc.property(count, count, count, count, (wanted, before, maxSurge, maxUnavailable) => {
      const limits = rollingLimits({ spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } } }, wanted)
      const whole = { replicas: before, updatedReplicas: before, availableReplicas: before }
      const pods = rollingPods(whole, wanted, limits, false)
      assert.ok(pods.old + pods.updated <= wanted + limits.surge)
      assert.ok(pods.available >= Math.min(before, wanted - limits.unavailable))
      const status = {
        replicas: pods.old + pods.updated,
        updatedReplicas: pods.updated,
        availableReplicas: pods.available,
      }
      assert.deepEqual(rollingPods(status, wanted, limits, true), pods)
      const isReady = wanted > 0 && pods.updated >= wanted && pods.old === 0 && pods.available >= wanted
      assert.ok(!isReady, 'nothing looks ready before a new pod is')
    }),
  )
})
