// Tested by src/journal/journal-writer.test.ts
/** Stores the segments of a stream: the segment first, then its index, then the head that names both. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Client } from '../client/client.ts'
import { compact } from '../core/compact.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { toError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Lease } from '../kinds/builtin/coordination.ts'
import type { JournalHead } from '../kinds/fields/journal-head.ts'
import { readHead, streamName, writeHead } from './head-lease.ts'
import type { JournalStream } from './head-lease.ts'
import type { Batch } from './record-buffer.ts'
import { beginsIndex, decodeIndex, encodeIndex, encodeSegment, extendIndex } from './segment.ts'
import type { JournalIndex, SegmentHeader } from './segment.ts'

export interface SegmentStorePorts {
  readonly client: Pick<Client, 'get' | 'create' | 'update'>
  readonly blobs: Pick<Blobs, 'put' | 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly stream: JournalStream
  readonly retentionMs: number
  /** Records that each index begins with, so that what an index keeps can be read without older indexes. */
  readonly preamble?: () => readonly JsonObject[]
}

interface Open {
  readonly lease: Lease
  readonly head: JournalHead
  readonly index: JournalIndex | undefined
}

export function createSegmentStore(ports: SegmentStorePorts) {
  const { client, blobs, clock, log, stream } = ports
  const name = streamName(stream)
  const retentionSeconds = Math.ceil(ports.retentionMs / 1000)
  let stored: Open | undefined
  let began: SegmentHeader['began']
  /** Whether a segment says how this writer began. */
  let isBegun = false
  /** The newest try to name a segment; its answer may have been lost. */
  let tried: { readonly segment: Digest; readonly batch: Batch } | undefined

  /** Reads the head and its index, and marks the stream as open. */
  async function open(): Promise<Open> {
    if (stored) return stored
    const found = await readHead(client, stream)
    if (found && !found.head) log.error({}, 'the head of the journal cannot be read; the stream begins again')
    const before = found?.head
    const head: JournalHead = before ?? {
      format: 'flotilla.dev/journal-head/v1',
      stream: name,
      number: 0,
      to: 0,
      retentionSeconds,
      records: 0,
      lost: 0,
      open: true,
    }
    began ??= { at: clock.now(), unclean: found !== undefined && (before?.open ?? true) }
    const index = await readIndex(head.index)
    if (before?.open) return (stored = { lease: found!.lease, head, index })
    const opened = { ...head, open: true }
    const lease = await writeHead(client, stream, opened, { before: found?.lease, now: clock.now() })
    return (stored = { lease, head: opened, index })
  }

  async function readIndex(digest: Digest | undefined): Promise<JournalIndex | undefined> {
    if (digest === undefined) return undefined
    try {
      const bytes = await blobs.get(digest)
      if (bytes) return decodeIndex(bytes)
      log.error({ digest }, 'the newest index of the journal is missing; a new index follows it')
    } catch (caught) {
      log.error({ digest, err: toError(caught) }, 'the newest index of the journal is damaged; a new index follows it')
    }
    return undefined
  }

  /** The batch of an earlier `append` that failed, if the head names it nevertheless. */
  async function recover(): Promise<Batch | undefined> {
    const { head } = await open()
    const before = tried
    tried = undefined
    if (!before || head.segment !== before.segment) return undefined
    isBegun = true
    return before.batch
  }

  /** Stores a batch as a segment; after a failure the batch is stored by a later call, or not at all. */
  async function append(batch: Batch): Promise<void> {
    const { lease, head, index: listed } = await open()
    const extra = beginsIndex(listed) ? (ports.preamble?.() ?? []).map((record) => JSON.stringify(record)) : []
    const records = [...extra, ...batch.lines]
    // A clock that goes back must not make newer records look older than the retention.
    const from = Math.max(head.to, batch.from)
    const to = Math.max(from, batch.to)
    const number = head.number + 1
    const header: Omit<SegmentHeader, 'format' | 'records'> = {
      stream: name,
      number,
      ...compact({ previous: head.segment }),
      from,
      to,
      ...(batch.lost && { lost: batch.lost }),
      ...(began && !isBegun && { began }),
    }
    const bytes = encodeSegment(header, records)
    const segment = await blobs.put(bytes)
    const entry = { number, digest: segment, from, to, records: records.length, bytes: bytes.byteLength }
    const index = extendIndex(name, { index: listed, digest: head.index }, entry)
    const { problem: _solved, ...rest } = head
    const next: JournalHead = {
      ...rest,
      number,
      segment,
      index: await blobs.put(encodeIndex(index)),
      to,
      retentionSeconds,
      records: head.records + records.length,
      lost: head.lost + (batch.lost?.records ?? 0),
      open: true,
    }
    tried = { segment, batch }
    const written = await writeHead(client, stream, next, { before: lease, now: clock.now() })
    stored = { lease: written, head: next, index }
    tried = undefined
    isBegun = true
  }

  return {
    open,
    recover,
    append,
    /** The head may be another now, by another writer or by a try whose answer was lost. */
    reset: (): void => {
      stored = undefined
    },
    /** Says on the head why records wait. */
    async tellProblem(problem: NonNullable<JournalHead['problem']>): Promise<void> {
      const found = await readHead(client, stream)
      if (found?.head)
        await writeHead(client, stream, { ...found.head, problem }, { before: found.lease, now: clock.now() })
    },
    async close(): Promise<void> {
      const { head, lease } = await open()
      await writeHead(client, stream, { ...head, open: false }, { before: lease, now: clock.now() })
      stored = undefined
    },
  }
}
