import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { priorityOf } from './pod-priority.ts'

const named = (name: string, value: number, more: object = {}): UnknownObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy: 'PreemptLowerPriority',
  ...more,
})

test('the priority of a pod', () => {
  const high = named('high', 1000, { preemptionPolicy: 'Never' })
  const all = [named('b', 7, { globalDefault: true }), named('a', 5, { globalDefault: true }), high]
  const table: [object, readonly UnknownObject[], object | string][] = [
    [{}, [high], { value: 0, preemption: 'PreemptLowerPriority' }],
    [{ priorityClassName: 'high' }, [high], { className: 'high', value: 1000, preemption: 'Never' }],
    [{}, all, { className: 'a', value: 5, preemption: 'PreemptLowerPriority' }],
    [{ priorityClassName: 'other' }, all, 'no PriorityClass with name other was found'],
    [
      { priorityClassName: 'high', priority: 3 },
      all,
      'the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      all,
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    ],
  ]
  for (const [spec, classes, wanted] of table) {
    const { refused, ...priority } = priorityOf(spec as never, classes)
    if (typeof wanted === 'string') assert.deepEqual([refused, priority], [true, { why: wanted }])
    else assert.deepEqual([refused, priority], [false, wanted])
  }
})
