import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { removalState } from './removal-messages.ts'
import type { RemovalFactsOnCluster } from './removal-messages.ts'

const seen = { state: 'Available', message: '' } as const
const assigned = { generation: 3, set: digestOf('x') }
const said = (state: 'Removing' | 'Failed' | 'Removed' | 'Orphaned', more: object = {}) => ({
  removal: { generation: 3, state, ...more },
})

const CASES: readonly (readonly [string, RemovalFactsOnCluster, string | undefined])[] = [
  ['it runs', { availability: seen, assigned }, undefined],
  ['nothing was ever here', { availability: seen }, undefined],
  [
    'its turn comes',
    { availability: seen, assigned, removedBy: 'b-removal-1' },
    'Pending Waits for its turn: rollout b-removal-1 removes the bundle.',
  ],
  [
    'handed out',
    { availability: seen, buried: { generation: 3 } },
    'Progressing Removing generation 3: waiting for confirmation by the agent.',
  ],
  [
    'it waits',
    { availability: seen, buried: { generation: 3 }, ...said('Removing', { message: 'waiting for Pod x to be gone' }) },
    'Progressing Removing generation 3: waiting for Pod x to be gone.',
  ],
  [
    'refused',
    { availability: seen, buried: { generation: 3 }, ...said('Failed', { message: 'forbidden' }) },
    'Failed Removing generation 3: forbidden.',
  ],
  [
    'offline',
    { availability: { state: 'Offline', message: 'Silent for 2h.' }, buried: { generation: 3 } },
    'Offline Silent for 2h. The removal of generation 3 is queued.',
  ],
  [
    'an old receipt says nothing about a new tombstone',
    { availability: seen, buried: { generation: 4 }, ...said('Removed') },
    'Progressing Removing generation 4: waiting for confirmation by the agent.',
  ],
  [
    'removed',
    {
      availability: seen,
      ...said('Removed', { deleted: 2, left: ['PersistentVolumeClaim default/data: it may hold data'] }),
    },
    'NotSelected Removed: 2 objects deleted, 1 object left in place: PersistentVolumeClaim default/data: it may hold data.',
  ],
  [
    'orphaned',
    { availability: seen, ...said('Orphaned', { deleted: 0, left: ['a', 'b', 'c', 'd'], leftTotal: 30 }) },
    'NotSelected Orphaned: 0 objects deleted, 30 objects left in place: a; b; c and 27 more.',
  ],
]

for (const [what, facts, expected] of CASES) {
  test(`the state of a removal: ${what}`, () => {
    const found = removalState(facts)
    assert.equal(found && `${found.state} ${found.message}`, expected)
  })
}
