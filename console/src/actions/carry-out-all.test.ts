import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiFailure } from '../data/api-failure.ts'
import { carryOutAll } from './carry-out-all.ts'
import { stopAction } from './cluster-actions.ts'

test('a refusal of one cluster is told and keeps no other from its change', async () => {
  const told: number[] = []
  const asking = { username: 'ana', groups: [], reason: 'fire', nowMs: 0 }
  const requests = {
    send: async (path: string) => {
      if (path.includes('/b?')) throw new ApiFailure(403, 'Forbidden', 'no')
      return { value: {}, auditId: `audit-${path.at(path.indexOf('?') - 1)}` }
    },
    read: async () => ({}),
  }
  const result = await carryOutAll(['a', 'b', 'c'], (name) => stopAction(name, 'hold'), {
    asking,
    requests,
    told: (count) => told.push(count),
  })
  assert.deepEqual(result, { done: ['a', 'c'], failed: [{ name: 'b', message: 'no' }], auditId: 'audit-c' })
  assert.deepEqual(told, [1, 2, 3])
})
