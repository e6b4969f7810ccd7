/**
 * The format of a journal: segments of records, and indexes of segments. A segment is one line of JSON and its records,
 * one line of JSON each, compressed. It names the segment before it by digest, so that no record can be changed or
 * taken out without changing all later digests. An index lists up to 64 segments and names the index before it:
 * readers and the blob collector go back index by index, and read only the segments they need.
 */
import type { Static, TSchema } from 'typebox'
import { concatBytes, fromUtf8, unzstd, utf8, zstd } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { firstSchemaProblem } from '../core/schema/check-schema.ts'
import { Type } from '../core/schema/typebox.ts'

/** Bytes that should be a part of a journal and are not. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}

/** The most segments of an index. */
export const INDEX_SEGMENTS = 64
/** The most bytes of a segment's records, uncompressed. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024
const MAX_HEADER_BYTES = 64 * 1024
const MAX_INDEX_BYTES = 1024 * 1024

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
const Moment = Type.Integer({ minimum: 0 })
const StreamName = Type.String({ minLength: 1, maxLength: 128 })

const HeaderSchema = Type.Object({
  format: Type.Literal('flotilla.dev/segment/v1'),
  stream: StreamName,
  /** From 1, without gaps. */
  number: Type.Integer({ minimum: 1 }),
  /** Digest of the segment before; absent at the first. */
  previous: Type.Optional(DigestText),
  /** Times of the first and last record, in milliseconds since 1970. Later segments never go back. */
  from: Moment,
  to: Moment,
  records: Count,
  /** Records that found the buffer full before this segment. */
  lost: Type.Optional(Type.Object({ records: Type.Integer({ minimum: 1 }), from: Moment, to: Moment })),
  /** Present in the first segment after a start of its writer. */
  began: Type.Optional(
    Type.Object({
      at: Moment,
      /** True if the writer before ended without closing: records of its last minute may be missing. */
      unclean: Type.Boolean(),
    }),
  ),
})
export type SegmentHeader = Readonly<Static<typeof HeaderSchema>>

const IndexSchema = Type.Object({
  format: Type.Literal('flotilla.dev/journal-index/v1'),
  stream: StreamName,
  /** Digest of the index before. */
  previous: Type.Optional(DigestText),
  segments: Type.Array(
    Type.Object({
      number: Type.Integer({ minimum: 1 }),
      digest: DigestText,
      from: Moment,
      to: Moment,
      records: Count,
      bytes: Count,
    }),
    { minItems: 1, maxItems: INDEX_SEGMENTS },
  ),
})
export type JournalIndex = Readonly<Static<typeof IndexSchema>>
export type IndexedSegment = JournalIndex['segments'][number]

/** A segment's bytes; each record is one line of JSON. */
export function encodeSegment(
  header: Omit<SegmentHeader, 'format' | 'records'>,
  records: readonly string[],
): Uint8Array {
  const whole: SegmentHeader = { format: 'flotilla.dev/segment/v1', ...header, records: records.length }
  return concatBytes([utf8(`${JSON.stringify(whole)}\n`), zstd(utf8(records.join('\n')))])
}

/** The header and the lines of a segment; a JournalError if the bytes are not a segment. */
export function decodeSegment(bytes: Uint8Array): {
  readonly header: SegmentHeader
  readonly records: readonly string[]
} {
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf(0x0a)
  if (end < 0) throw new JournalError('segment has no header')
  const header = parse(HeaderSchema, bytes.subarray(0, end), 'segment')
  let text: string
  try {
    text = fromUtf8(unzstd(bytes.subarray(end + 1), MAX_RECORD_BYTES))
  } catch {
    throw new JournalError(`segment ${header.number} of ${header.stream}: its records cannot be decompressed`)
  }
  const records = header.records === 0 ? [] : text.split('\n')
  if (records.length !== header.records)
    throw new JournalError(
      `segment ${header.number} of ${header.stream} has ${records.length} records, not ${header.records}`,
    )
  return { header, records }
}

export function encodeIndex(index: JournalIndex): Uint8Array {
  return utf8(JSON.stringify(index))
}

/** The index of these bytes; a JournalError if they are not an index. */
export function decodeIndex(bytes: Uint8Array): JournalIndex {
  if (bytes.byteLength > MAX_INDEX_BYTES) throw new JournalError(`index is larger than ${MAX_INDEX_BYTES} bytes`)
  return parse(IndexSchema, bytes, 'index')
}

/** Whether the next segment begins a new index. */
export function beginsIndex(index: JournalIndex | undefined): boolean {
  return index === undefined || index.segments.length >= INDEX_SEGMENTS
}

/** The index with one more segment; a full index is followed by a new one. */
export function extendIndex(
  stream: string,
  current: { readonly index: JournalIndex | undefined; readonly digest: Digest | undefined },
  segment: IndexedSegment,
): JournalIndex {
  const { index, digest } = current
  const format = 'flotilla.dev/journal-index/v1'
  if (index && !beginsIndex(index)) return { ...index, segments: [...index.segments, segment] }
  return { format, stream, ...compact({ previous: digest }), segments: [segment] }
}

/**
 * Whether the retention keeps an index with its segments, and whether the index before it can be kept. Indexes are kept
 * or forgotten whole, so that the preamble is there with the records that need it. The newest index is always kept, so
 * that the chain has an end.
 */
export function judgeRetention(
  index: JournalIndex,
  { since, isNewest }: { readonly since: number; readonly isNewest: boolean },
): { readonly isKept: boolean; readonly goesOn: boolean } {
  return {
    isKept: isNewest || index.segments.at(-1)!.to >= since,
    goesOn: index.previous !== undefined && index.segments[0]!.from >= since,
  }
}

function parse<S extends TSchema>(schema: S, bytes: Uint8Array, what: string): Static<S> {
  let value: unknown
  try {
    value = JSON.parse(fromUtf8(bytes))
  } catch {
    throw new JournalError(`${what} is not JSON`)
  }
  const problem = firstSchemaProblem(schema, value)
  if (problem === undefined) return value as Static<S>
  throw new JournalError(`${what}${problem.path.map((name) => `.${name}`).join('')}: ${problem.message}`)
}
