import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Blobs } from '../blobs/blobs.ts'
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'

/** Blobs under test and how to end them. */
export interface BlobsUnderTest {
  readonly blobs: Blobs
  cleanup(): Promise<void>
}

/** What every implementation of Blobs promises, as tests. */
export function blobsContract(name: string, open: () => Promise<BlobsUnderTest>): void {
  describe(`blobs contract: ${name}`, () => {
    let blobs: Blobs
    let cleanup: () => Promise<void>
    beforeEach(async () => {
      const opened = await open()
      blobs = opened.blobs
      cleanup = () => opened.cleanup()
    })
    afterEach(() => cleanup())

    const all = async () => (await Array.fromAsync(blobs.list())).sort()

    it('gives back what was put, under its digest', async () => {
      const bytes = utf8('one object')
      const digest = await blobs.put(bytes)
      assert.equal(digest, digestOf(bytes))
      assert.deepEqual(await blobs.get(digest), bytes)
      assert.equal(await blobs.has(digest), true)
    })

    it('keeps empty and large blobs', async () => {
      const large = new Uint8Array(3_000_000).fill(7)
      for (const bytes of [new Uint8Array(), large]) assert.deepEqual(await blobs.get(await blobs.put(bytes)), bytes)
    })

    it('answers undefined for what it does not have', async () => {
      const digest = digestOf('never put')
      assert.equal(await blobs.get(digest), undefined)
      assert.equal(await blobs.has(digest), false)
      await blobs.delete(digest)
    })

    it('stores the same bytes once, however often and concurrently they come', async () => {
      const digests = await Promise.all(Array.from({ length: 10 }, () => blobs.put(utf8('same'))))
      assert.equal(new Set(digests).size, 1)
      assert.deepEqual(await all(), [digestOf('same')])
    })

    it('lists and deletes', async () => {
      const digests = await Promise.all(['a', 'b', 'c'].map((text) => blobs.put(utf8(text))))
      assert.deepEqual(await all(), [...digests].sort())
      await blobs.delete(digests[1]!)
      assert.equal(await blobs.has(digests[1]!), false)
      assert.deepEqual(await all(), [digests[0]!, digests[2]!].sort())
    })

    it('is not changed by a caller who reuses its buffer', async () => {
      const buffer = utf8('before')
      const digest = await blobs.put(buffer)
      buffer.fill(0)
      assert.deepEqual(await blobs.get(digest), utf8('before'))
      ;(await blobs.get(digest))!.fill(0)
      assert.deepEqual(await blobs.get(digest), utf8('before'))
    })
  })
}
