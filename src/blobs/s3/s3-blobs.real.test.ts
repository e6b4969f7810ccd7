/** Blobs in a real S3 server (versitygw), behind a proxy that can be away, slow, or send other bytes. */
import assert from 'node:assert/strict'
import { readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { silentLogger } from '../../core/log.ts'
import { blobsContract } from '../../testing/blobs-contract.ts'
import { startFaultyProxy } from '../../testing/s3/faulty-proxy.ts'
import type { FaultyProxy } from '../../testing/s3/faulty-proxy.ts'
import { startS3Server } from '../../testing/s3/s3-server.ts'
import type { S3Server } from '../../testing/s3/s3-server.ts'
import { collectBlobs } from '../collector.ts'
import { createS3Blobs } from './s3-blobs.ts'
import type { S3Settings } from './s3-settings.ts'
import { openHttpSockets } from './send-http.ts'
import type { HttpSockets } from './send-http.ts'

const never = new AbortController().signal
const pause = (ms: number) => systemClock.sleep(ms)

describe('blobs in S3', { timeout: 600_000 }, () => {
  let server: S3Server
  let proxy: FaultyProxy
  let sockets: HttpSockets
  let count = 0

  before(async () => {
    server = await startS3Server()
    proxy = await startFaultyProxy(server.port)
    sockets = openHttpSockets({})
  })
  after(async () => {
    await sockets.close()
    await proxy.close()
    await server.kill()
  })

  const parts = () => ({ clock: systemClock, ids: systemIds, http: sockets.send })
  const open = (more: Partial<S3Settings> = {}, options: { refreshMs?: number; tries?: number } = {}) =>
    createS3Blobs({ ...parts(), settings: { ...server.settings(`t${count++}/`), ...more }, ...options })
  const proxied = (tries?: number) =>
    open({ endpoint: `http://127.0.0.1:${proxy.port}` }, tries === undefined ? {} : { tries })
  const fileOf = (digest: Digest, test: number) =>
    join(server.folder, `t${test}`, 'sha256', digest.slice(7, 9), digest.slice(7))

  blobsContract('S3', async () => ({ blobs: open(), cleanup: async () => {} }))

  it('names a missing bucket, wrong keys and a wrong region', async () => {
    const wrongBucket = open({ bucket: 'nowhere' }, { tries: 1 })
    await assert.rejects(
      wrongBucket.put(utf8('x')),
      /s3:\/\/nowhere\/t\d+\/sha256\/\w+\/\w+ at http.*: 404 NoSuchBucket/,
    )
    await assert.rejects(wrongBucket.get(digestOf('x')), /404 NoSuchBucket/)
    const credentials = { from: 'values', accessKeyId: 'flotilla-test', secretAccessKey: 'wrong' } as const
    await assert.rejects(open({ credentials }, { tries: 1 }).put(utf8('x')), /403 SignatureDoesNotMatch/)
    const other = { from: 'values', accessKeyId: 'other', secretAccessKey: 'wrong' } as const
    await assert.rejects(
      open({ credentials: other }, { tries: 1 }).get(digestOf('x')),
      /InvalidAccessKeyId|XAdminUserNotFound/,
    )
    await assert.rejects(
      open({ credentials: other }, { tries: 1 }).has(digestOf('x')),
      /InvalidAccessKeyId|XAdminUserNotFound/,
    )
    await assert.rejects(
      open({ region: 'eu-west-9' }, { tries: 1 }).put(utf8('x')),
      /40\d AuthorizationHeaderMalformed|40\d /,
    )
  })

  it('stores a large blob in parts and reads it whole', async () => {
    const bytes = new Uint8Array(40 * 1024 * 1024)
    for (let at = 0; at < bytes.byteLength; at += 4096) bytes[at] = at % 251
    const blobs = open()
    const digest = await blobs.put(bytes)
    assert.equal(digestOf((await blobs.get(digest))!), digest)
    assert.equal(await blobs.put(bytes), digest)
  })

  it('lists more blobs than fit on a page', async () => {
    const blobs = open()
    const digests: Digest[] = []
    for (let at = 0; at < 1100; at += 50) {
      digests.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => blobs.put(utf8(`blob ${at + n}`))))))
    }
    assert.deepEqual((await Array.fromAsync(blobs.list())).sort(), digests.toSorted())
  })

  it('stores while the server is away for some seconds, and says so when it stays away', async () => {
    const blobs = proxied()
    proxy.fault = 'away'
    const storing = blobs.put(utf8('patient'))
    await pause(1500)
    proxy.fault = undefined
    assert.deepEqual(await blobs.get(await storing), utf8('patient'))
    proxy.fault = 'away'
    await assert.rejects(
      proxied(2).put(utf8('x')),
      /^Error: PUT s3:\/\/flotilla\/t\d+\/\S+ at http:\/\/127.0.0.1:\d+: /,
    )
    proxy.fault = undefined
  })

  it('asks again after a server error, a truncated answer and wrong bytes', async () => {
    const blobs = proxied()
    const digest = await blobs.put(utf8('the whole content of a blob'))
    for (const fault of ['error', 'truncate', 'flip'] as const) {
      proxy.once(fault)
      assert.deepEqual(await blobs.get(digest), utf8('the whole content of a blob'), fault)
      assert.equal(proxy.fault, undefined, fault)
    }
    proxy.fault = 'flip'
    await assert.rejects(blobs.get(digest), /is damaged: its bytes have the digest sha256:/)
    proxy.fault = undefined
    proxy.once('drop')
    assert.equal(await blobs.put(utf8('answer lost')), digestOf('answer lost'))
    assert.deepEqual(await blobs.get(digestOf('answer lost')), utf8('answer lost'))
  })

  it('refuses bytes that changed on the way to the server', async () => {
    const blobs = proxied(1)
    proxy.once('flipRequest')
    await assert.rejects(blobs.put(utf8('changed on the way')), /400 (XAmzContentSHA256Mismatch|BadDigest)/)
    assert.equal(await blobs.get(digestOf('changed on the way')), undefined)
  })

  it('notices damage in the bucket, and a put repairs a torn object', async () => {
    const test = count
    const blobs = open()
    const digest = await blobs.put(utf8('whole'))
    await truncate(fileOf(digest, test), 2)
    await assert.rejects(blobs.get(digest), /is damaged/)
    await blobs.put(utf8('whole'))
    assert.deepEqual(await blobs.get(digest), utf8('whole'))
    await writeFile(fileOf(digest, test), 'other')
    await assert.rejects(blobs.get(digest), /is damaged/)
    await rm(fileOf(digest, test))
    assert.equal(await blobs.get(digest), undefined)
  })

  it('collects what nothing names, and nothing that was stored again', async () => {
    const test = count
    const blobs = open({}, { refreshMs: 1000 })
    const [old, kept, again] = await Promise.all(['old', 'kept', 'again'].map((text) => blobs.put(utf8(text))))
    await pause(7000)
    await blobs.put(utf8('again'))
    const fresh = await blobs.put(utf8('fresh'))
    const options = { blobs, roots: async () => [kept!], clock: systemClock, log: silentLogger, graceMs: 3000 }
    assert.equal(await collectBlobs(options, never), 1)
    assert.deepEqual(new Set(await Array.fromAsync(blobs.list())), new Set([kept, again, fresh]))
    assert.equal(await blobs.get(old!), undefined)
    assert.deepEqual(
      await readdir(join(server.folder, `t${test}`, 'collecting')).catch(() => []),
      [],
      'no flag is left',
    )
    await assert.rejects(blobs.collect(kept!, systemClock.now() - 1000), /kept for at least 2000 ms/)
  })

  it('keeps a blob that is stored again between the look and the delete of a collector', async () => {
    // The collector reads an old age, and its delete is held back until another hub has stored the blob again.
    const settings = server.settings(`t${count++}/`)
    const store = createS3Blobs({ ...parts(), settings, refreshMs: 1000 })
    const digest = await store.put(utf8('needed again'))
    await pause(7000)
    const storedAgain = Promise.withResolvers<void>()
    const looked = Promise.withResolvers<void>()
    const collector = createS3Blobs({
      ...parts(),
      settings,
      refreshMs: 1000,
      http: async (request, signal) => {
        if (request.method === 'DELETE' && request.path.includes('/sha256/')) {
          looked.resolve()
          await storedAgain.promise
        }
        return await sockets.send(request, signal)
      },
    })
    const collecting = collector.collect(digest, systemClock.now() - 3000)
    await looked.promise
    const storing = store.put(utf8('needed again'))
    // The put has refreshed the blob and waits, because the flag of the collector is up; now the delete arrives.
    await pause(1500)
    storedAgain.resolve()
    assert.equal(await collecting, true)
    assert.equal(await storing, digest)
    assert.deepEqual(await store.get(digest), utf8('needed again'))
    await collector.endCollecting!()
  })

  it('has a delete refused that arrives late', async () => {
    const settings = server.settings(`t${count++}/`)
    const store = createS3Blobs({ ...parts(), settings, refreshMs: 1000 })
    const digest = await store.put(utf8('held back'))
    await pause(7000)
    const collector = createS3Blobs({
      ...parts(),
      settings,
      refreshMs: 1000,
      http: async (request, signal) => {
        if (request.method === 'DELETE' && request.path.includes('/sha256/')) await pause(8000)
        return await sockets.send(request, signal)
      },
    })
    assert.equal(await collector.collect(digest, systemClock.now() - 3000), false)
    assert.deepEqual(await store.get(digest), utf8('held back'))
    await collector.endCollecting!()
  })

  it('uses the time of the server when the clock of this machine is wrong', async () => {
    const slow = { ...systemClock, now: () => systemClock.now() - 3_600_000 }
    const blobs = createS3Blobs({ ...parts(), clock: slow, settings: server.settings(`t${count++}/`) })
    assert.deepEqual(await blobs.get(await blobs.put(utf8('an hour behind'))), utf8('an hour behind'))
  })
})
