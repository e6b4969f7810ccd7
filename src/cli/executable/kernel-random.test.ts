import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kernelRandom } from './kernel-random.ts'

test('draws as many bytes as asked for, and others each time', () => {
  for (const device of ['/dev/urandom', '/dev/null', import.meta.filename, '/dev/null/nothing']) {
    const [one, other] = [kernelRandom(32, device), kernelRandom(32, device)]
    assert.deepEqual([one.length, other.length], [32, 32], device)
    assert.notDeepEqual(one, other, device)
    assert.ok(new Set(one).size > 8, `${device}: ${one.join(' ')}`)
  }
  assert.equal(kernelRandom(0).length, 0)
  assert.equal(kernelRandom(100_000).length, 100_000)
})
