import assert from 'node:assert/strict'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { base64, utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { silentLogger } from '../core/log.ts'
import { systemIds } from '../core/system-ids.ts'
import { collectBlobs } from './collector.ts'
import { createFileBlobs } from './file-blobs.ts'
import { createMemoryBlobs } from './memory-blobs.ts'

const never = new AbortController().signal
const json = (value: unknown) => utf8(JSON.stringify(value))
const at = (now: number) => ({ now: () => now, monotonicMs: () => now, sleep: async () => {} })

describe('the collector of blobs', () => {
  it('keeps what a document reaches through its sets, and not its predecessors', async () => {
    const blobs = createMemoryBlobs()
    const object = await blobs.put(json({ kind: 'ConfigMap', image: `x@sha256:${'1'.repeat(64)}` }))
    const values = await blobs.put(json({ format: 'flotilla.dev/values/v1', box: 'x' }))
    const sealed = await blobs.put(json({ format: 'flotilla.dev/sealed/v1', boxes: {} }))
    const set = await blobs.put(json({ format: 'flotilla.dev/set/v1', objects: [{ digest: object }], values }))
    const oldSealed = await blobs.put(json({ format: 'flotilla.dev/sealed/v1', boxes: { to: 'an older key' } }))
    const document = (more: object) =>
      json({
        payloadType: 'x',
        payload: base64(json({ format: 'flotilla.dev/document/v1', ...more })),
        signatures: [],
      })
    const oldSet = await blobs.put(json({ format: 'flotilla.dev/set/v1', objects: [] }))
    const oldest = await blobs.put(document({ content: { entries: [{ set: oldSet, sealed: oldSealed }] } }))
    const previous = await blobs.put(document({ previous: oldest, content: { entries: [{ set, sealed }] } }))
    const newest = await blobs.put(document({ previous, content: { entries: [{ set }], tombstones: [] } }))
    const odd = await blobs.put(json({ format: 'flotilla.dev/set/v9', parts: [newest] }))
    const lost = await blobs.put(utf8('lost'))
    const roots = async () => [previous, odd]
    const options = { blobs, roots, clock: at(1000), log: silentLogger, graceMs: 10 }
    assert.equal(await collectBlobs(options, never), 4)
    const left = await Array.fromAsync(blobs.list())
    assert.deepEqual(left.sort(), [object, values, sealed, set, previous, newest, odd].sort())
    assert.equal(await blobs.has(lost), false)
  })

  it('keeps leaves, and nothing that they name', async () => {
    const blobs = createMemoryBlobs()
    const named = await blobs.put(json({ format: 'flotilla.dev/set/v1', objects: [] }))
    const segment = await blobs.put(utf8(`{"format":"flotilla.dev/segment/v1","previous":"${named}"}\n`))
    const options = { blobs, roots: async () => [], clock: at(1000), log: silentLogger, graceMs: 10 }
    assert.equal(await collectBlobs({ ...options, leaves: async () => [segment] }, never), 1)
    assert.deepEqual(await Array.fromAsync(blobs.list()), [segment])
    const unknown = async (): Promise<Digest[]> => Promise.reject(new Error('list failed'))
    await assert.rejects(collectBlobs({ ...options, leaves: unknown }, never))
    assert.deepEqual(await Array.fromAsync(blobs.list()), [segment])
  })

  it('deletes nothing when it cannot know everything', async () => {
    const blobs = createMemoryBlobs()
    await blobs.put(utf8('x'))
    const clock = at(1000)
    const unknown = async (): Promise<Digest[]> => Promise.reject(new Error('list failed'))
    await assert.rejects(collectBlobs({ blobs, roots: unknown, clock, log: silentLogger, graceMs: 0 }, never))
    const damaged = { ...blobs, get: async () => Promise.reject(new Error('damaged')) }
    const [digest] = await Array.fromAsync(blobs.list())
    const roots = async () => [digest!]
    await assert.rejects(collectBlobs({ blobs: damaged, roots, clock, log: silentLogger, graceMs: 0 }, never))
    assert.equal((await Array.fromAsync(blobs.list())).length, 1)
  })

  it('files: what was stored again within the grace period stays', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-collect-'))
    const blobs = createFileBlobs({ folder, ids: systemIds })
    const [old, again] = [await blobs.put(utf8('old')), await blobs.put(utf8('again'))]
    const fresh = await blobs.put(utf8('fresh'))
    const fileOf = (digest: Digest) => join(folder, digest.slice(7, 9), digest.slice(9, 11), digest.slice(7))
    for (const digest of [old, again]) await utimes(fileOf(digest), 1000, 1000)
    await blobs.put(utf8('again'))
    const options = { blobs, roots: async () => [], clock: at(3_000_000), log: silentLogger, graceMs: 1000 }
    assert.equal(await collectBlobs(options, never), 1)
    assert.deepEqual((await Array.fromAsync(blobs.list())).sort(), [again, fresh].sort())
    assert.equal(await blobs.get(old), undefined)
    assert.equal(await blobs.collect(old, 3_000_000), false)
    await blobs.put(utf8('old'))
    assert.ok(await blobs.get(old))
    await rm(folder, { recursive: true })
  })
})
