/**
 * Blobs in a bucket of an S3 server, for hubs that share no file system.
 *
 * A server signs nothing off that has another digest than the signed one, so a stored object is whole; each read is
 * verified as well. The collector and a `put` of the same old blob must not miss each other, and S3 has no delete that
 * depends on an age. The order of steps, all times by the clock of the server:
 *
 *     collector: raise flag ─▶ read age ─▶ delete, refused by the server after 5 s
 *     put:       store again (age 0) ─▶ is a flag up? ─▶ no: done; yes: wait 10 s, then look again
 *
 * A collector that raised its flag after the look reads the new age. A collector that raised it before has no valid
 * delete after the wait.
 */
import { digestOf, isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { invariant } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseHttpDate, parseTime } from '../../core/time/time.ts'
import type { CollectableBlobs } from '../blobs.ts'
import { createS3Client } from './s3-client.ts'
import type { S3Answer, S3Client, S3Request } from './s3-client.ts'
import type { S3Settings } from './s3-settings.ts'
import type { SendHttp } from './send-http.ts'
import { elementText, elementTexts } from './xml-text.ts'
import { uploadParts } from './upload-parts.ts'

export interface S3BlobsOptions {
  readonly settings: S3Settings
  readonly clock: Clock
  readonly ids: Pick<Ids, 'fraction' | 'uid'>
  readonly http: SendHttp
  /** A blob is stored again once it is this old. The collector keeps blobs that are younger than twice this time. */
  readonly refreshMs?: number
  /** Number of tries of a request. */
  readonly tries?: number
}

const BLOBS = 'sha256/'
const FLAGS = 'collecting/'
const REFRESH_MS = 3_600_000
/** No blob is larger; sources and sets have lower limits. */
const MAX_BLOB_BYTES = 1024 * 1024 * 1024
/** Above this size, a look at what is there costs less than sending the bytes. */
const LOOK_FIRST_BYTES = 64 * 1024
/** Above this size, a blob is sent in parts: a lost connection costs one of them. */
const PARTS_ABOVE_BYTES = 32 * 1024 * 1024
/** The server refuses a delete that arrives later. */
const DELETE_SECONDS = 5
/** Longer than a delete is valid. */
const WAIT_MS = 10_000
/** A collector raises its flag again after this time; a flag without a collector counts no longer than `FLAG_MS`. */
const FLAG_AGAIN_MS = 4 * 60_000
const FLAG_MS = 10 * 60_000
const ROUNDS = 5

/** What is stored under a key. */
interface Stored {
  readonly bytes: number
  /** Time since it was stored, by the server's clock. */
  readonly ageMs: number
  /** The server's time. */
  readonly at: number
}

export function createS3Blobs(options: S3BlobsOptions): CollectableBlobs {
  const { clock, ids, refreshMs = REFRESH_MS } = options
  const client = createS3Client(options)
  const flags = createFlags(client, ids.uid())
  const reads = createReads(client)
  const { look } = reads
  let isUnanswered = false

  /** Stores the bytes whether they are there or not; the age begins anew. */
  async function write(digest: Digest, bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > PARTS_ABOVE_BYTES) return await uploadParts(client, keyOf(digest), bytes)
    await succeed(client, { method: 'PUT', key: keyOf(digest), body: bytes })
  }

  /** True if this call stored the blob, false if it is there. */
  async function create(digest: Digest, bytes: Uint8Array): Promise<boolean> {
    if (bytes.byteLength > LOOK_FIRST_BYTES) {
      if (await look(digest)) return false
      await write(digest, bytes)
      return true
    }
    const request: S3Request = {
      method: 'PUT',
      key: keyOf(digest),
      headers: { 'if-none-match': '*' },
      body: bytes,
    }
    const answer = await client.send(request)
    if (answer.status === 200) return true
    if (answer.status === 412) return false
    // A server without conditional writes: the bytes of a digest are always the same.
    if (answer.status === 501) return await write(digest, bytes).then(() => true)
    throw client.refusal(request, answer)
  }

  async function put(given: Uint8Array): Promise<Digest> {
    invariant(given.byteLength <= MAX_BLOB_BYTES, `a blob has at most ${MAX_BLOB_BYTES} bytes`)
    const bytes = given.slice()
    const digest = digestOf(bytes)
    for (let round = 0; round < ROUNDS; round++) {
      if (await create(digest, bytes)) return digest
      const stored = await look(digest)
      if (!stored) continue
      if (stored.bytes === bytes.byteLength && stored.ageMs < refreshMs) return digest
      await write(digest, bytes)
      if (!(await flags.isAnyUp())) return digest
      await clock.sleep(WAIT_MS)
      if (await look(digest)) return digest
    }
    throw new Error(`blob ${digest} was deleted while it was stored in ${client.url}; try again`)
  }

  return {
    put,
    get: reads.get,
    has: reads.has,
    async *list() {
      for await (const { key } of listKeys(client, BLOBS)) {
        const digest = `sha256:${key.slice(key.lastIndexOf('/') + 1)}`
        if (isDigest(digest)) yield digest
      }
    },
    async delete(digest) {
      await succeed(client, { method: 'DELETE', key: keyOf(digest) })
    },
    async collect(digest, before) {
      const graceMs = clock.now() - before
      invariant(graceMs >= 2 * refreshMs, `blobs are kept for at least ${2 * refreshMs} ms in a bucket`)
      let stored = await raisedLook(digest)
      if (stored && !flags.isOurUp(stored.at)) stored = await raisedLook(digest)
      if (!stored || stored.ageMs <= graceMs || !flags.isOurUp(stored.at)) return false
      const request: S3Request = {
        method: 'DELETE',
        key: keyOf(digest),
        once: { at: stored.at, seconds: DELETE_SECONDS },
      }
      isUnanswered = true
      const answer = await client.send(request)
      isUnanswered = answer.status >= 500
      if (answer.status === 204 || answer.status === 200) return true
      // Too late by the server's clock: the next pass looks again.
      if (answer.status === 403 && /expired/i.test(new TextDecoder().decode(answer.body))) return false
      throw client.refusal(request, answer)
    },
    async endCollecting() {
      // A delete without an answer may still arrive.
      if (isUnanswered) await clock.sleep(WAIT_MS)
      isUnanswered = false
      await flags.lower()
    },
  }

  async function raisedLook(digest: Digest): Promise<Stored | undefined> {
    await flags.raise()
    return await look(digest)
  }
}

/** Reads of one bucket; what is read is what its name says. */
function createReads(client: S3Client) {
  async function look(digest: Digest): Promise<Stored | undefined> {
    const request: S3Request = { method: 'HEAD', key: keyOf(digest) }
    const answer = await client.send(request)
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw client.refusal(request, answer)
    return storedOf(answer)
  }

  async function read(digest: Digest): Promise<Uint8Array | undefined> {
    const request: S3Request = { method: 'GET', key: keyOf(digest), maxBytes: MAX_BLOB_BYTES }
    const answer = await client.send(request)
    if (answer.status === 404 && answer.code === 'NoSuchKey') return undefined
    if (answer.status !== 200) throw client.refusal(request, answer)
    const { buffer, byteOffset, byteLength } = answer.body
    return new Uint8Array(buffer, byteOffset, byteLength)
  }

  return {
    look,
    async get(digest: Digest): Promise<Uint8Array | undefined> {
      const first = await read(digest)
      if (!first || digestOf(first) === digest) return first
      // Between here and the bucket something may have changed the bytes; what is stored may be whole.
      const second = await read(digest)
      if (!second || digestOf(second) === digest) return second
      throw new Error(
        `blob ${digest} is damaged: its bytes have the digest ${digestOf(second)}; restore ${client.url}/${keyOf(digest)} from an earlier version or a backup of the bucket`,
      )
    },
    async has(digest: Digest): Promise<boolean> {
      // Not HEAD: its 404 has no body that tells a missing object from a missing bucket or account.
      const headers = { range: 'bytes=0-0' }
      const request: S3Request = { method: 'GET', key: keyOf(digest), headers, maxBytes: MAX_BLOB_BYTES }
      const answer = await client.send(request)
      if (answer.status === 404 && answer.code === 'NoSuchKey') return false
      // An empty object has no first byte: 416.
      if (answer.status === 206 || answer.status === 200 || answer.status === 416) return true
      throw client.refusal(request, answer)
    },
  }
}

/** The flags of collectors at work, as objects in the bucket. */
function createFlags(client: S3Client, uid: string) {
  const key = `${FLAGS}${uid}`
  /** When ours was raised, by the server's clock. */
  let raisedAt: number | undefined
  let lookedAt = 0

  return {
    async raise(): Promise<void> {
      if (raisedAt !== undefined && lookedAt - raisedAt < FLAG_AGAIN_MS) return
      const { at } = await succeed(client, { method: 'PUT', key, body: utf8('a collector of blobs is at work\n') })
      ;[raisedAt, lookedAt] = [at, at]
    },
    /** Whether our flag counts for others at this time of the server, and for the time of a delete. */
    isOurUp(at: number): boolean {
      lookedAt = at
      return raisedAt !== undefined && at - raisedAt < FLAG_AGAIN_MS
    },
    async lower(): Promise<void> {
      if (raisedAt === undefined) return
      await succeed(client, { method: 'DELETE', key })
      raisedAt = undefined
    },
    async isAnyUp(): Promise<boolean> {
      for await (const { modified, at } of listKeys(client, FLAGS)) if (at - modified < FLAG_MS) return true
      return false
    },
  }
}

interface ListedKey {
  readonly key: string
  readonly modified: number
  /** The server's time. */
  readonly at: number
}

/** All keys that begin with this, without the prefix of the settings. */
async function* listKeys(client: S3Client, prefix: string): AsyncGenerator<ListedKey> {
  let token: string | undefined
  do {
    const request: S3Request = {
      method: 'GET',
      query: {
        'list-type': '2',
        prefix: client.keyPrefix + prefix,
        ...(token !== undefined && { 'continuation-token': token }),
      },
      maxBytes: 16 * 1024 * 1024,
    }
    const answer = await succeed(client, request)
    const xml = fromUtf8(answer.body)
    for (const entry of elementTexts(xml, 'Contents')) {
      const key = elementText(entry, 'Key')
      const modified = parseTime(elementText(entry, 'LastModified') ?? '')
      if (key === undefined || modified === undefined) throw new Error(`${client.url}: a list has an entry without key`)
      yield { key: key.slice(client.keyPrefix.length), modified, at: answer.at }
    }
    const isMore = elementText(xml, 'IsTruncated')
    token = isMore === 'true' ? elementText(xml, 'NextContinuationToken') : undefined
    // A list that ends too early would look like a bucket with fewer blobs.
    if ((isMore === 'true') !== (token !== undefined) || isMore === undefined) {
      throw new Error(`${client.url}: a list does not say whether it is complete`)
    }
  } while (token !== undefined)
}

async function succeed(client: S3Client, request: S3Request): Promise<S3Answer> {
  const answer = await client.send(request)
  if (answer.status < 200 || answer.status > 299) throw client.refusal(request, answer)
  return answer
}

function storedOf({ headers, at }: S3Answer): Stored {
  const bytes = readWholeNumber(String(headers['content-length'] ?? ''))
  const modified = parseHttpDate(String(headers['last-modified'] ?? ''))
  invariant(bytes !== undefined && modified !== undefined, 'an object has a length and a time')
  return { bytes, ageMs: at - modified, at }
}

// No key is ever made from anything but a well-formed digest.
function keyOf(digest: Digest): string {
  invariant(isDigest(digest), `${JSON.stringify(digest)} is not a digest`)
  const name = digest.slice('sha256:'.length)
  return `${BLOBS}${name.slice(0, 2)}/${name}`
}
