// Tested by src/journal/journal-writer.test.ts
/** Reads a stream of the journal back from its head, and finds the blobs that its retention keeps. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { toError } from '../core/errors.ts'
import type { JournalHead } from '../kinds/fields/journal-head.ts'
import { decodeIndex, decodeSegment, JournalError, judgeRetention } from './segment.ts'
import type { IndexedSegment, JournalIndex, SegmentHeader } from './segment.ts'

/** A segment of a stream, or the reason why a part of the stream cannot be read. */
export type JournalPart =
  | { readonly kind: 'Segment'; readonly header: SegmentHeader; readonly records: readonly string[] }
  | { readonly kind: 'Unreadable'; readonly message: string }

type BlobReader = Pick<Blobs, 'get'>

/**
 * The segments of all indexes with records at or after `since`, oldest first: also older records, and always the
 * preamble. A segment that is missing or damaged, or does not follow the segment before it, is said in its place.
 */
export async function* readJournal(
  head: JournalHead,
  blobs: BlobReader,
  { since }: { readonly since: number },
): AsyncGenerator<JournalPart> {
  const indexes: Digest[] = []
  for await (const step of indexesBack(head, blobs, since)) {
    if (step.kind === 'Unreadable') {
      yield { kind: 'Unreadable', message: `${step.message}; segments before it are not known` }
      break
    }
    indexes.push(step.digest)
  }
  let before: IndexedSegment | undefined
  for (const digest of indexes.toReversed()) {
    const index = decodeIndex((await blobs.get(digest))!)
    for (const segment of index.segments) {
      yield await readSegment(head.stream, segment, before, blobs)
      before = segment
    }
  }
}

/** All blobs of a stream that its retention keeps at this time. Damage is an error: the answer would be too short. */
export async function keptBlobs(head: JournalHead, blobs: BlobReader, now: number): Promise<Digest[]> {
  const kept: Digest[] = []
  const since = now - head.retentionSeconds * 1000
  for await (const step of indexesBack(head, blobs, since)) {
    // An index that is gone names nothing. A damaged index would, after a repair.
    if (step.kind === 'Unreadable') {
      if (step.isDamaged) throw new JournalError(step.message)
      break
    }
    kept.push(step.digest, ...step.index.segments.map(({ digest }) => digest))
  }
  return kept
}

type IndexStep =
  | { readonly kind: 'Index'; readonly digest: Digest; readonly index: JournalIndex }
  | { readonly kind: 'Unreadable'; readonly message: string; readonly isDamaged: boolean }

async function* indexesBack(head: JournalHead, blobs: BlobReader, since: number): AsyncGenerator<IndexStep> {
  let digest = head.index
  while (digest !== undefined) {
    let index: JournalIndex
    try {
      const bytes = await blobs.get(digest)
      if (!bytes) {
        yield { kind: 'Unreadable', message: `${head.stream}: index ${digest} is missing`, isDamaged: false }
        return
      }
      index = decodeIndex(bytes)
    } catch (caught) {
      yield {
        kind: 'Unreadable',
        message: `${head.stream}: index ${digest}: ${toError(caught).message}`,
        isDamaged: true,
      }
      return
    }
    const { isKept, goesOn } = judgeRetention(index, { since, isNewest: digest === head.index })
    if (isKept) yield { kind: 'Index', digest, index }
    digest = goesOn ? index.previous : undefined
  }
}

async function readSegment(
  stream: string,
  { number, digest }: IndexedSegment,
  before: IndexedSegment | undefined,
  blobs: BlobReader,
): Promise<JournalPart> {
  const what = `${stream}: segment ${number} (${digest})`
  try {
    const bytes = await blobs.get(digest)
    if (!bytes) return { kind: 'Unreadable', message: `${what} is missing` }
    const { header, records } = decodeSegment(bytes)
    if (header.stream !== stream || header.number !== number)
      return { kind: 'Unreadable', message: `${what} is segment ${header.number} of ${header.stream}` }
    if (before && header.previous !== before.digest)
      return { kind: 'Unreadable', message: `${what} does not follow segment ${before.number} (${before.digest})` }
    return { kind: 'Segment', header, records }
  } catch (caught) {
    return { kind: 'Unreadable', message: `${what}: ${toError(caught).message}` }
  }
}
