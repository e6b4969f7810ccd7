import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDocument } from '../../../wire/document/cluster-document.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import { createReceipts } from './receipts.ts'

const ROW = { bundle: 'default/shop', generation: 1, state: 'Removing' } as RemovalRow
const DONE = { ...ROW, state: 'Removed' } as RemovalRow
const DOCUMENT = { content: { entries: [], tombstones: [{ bundle: ROW.bundle }] } } as unknown as ClusterDocument

/** Keeps receipts as a cluster does: who has not seen what is there cannot write over it. */
function keeper() {
  let kept: readonly RemovalRow[] | undefined
  let hasSeen = false
  const self = {
    isAnswerLost: false,
    kept: () => kept,
    readReceipts: async (): Promise<RemovalRow[]> => {
      hasSeen = kept !== undefined
      return [...(kept ?? [])]
    },
    writeReceipts: async (rows: readonly RemovalRow[]): Promise<void> => {
      if (kept !== undefined && !hasSeen) throw new Error('AlreadyExists')
      kept = rows
      hasSeen = !self.isAnswerLost
      if (self.isAnswerLost) throw new Error('connection reset')
    },
  }
  return self
}

test('a receipt is written although the answer to the write before it was lost', async () => {
  const state = keeper()
  const receipts = createReceipts(state, { onChange: () => {} })
  await receipts.align(DOCUMENT, new AbortController().signal)
  state.isAnswerLost = true
  await assert.rejects(receipts.note(ROW, true), /connection reset/)
  assert.deepEqual(receipts.rows(), [], 'a receipt that is not written is not reported')
  state.isAnswerLost = false
  await receipts.note(DONE, true)
  assert.deepEqual(state.kept(), [DONE])
  assert.deepEqual(receipts.rows(), [DONE])
})
