// Tested by src/cli/commands/evidence/evidence.test.ts
/** The evidence of a cluster as lines of a file: what the journal has, as it was written, and what it lacks. */
import type { Blobs } from '../../blobs/blobs.ts'
import { compact } from '../../core/compact.ts'
import { digestOf, isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import { formatDuration } from '../../core/time/duration.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { readJournal } from '../../journal/journal-reader.ts'
import type { SegmentHeader } from '../../journal/segment.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import { readTrustedDocument } from '../../wire/document/signed-document.ts'
import { createLineCount } from '../../wire/evidence/evidence-file.ts'
import type { EvidenceGap, EvidenceHeader } from '../../wire/evidence/evidence-file.ts'
import { readExact, writeExact } from '../../wire/evidence/evidence-record.ts'
import type { DocumentRecord, EvidenceRecord, ReportRecord } from '../../wire/evidence/evidence-record.ts'

export interface ExportRequest {
  /** Name of the cluster. */
  readonly cluster: string
  /** Time in milliseconds; reports before it are left out. */
  readonly since?: number | undefined
  readonly now: number
}

/** The lines of the file, each without its line break. */
export async function* exportEvidence(
  heads: readonly JournalHead[],
  blobs: Pick<Blobs, 'get'>,
  { cluster, since, now }: ExportRequest,
): AsyncGenerator<string> {
  const count = createLineCount()
  const documents = new Set<Digest>()
  /** Digest of each document that an exported report is about → the report. */
  const wanted = new Map<Digest, ReportRecord>()
  const trust = new Set<string>()
  const counted = (line: string): string => {
    count.add(line)
    return line
  }
  const header: EvidenceHeader = compact({
    type: 'evidence',
    format: 'flotilla.dev/evidence/v1',
    cluster,
    exportedAt: formatTime(now),
    since: since === undefined ? undefined : formatTime(since),
  })
  yield counted(JSON.stringify(header))

  /** The line of a record, if it belongs to the file. */
  function chosen(line: string): string | undefined {
    // Most records are of other clusters, and parsing costs more than this look.
    if (line.startsWith('{"type":"trust"')) return addTrust(line)
    if (!line.includes(JSON.stringify(cluster))) return undefined
    const record = JSON.parse(line) as Exclude<EvidenceRecord, { type: 'trust' }>
    if (record.cluster !== cluster) return undefined
    if (record.type === 'document') return addDocument(record) ? line : undefined
    if (record.type !== 'report' || (since !== undefined && (parseTime(record.at) ?? now) < since)) return undefined
    const about = documentOf(record)
    if (about !== undefined) wanted.set(about, record)
    return line
  }
  function addTrust(line: string): string | undefined {
    const { root, envelopes } = JSON.parse(line) as { root: string; envelopes: unknown }
    const key = JSON.stringify([root, envelopes])
    if (trust.has(key)) return undefined
    trust.add(key)
    return line
  }
  function addDocument({ envelope }: DocumentRecord): boolean {
    const digest = digestOf(readExact(envelope))
    if (documents.has(digest)) return false
    documents.add(digest)
    return true
  }

  for (const head of heads) {
    let isFirst = true
    for await (const part of readJournal(head, blobs, { since: since ?? 0 })) {
      if (part.kind === 'Unreadable') {
        yield counted(gapLine(head.stream, part.message))
        continue
      }
      for (const message of gapsOf(head, part.header, isFirst && since === undefined)) {
        yield counted(gapLine(head.stream, message))
      }
      isFirst = false
      for (const line of part.records) {
        const own = chosen(line)
        if (own !== undefined) yield counted(own)
      }
    }
  }
  // A document that was delivered long ago is in the blob store while it is in force.
  for (const [digest, { clusterId, at }] of wanted) {
    const envelope = documents.has(digest) ? undefined : await blobs.get(digest).catch(() => undefined)
    if (!envelope || readTrustedDocument(envelope)?.clusterId !== clusterId) continue
    const record: DocumentRecord = { type: 'document', cluster, clusterId, at, envelope: writeExact(envelope) }
    yield counted(JSON.stringify(record))
  }
  yield JSON.stringify(count.end())
}

/** What the header of a segment says about records that are missing before it. */
function gapsOf({ stream, retentionSeconds }: JournalHead, header: SegmentHeader, isFirst: boolean): string[] {
  const { number, from, lost, began } = header
  const kept = formatDuration(retentionSeconds * 1000)
  return [
    ...(isFirst && number > 1
      ? [`records of ${stream} before ${formatTime(from)} are forgotten: the retention is ${kept}`]
      : []),
    ...(lost
      ? [
          `${lost.records} records of ${stream}, of any cluster, were lost to a full buffer between ${formatTime(lost.from)} and ${formatTime(lost.to)}`,
        ]
      : []),
    ...(began?.unclean
      ? [
          `the gateway of ${stream} was killed before ${formatTime(began.at)}; reports of its last minute may be missing`,
        ]
      : []),
  ]
}

function gapLine(stream: string, message: string): string {
  const gap: EvidenceGap = { type: 'gap', stream, message: message.slice(0, 4096) }
  return JSON.stringify(gap)
}

/** The document that a report is about. */
function documentOf({ body }: ReportRecord): Digest | undefined {
  try {
    const report: unknown = JSON.parse(new TextDecoder().decode(readExact(body)))
    const document = isObject(report) ? report['document'] : undefined
    return isDigest(document) ? document : undefined
  } catch {
    return undefined
  }
}

/** The lines as bytes of an answer. */
export async function* toBytes(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield utf8(`${line}\n`)
}
