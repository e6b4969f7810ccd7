import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '../kinds/rollout.ts'
import { statusText } from './rollout-look.ts'

test('what holds a rollout is said once', () => {
  const said = (ready: string, held: string) => {
    const conditions = [
      { type: 'Ready', status: 'False', message: ready },
      { type: 'Held', status: 'True', message: held },
    ]
    const rollout = { metadata: { name: 'shop-g2' }, spec: { rings: [] }, status: { conditions } }
    return statusText(rollout as unknown as Rollout)
      .trimEnd()
      .split('\n')
      .slice(2)
  }
  const more = 'Waits for approval of ring early. Released by `flotilla rollout approve`.'
  assert.deepEqual(said('Waits for approval of ring early.', more), [more])
  assert.deepEqual(said('3 of 5 ready.', more), ['3 of 5 ready.', more])
})
