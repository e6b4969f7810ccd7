import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthTokenIn, judgeGrowth } from './growth-guard.ts'

const judged = (added: number, of: number, limit?: number, release?: string) =>
  judgeGrowth({ added, of, limit, generation: 3, change: { placement: 'stores' }, release })

test('more than a thousand, and more than double', () => {
  const cases: readonly [number, number, number | undefined, string][] = [
    [1000, 0, undefined, 'Free'],
    [1001, 0, undefined, 'Held'],
    [1001, 1000, undefined, 'Held'],
    [1001, 1001, undefined, 'Free'],
    [9000, 10_000, undefined, 'Free'],
    [11, 0, 10, 'Held'],
    [1, 0, 0, 'Held'],
    [0, 0, 0, 'Free'],
    [5000, 0, 5000, 'Free'],
  ]
  for (const [added, of, limit, kind] of cases) assert.equal(judged(added, of, limit).kind, kind, `${added} to ${of}`)
})

test('a token releases the change, also when clusters join meanwhile, and no other change', () => {
  const held = judged(1200, 0)
  assert.ok(held.kind === 'Held')
  assert.equal(
    held.message,
    'The change would add 1,200 bundles on clusters, and there is none yet; at most 1,000 can be added at once, or as many as there are.',
  )
  assert.match(held.token, /^g3-grow-[0-9a-f]{8}$/)
  assert.equal(growthTokenIn(`(token ${held.token})`), held.token)
  assert.equal(judged(1300, 4, undefined, held.token).kind, 'Released')
  const other = { added: 1200, of: 0, generation: 3, change: { placement: 'all' }, release: held.token }
  assert.equal(judgeGrowth(other).kind, 'Held')
  assert.equal(judgeGrowth({ ...other, change: { placement: 'stores' }, generation: 4 }).kind, 'Held')
})
