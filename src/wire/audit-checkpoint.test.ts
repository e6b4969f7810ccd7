import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTrust } from '../testing/fixtures/wire-builders.ts'
import { lastCheckpointed, verifyCheckpoints, withCheckpoint } from './audit-checkpoint.ts'

const { trust } = buildTrust(1, ['https://hub.example:7444'])
const { trust: other } = buildTrust(2, ['https://hub.example:7444'])
const root = trust.root.keyId
const place = (sequence: number) => ({ sequence, hash: 'a'.repeat(64), time: '2026-01-01T00:00:00Z' })

test('checkpoints are verified from the root key, in order', () => {
  let data: Record<string, string> = {}
  for (const sequence of [10, 9, 200]) data = withCheckpoint(data, place(sequence), trust)
  assert.equal(lastCheckpointed(data), 200)
  const { checkpoints, problems } = verifyCheckpoints(data, root)
  assert.deepEqual([checkpoints.map(({ sequence }) => sequence), problems], [[9, 10, 200], []])
})

test('a checkpoint of another key, of another place or that was changed is not verified', () => {
  const data = withCheckpoint({}, place(10), trust)
  const forged = withCheckpoint({}, place(20), other)
  const cases: readonly [Record<string, string>, RegExp][] = [
    [forged, /the trust of the checkpoints is not valid: the hub's root key is/],
    [{ ...data, 'checkpoint-20': forged['checkpoint-20']! }, /checkpoint 20: /],
    [{ ...data, 'checkpoint-11': data['checkpoint-10']! }, /checkpoint 11 was signed for record 10/],
    [{ ...data, 'checkpoint-12': '{' }, /checkpoint 12: /],
    [{ ...data, 'trust.json': '{}' }, /trust\.json has no root/],
    [{ 'checkpoint-10': data['checkpoint-10']! }, /the trust of the checkpoints is not valid/],
  ]
  for (const [changed, problem] of cases) {
    const { checkpoints, problems } = verifyCheckpoints(changed, root)
    assert.match(problems.join('\n'), problem)
    assert.ok(checkpoints.every(({ sequence }) => sequence === 10))
  }
  assert.deepEqual(verifyCheckpoints({}, root).checkpoints, [])
})

test('the newest hundred are kept', () => {
  let data: Record<string, string> = {}
  for (let at = 1; at <= 130; at++) data = withCheckpoint(data, place(at), trust)
  const { checkpoints } = verifyCheckpoints(data, root)
  assert.deepEqual([checkpoints.length, checkpoints[0]?.sequence], [100, 31])
})
