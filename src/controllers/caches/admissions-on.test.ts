import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admissionsOn } from './admissions-on.ts'

test('the admissions for a cluster are those of the list, in its order, for every list', () => {
  const admissions = [
    { bundle: 'a', cluster: 'one' },
    { bundle: 'a', cluster: 'two' },
    { bundle: 'b', cluster: 'one' },
  ]
  assert.deepEqual(admissionsOn({ status: { admissions } }, 'one'), [admissions[0], admissions[2]])
  assert.deepEqual(admissionsOn({ status: { admissions } }, 'two'), [admissions[1]])
  assert.deepEqual(admissionsOn({ status: { admissions: admissions.slice(1) } }, 'one'), [admissions[2]])
  assert.deepEqual(admissionsOn({ status: { admissions } }, 'three'), [])
  assert.deepEqual(admissionsOn({ status: {} }, 'one'), [])
  assert.deepEqual(admissionsOn({}, 'one'), [])
})
