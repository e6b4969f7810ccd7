import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CollectableBlobs } from '../blobs/blobs.ts'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { createClient } from '../client/create-client.ts'
import type { Transport } from '../core/http.ts'
import { silentLogger } from '../core/log.ts'
import { Lease } from '../kinds/builtin/coordination.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createFakeApi, refuse } from '../testing/hub/fake-api.ts'
import { listHeads, readHead } from './head-lease.ts'
import { keptBlobs, readJournal } from './journal-reader.ts'
import { createJournalWriter } from './journal-writer.ts'
import type { JournalWriterOptions } from './journal-writer.ts'
import type { SegmentHeader } from './segment.ts'

const STREAM = { purpose: 'test', writer: '0' }
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/flotilla-system/leases/flotilla-journal-test-0'
const DAY_MS = 86_400_000

function createWorld() {
  const clock = createVirtualClock()
  const api = createFakeApi()
  const blobs = createMemoryBlobs(clock)
  const client = createClient({ transport: api.transport, clock })
  const ids = createSeededIds('journal')

  function start(changes: Partial<JournalWriterOptions> = {}) {
    const life = new AbortController()
    const ports = { client, blobs, clock, ids, log: silentLogger }
    const writer = createJournalWriter({ ...ports, stream: STREAM, retentionMs: 10 * DAY_MS, ...changes })
    const running = writer.run(life.signal)
    return {
      ...writer,
      stop: async () => {
        life.abort()
        await running
      },
    }
  }

  const head = async () => (await readHead(client, STREAM))!.head!

  /** Headers and records, oldest first; `Unreadable` messages in their place. */
  async function read(since = 0, from: Pick<CollectableBlobs, 'get'> = blobs) {
    const headers: SegmentHeader[] = []
    const records: unknown[] = []
    const problems: string[] = []
    for await (const part of readJournal(await head(), from, { since })) {
      if (part.kind === 'Unreadable') problems.push(part.message)
      else {
        headers.push(part.header)
        records.push(...part.records.map((line) => JSON.parse(line) as unknown))
      }
    }
    return { headers, records, problems }
  }

  const writes = () => api.requests.filter((request) => !request.startsWith('GET'))
  return { clock, api, blobs, client, start, head, read, writes }
}

describe('the writer of a journal', () => {
  it('stores records within a minute, and writes nothing while there are none', async () => {
    const world = createWorld()
    const { clock } = world
    const writer = world.start()
    await clock.advance(3_600_000)
    assert.equal(world.writes().length, 1, 'the stream was opened once')
    const ticket = writer.append({ n: 1 })!
    await clock.advance(59_000)
    assert.equal(writer.isDurable(ticket), false)
    assert.equal(writer.stats().lagMs, 59_000)
    writer.append({ n: 2 })
    await clock.advance(1_000)
    assert.equal(writer.isDurable(ticket), true)
    assert.deepEqual((await world.read()).records, [{ n: 1 }, { n: 2 }])
    assert.equal(world.writes().length, 2)
    await clock.advance(3_600_000)
    assert.equal(world.writes().length, 2)
    const { waiting, lagMs, written, lost } = writer.stats()
    assert.deepEqual({ waiting, lagMs, written, lost }, { waiting: 0, lagMs: 0, written: 2, lost: 0 })
  })

  it('writes at once when there is much', async () => {
    const world = createWorld()
    const writer = world.start({ segmentChars: 100 })
    await world.clock.settle()
    for (let n = 0; n < 12; n++) writer.append({ n, text: 'x'.repeat(20) })
    await world.clock.advance(10)
    assert.ok(writer.stats().written >= 9, String(writer.stats().written))
    await world.clock.advance(60_000)
    const { headers, records } = await world.read()
    assert.deepEqual(
      records.map((record) => (record as { n: number }).n),
      Array.from({ length: 12 }, (_, n) => n),
    )
    assert.ok(headers.length >= 4, String(headers.length))
  })

  it('chains each segment to the one before it, over many indexes and restarts', async () => {
    const world = createWorld()
    let writer = world.start({ preamble: () => [{ preamble: true }] })
    for (let n = 0; n < 150; n++) {
      writer.append({ n })
      await world.clock.advance(60_000)
      if (n % 40 !== 39) continue
      await writer.stop()
      writer = world.start({ preamble: () => [{ preamble: true }] })
    }
    const { headers, records, problems } = await world.read()
    assert.deepEqual(problems, [])
    assert.equal(headers.length, 150)
    for (const [place, header] of headers.entries()) assert.equal(header.number, place + 1)
    assert.equal(records.filter((record) => 'preamble' in (record as object)).length, 3, 'one for each index')
    assert.deepEqual(
      headers.filter(({ began }) => began).map(({ number, began }) => [number, began!.unclean]),
      [
        [1, false],
        [41, false],
        [81, false],
        [121, false],
      ],
    )
    assert.equal((await world.head()).records, 153)
  })

  it('says that its predecessor did not end cleanly, and loses only what waited', async () => {
    const world = createWorld()
    const first = world.start()
    first.append({ n: 1 })
    await world.clock.advance(60_000)
    first.append({ n: 2 })
    // The first writer is never stopped: as a process that was killed.
    const second = world.start()
    second.append({ n: 3 })
    await second.stop()
    const { headers, records } = await world.read()
    assert.deepEqual(records, [{ n: 1 }, { n: 3 }])
    assert.deepEqual(
      headers.map(({ began }) => began?.unclean),
      [false, true],
    )
    assert.equal((await world.head()).open, false)
  })

  it('keeps records while blobs or the API fail, says so on the head, and stores them once', async () => {
    const world = createWorld()
    let isFull = true
    const full = {
      ...world.blobs,
      put: async (bytes: Uint8Array) =>
        isFull ? Promise.reject(new Error('ENOSPC: no space left on device')) : world.blobs.put(bytes),
    }
    const writer = world.start({ blobs: full })
    writer.append({ n: 1 })
    await world.clock.advance(300_000)
    assert.equal((await world.head()).problem?.message, 'ENOSPC: no space left on device')
    assert.ok(writer.stats().lagMs >= 300_000)
    const before = world.writes().length
    await world.clock.advance(300_000)
    assert.equal(world.writes().length, before, 'the problem is said once')
    isFull = false
    await world.clock.advance(60_000)
    assert.deepEqual((await world.read()).records, [{ n: 1 }])
    assert.equal((await world.head()).problem, undefined)
    world.api.intercept(({ method }) => (method === 'PUT' ? refuse('ServiceUnavailable', 'not now') : undefined))
    writer.append({ n: 2 })
    await world.clock.advance(120_000)
    world.api.intercept(undefined)
    await world.clock.advance(60_000)
    assert.deepEqual((await world.read()).records, [{ n: 1 }, { n: 2 }])
    assert.equal((await world.head()).number, 2)
  })

  it('stores records once when the answer to the write of the head is lost', async () => {
    const world = createWorld()
    const writer = world.start()
    await world.clock.advance(1_000)
    let isLost = false
    const deaf = createClient({
      clock: world.clock,
      transport: async (request, signal) => {
        const answer = await world.api.transport(request, signal)
        if (request.method === 'PUT' && isLost) {
          isLost = false
          throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
        }
        return answer
      },
    })
    await writer.stop()
    const second = world.start({ client: deaf })
    await world.clock.advance(1_000)
    second.append({ n: 1 })
    isLost = true
    await world.clock.advance(120_000)
    assert.equal(isLost, false)
    assert.deepEqual((await world.read()).records, [{ n: 1 }])
    assert.equal(second.stats().written, 1)
    assert.equal((await world.head()).records, 1)
  })

  it('counts records that find the buffer full, and says how many and when', async () => {
    const world = createWorld()
    let isFull = true
    const full = {
      ...world.blobs,
      put: async (bytes: Uint8Array) => (isFull ? Promise.reject(new Error('ENOSPC')) : world.blobs.put(bytes)),
    }
    const writer = world.start({ blobs: full, bufferChars: 100 })
    await world.clock.advance(1_000)
    const at = world.clock.now()
    const taken = Array.from({ length: 30 }, (_, n) => writer.append({ n }))
    const lost = taken.filter((ticket) => ticket === undefined).length
    assert.ok(lost > 10 && lost < 30, String(lost))
    assert.equal(writer.hasRoom(), false)
    await world.clock.advance(120_000)
    isFull = false
    await world.clock.advance(120_000)
    assert.equal(writer.hasRoom(), true)
    const { headers, records } = await world.read()
    assert.deepEqual(headers[0]!.lost, { records: lost, from: at, to: at })
    assert.equal(records.length, 30 - lost)
    assert.equal((await world.head()).lost, lost)
    assert.equal(writer.stats().lost, lost)
    writer.append({ n: 30 })
    await writer.stop()
    assert.equal((await world.read()).headers.at(-1)!.lost, undefined)
    assert.equal((await world.head()).lost, lost)
  })

  it('takes turns with another writer of its name, without breaking the chain', async () => {
    const world = createWorld()
    const [one, two] = [world.start(), world.start()]
    for (let n = 0; n < 5; n++) {
      one.append({ one: n })
      two.append({ two: n })
      await world.clock.advance(180_000)
    }
    const { records, problems, headers } = await world.read()
    assert.deepEqual(problems, [])
    assert.equal(records.length, 10)
    assert.equal(headers.at(-1)!.number, headers.length)
  })

  it('does not let a clock that went back make records look old', async () => {
    const world = createWorld()
    const writer = world.start()
    writer.append({ n: 1 })
    await world.clock.advance(60_000)
    world.clock.jumpWall(-30 * DAY_MS)
    writer.append({ n: 2 })
    await world.clock.advance(60_000)
    const { headers } = await world.read()
    assert.ok(headers[1]!.from >= headers[0]!.to)
  })

  it('ends soon also if the API never answers', async () => {
    const world = createWorld()
    let isSilent = false
    const transport: Transport = (request, signal) =>
      isSilent ? new Promise(() => {}) : world.api.transport(request, signal)
    const client = createClient({ transport, clock: world.clock, timeoutMs: 600_000 })
    const writer = world.start({ client })
    await world.clock.settle()
    isSilent = true
    writer.append({ n: 1 })
    await world.clock.advance(70_000)
    let isStopped = false
    void writer.stop().then(() => (isStopped = true))
    await world.clock.advance(5_000)
    assert.ok(isStopped)
  })

  it('begins again when its head cannot be read, and does not hide it', async () => {
    const world = createWorld()
    await world.start().stop()
    const lease = await world.client.get(Lease, { namespace: 'flotilla-system', name: 'flotilla-journal-test-0' })
    const annotations = { 'flotilla.dev/journal-head': '{}' }
    world.api.put(LEASE, { ...lease, metadata: { ...lease.metadata, annotations } })
    await assert.rejects(listHeads(world.client, 'test'), /is not the head of a journal; restore the annotation/)
    const writer = world.start()
    writer.append({ n: 1 })
    await world.clock.advance(60_000)
    const { headers } = await world.read()
    assert.deepEqual(
      headers.map(({ began }) => began?.unclean),
      [true],
    )
  })
})

describe('the retention of a journal', () => {
  it('forgets old segments and no others, whatever their records name', async () => {
    const world = createWorld()
    const writer = world.start({ retentionMs: 10 * DAY_MS })
    for (let n = 0; n < 200; n++) {
      writer.append({ n, speaksOf: `sha256:${'1'.repeat(64)}` })
      await world.clock.advance(DAY_MS / 8)
    }
    const kept = new Set(await keptBlobs(await world.head(), world.blobs, world.clock.now()))
    for await (const digest of world.blobs.list()) if (!kept.has(digest)) await world.blobs.delete(digest)
    const { records, problems } = await world.read(world.clock.now() - 10 * DAY_MS)
    const numbers = records.map((record) => (record as { n: number }).n)
    assert.deepEqual(problems, [])
    assert.equal(numbers.at(-1), 199)
    assert.ok(numbers.length >= 80 && numbers.length <= 80 + 64, `80 in ten days, and whole indexes: ${numbers.length}`)
    assert.equal(kept.size, numbers.length + 3, 'and three indexes')
    writer.append({ n: 200 })
    await writer.stop()
    assert.equal((await world.head()).number, 201, 'the stream goes on')
  })

  it('keeps the newest segment of a stream that is silent for years', async () => {
    const world = createWorld()
    const writer = world.start()
    writer.append({ n: 1 })
    await writer.stop()
    const head = await world.head()
    const kept = await keptBlobs(head, world.blobs, world.clock.now() + 4000 * DAY_MS)
    assert.deepEqual(new Set(kept), new Set([head.index, head.segment]))
  })
})

describe('the reader of a journal', () => {
  it('says which segment is missing, damaged or out of its chain, and reads the others', async () => {
    const world = createWorld()
    const writer = world.start()
    for (let n = 0; n < 3; n++) {
      writer.append({ n })
      await world.clock.advance(60_000)
    }
    const { headers } = await world.read()
    const second = headers[2]!.previous!
    const replaced = (bytes: Uint8Array | undefined) => ({
      get: async (digest: string) => (digest === second ? bytes : world.blobs.get(digest as never)),
    })
    const missing = await world.read(0, replaced(undefined))
    assert.deepEqual(missing.records, [{ n: 0 }, { n: 2 }])
    assert.match(missing.problems[0]!, /test-0: segment 2 \(sha256:.*\) is missing/)
    const first = await world.blobs.get(headers[1]!.previous!)
    assert.match((await world.read(0, replaced(first))).problems[0]!, /segment 2 .* is segment 1 of test-0/)
    assert.match((await world.read(0, replaced(new Uint8Array(3)))).problems[0]!, /segment 2 .*: segment has no header/)
    const noIndex = { get: async () => undefined }
    assert.match(
      (await world.read(0, noIndex)).problems[0]!,
      /index sha256:.* is missing; segments before it are not known/,
    )
    const damaged = { get: async () => Promise.reject(new Error('blob is damaged')) }
    await assert.rejects(keptBlobs(await world.head(), damaged, 0), /blob is damaged/)
    assert.deepEqual(await keptBlobs(await world.head(), noIndex, 0), [])
  })
})
