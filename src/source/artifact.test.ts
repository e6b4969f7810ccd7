import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { readTree, storeTree } from './artifact.ts'

const file = (path: string) => ({ path, digest: digestOf(path), size: 1 })

function counted() {
  const blobs = createMemoryBlobs()
  const reads: Digest[] = []
  const get = (digest: Digest) => {
    reads.push(digest)
    return blobs.get(digest)
  }
  return { put: (bytes: Uint8Array) => blobs.put(bytes), get, reads }
}

test('the list of an artifact is sorted, and read once for all who ask', async () => {
  const blobs = counted()
  const { digest } = await storeTree([file('b'), file('a')], blobs)
  const [first, second] = [await readTree(digest, blobs), await readTree(digest, blobs)]
  assert.deepEqual(
    first?.files.map(({ path }) => path),
    ['a', 'b'],
  )
  assert.equal(second, first)
  assert.deepEqual(blobs.reads, [digest])
})

test('a list that is not stored is looked for again, and each store has its own', async () => {
  const [one, other] = [counted(), counted()]
  const { digest } = await storeTree([file('a')], one)
  assert.equal(await readTree(digest, other), undefined)
  await storeTree([file('a')], other)
  assert.equal((await readTree(digest, other))?.files.length, 1)
})

test('the lists that were read last are kept, and no more', async () => {
  const blobs = counted()
  const all: Digest[] = []
  for (let at = 0; at < 9; at++) all.push((await storeTree([file(`f${at}`)], blobs)).digest)
  for (const digest of all) await readTree(digest, blobs)
  await readTree(all[8]!, blobs)
  assert.equal(blobs.reads.length, 9)
  await readTree(all[0]!, blobs)
  assert.equal(blobs.reads.length, 10)
})

test('a blob that is no list is an error', async () => {
  const blobs = counted()
  const digest = await blobs.put(utf8('{}'))
  await assert.rejects(readTree(digest, blobs), /is no artifact/)
})
