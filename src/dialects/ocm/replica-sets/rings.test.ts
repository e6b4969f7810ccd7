import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OcmRolloutStrategy, RolloutGroup } from '../rollout/next-clusters.ts'
import { planOf } from './rings.ts'

const group = (index: number, name: string, size: number): RolloutGroup => ({
  index,
  name,
  clusters: Array.from({ length: size }, (_, nth) => `${name}-${index}-${nth}`),
})
const GROUPS = [group(0, 'canary', 2), group(1, 'canary', 1), group(2, '', 7)]

function rings(strategy: OcmRolloutStrategy, groups: readonly RolloutGroup[] = GROUPS): readonly string[] {
  const mapped = planOf(strategy, groups)
  if ('problem' in mapped) return [mapped.problem]
  const { rings: all, progressDeadline } = mapped.plan
  return [
    ...all.map(({ name, group: own, concurrency, maxFailed, soak }) =>
      [name, own ?? '-', concurrency, maxFailed, ...(soak === undefined ? [] : [soak])].join(' '),
    ),
    ...(progressDeadline === undefined ? [] : [progressDeadline]),
  ]
}

test('strategies as rings', () => {
  assert.deepEqual(rings({ type: 'All', all: { progressDeadline: '90s', maxFailures: 1 } }), [
    'all - 100% 100%',
    '1m30s',
  ])
  assert.deepEqual(rings({}), ['all - 100% 100%'])
  const progressive = (options: OcmRolloutStrategy['progressive']) =>
    rings({ type: 'Progressive', ...compact(options) })
  assert.deepEqual(progressive({}), ['rest - 100% 0'])
  assert.deepEqual(progressive({ maxConcurrency: 3, maxFailures: '25%', minSuccessTime: '5m' }), ['rest - 3 3 5m0s'])
  assert.deepEqual(progressive({ maxConcurrency: '0%', progressDeadline: 'None' }), ['rest - 100% 0'], 'OCM: all')
  assert.deepEqual(progressive({ maxConcurrency: '30%', mandatoryDecisionGroups: [{ groupName: 'canary' }] }), [
    'group-0 group-0 100% 0',
    'group-1 group-1 100% 0',
    'rest - 3 0',
  ])
  assert.deepEqual(progressive({ maxFailures: 99 }), ['rest - 100% 99'], 'not 0 as in OCM')
  assert.deepEqual(progressive({ maxFailures: -1 }), ['rest - 100% 0'])
  const perGroup = (options: OcmRolloutStrategy['progressivePerGroup']) =>
    rings({ type: 'ProgressivePerGroup', ...(options ? { progressivePerGroup: options } : {}) })
  assert.deepEqual(perGroup({ maxFailures: '50%', mandatoryDecisionGroups: [{ groupIndex: 2 }] }), [
    'group-2 group-2 100% 0',
    'group-0 group-0 100% 1',
    'group-1 group-1 100% 1',
    'rest - 2 1',
  ])
})

test('what cannot be read is said in the words of Open Cluster Management', () => {
  assert.match(rings({ type: 'All', all: { progressDeadline: '2d' } }).join(), /invalid timeout format/)
  const wrong = { type: 'Progressive', progressive: { maxConcurrency: '10' } }
  assert.match(rings(wrong).join(), /maxConcurrency: '10' is an invalid maximum threshold value: string is not a perc/)
  assert.match(rings({ type: 'Progressive', progressive: { minSuccessTime: 'x' } }).join(), /minSuccessTime: /)
})

test('more groups than rings share the last ring, never more at a time than the largest of them', () => {
  const many = Array.from({ length: 50 }, (_, index) => group(index, 'g', (index % 3) + 1))
  const found = rings({ type: 'ProgressivePerGroup' }, many)
  assert.equal(found.length, 32)
  assert.equal(found.at(-1), 'rest - 3 0')
})

function compact(progressive: OcmRolloutStrategy['progressive']): OcmRolloutStrategy {
  return progressive ? { progressive } : {}
}
