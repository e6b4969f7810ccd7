import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { headLine, ringLines, statusText } from './print-rollout.ts'

const NOW = Date.parse('2026-11-16T00:05:00Z')

test('the message of a hold is printed once', () => {
  const said = (ready: string, held: string) => {
    const conditions = [
      { type: 'Ready', status: 'False', message: ready },
      { type: 'Held', status: 'True', message: held },
    ]
    const rollout = { metadata: { name: 'shop-g2' }, spec: { rings: [] }, status: { conditions } }
    return statusText(rollout as unknown as Rollout, NOW)
      .trimEnd()
      .split('\n')
      .slice(2)
  }
  const more = 'Waits for approval of ring early. Approve it with `flotilla rollout approve`.'
  assert.deepEqual(said('Waits for approval of ring early.', more), [more])
  assert.deepEqual(said('3 of 5 ready.', more), ['3 of 5 ready.', more])
})

test('a removal counts the clusters without the Bundle', () => {
  const head = (spec: object) => {
    const status = { phase: 'Progressing', counts: { total: 3, ready: 1 } }
    return headLine({ metadata: { name: 'shop-g2' }, spec, status } as unknown as Rollout)
  }
  assert.equal(head({}), 'shop-g2  Progressing  1 of 3 ready')
  assert.equal(head({ removal: { bundle: 'shop', clusters: [] } }), 'shop-g2  Progressing  1 of 3 removed')
})

test('a ring that passed without a change needs no approval', () => {
  const approvals = { count: 1, noSelfApproval: false }
  const lines = (state: object) =>
    ringLines(
      {
        spec: { rings: [{ name: 'early', approvals }] },
        status: { rings: [{ name: 'early', members: 2, ready: 2, ...state }] },
      } as unknown as Rollout,
      NOW,
    )
  const passedAt = '2026-11-16T00:00:00Z'
  assert.equal(lines({ passedAt }), ` ✔ early   2/2   passed 5m ago`)
  assert.equal(lines({}), ' … early   2/2   needs approval')
  const approvedBy = [{ author: 'ana' }]
  assert.equal(lines({ openedAt: passedAt, approvedBy, passedAt }), ` ✔ early   2/2   approved by ana, passed 5m ago`)
})

test('a ring names why it does not wait for clusters, and its numbers add up', () => {
  const line = (state: object) =>
    ringLines(
      {
        spec: { rings: [{ name: 'lab' }] },
        status: { rings: [{ name: 'lab', members: 9, ready: 2, ...state }] },
      } as unknown as Rollout,
      NOW,
    )
  const excusedFor = { offline: 1, frozen: 2, held: 1, notBuilt: 2 }
  assert.equal(
    line({ failed: 3, excused: 6, excusedFor }),
    ' … lab   2/9  ✗ 1  ◌ 1 offline  ❄ 2 frozen  ⏸ 1 held  ✎ 2 not built',
  )
  assert.equal(line({ failed: 0, excused: 4 }), ' … lab   2/9  – 4 excused', 'a Rollout of 0.1 does not say why')
})

test('who has the release and who is connected now are two numbers', () => {
  const counts = { total: 60, ready: 55, progressing: 0, pending: 0, failed: 1, offline: 4 }
  const head = (states?: object) =>
    headLine({
      metadata: { name: 'shop-g1' },
      spec: {},
      status: { phase: 'Completed', counts: { ...counts, ...(states ? { states } : {}) } },
    } as unknown as Rollout)
  assert.equal(head({ Ready: 46, Offline: 13, Failed: 1 }), 'shop-g1  Completed  55 of 60 ready  13 offline now')
  assert.equal(head({ Ready: 60 }), 'shop-g1  Completed  55 of 60 ready')
  assert.equal(head(), 'shop-g1  Completed  55 of 60 ready')
})
