/**
 * The head of a journal stream: an annotation of a Lease in the namespace of the hub. It names the newest index of the
 * stream; the records are in blobs. See docs/inside/journal.md.
 */
import type { Static } from 'typebox'
import type { Digest } from '../../core/crypto/digest.ts'
import { firstSchemaProblem } from '../../core/schema/check-schema.ts'
import { Type } from '../../core/schema/typebox.ts'

/** Namespace of the Leases. */
export const JOURNAL_NAMESPACE = 'flotilla-system'

/** Label of the Leases; its value is the purpose of the stream, for example `evidence`. */
export const JOURNAL_LABEL = 'flotilla.dev/journal'

/** The annotation that holds the head. */
export const JOURNAL_ANNOTATION = 'flotilla.dev/journal-head'

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
/** Milliseconds since 1970. */
const Moment = Type.Integer({ minimum: 0 })

// Later versions may add fields.
const Schema = Type.Object({
  format: Type.Literal('flotilla.dev/journal-head/v1'),
  /** Name of the stream, `<purpose>-<writer>`. */
  stream: Type.String({ minLength: 1, maxLength: 128 }),
  /** Number of the newest segment; 0 while the stream is empty. */
  number: Count,
  segment: Type.Optional(DigestText),
  index: Type.Optional(DigestText),
  /** Time of the newest record. */
  to: Moment,
  /** How long records are kept. */
  retentionSeconds: Type.Integer({ minimum: 1 }),
  /** Records in the journal, and records that found its buffer full, since the stream began. */
  records: Count,
  lost: Count,
  /** False after its writer closed the stream; a writer that finds it true was not the last to end cleanly. */
  open: Type.Boolean(),
  /** Why the newest records are not in blobs yet. */
  problem: Type.Optional(
    Type.Object({ since: Moment, message: Type.String({ maxLength: 1024 }), waiting: Type.Optional(Count) }),
  ),
})
export type JournalHead = Readonly<Static<typeof Schema>>

/** Name of the Lease of a stream. */
export function journalLeaseName(stream: string): string {
  return `flotilla-journal-${stream}`
}

/** The annotation's text. */
export function formatJournalHead(head: JournalHead): string {
  return JSON.stringify(head)
}

/** Reads the annotation; undefined if it is absent or not a head. */
export function parseJournalHead(text: string | undefined): JournalHead | undefined {
  if (text === undefined || text.length > 64 * 1024) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return firstSchemaProblem(Schema, value) === undefined ? (value as JournalHead) : undefined
}
