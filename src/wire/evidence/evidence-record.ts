/** The records of evidence that a gateway keeps in its journal: exactly what agents sent and the hub signed. */
import type { Static } from 'typebox'
import { base64, equalBytes, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import { TIME_PATTERN } from '../wire-schema.ts'

const Time = Type.String({ maxLength: 40, pattern: TIME_PATTERN })
const Name = Type.String({ minLength: 1, maxLength: 253 })
const ClusterId = Type.String({ minLength: 1, maxLength: 64 })

/** Bytes as text if that is exact, otherwise in base64. */
const ExactBytes = Type.Object({ text: Type.Optional(Type.String()), base64: Type.Optional(Type.String()) })
export type ExactBytes = Static<typeof ExactBytes>

/** A report that the gateway accepted. */
export const ReportRecord = Type.Object({
  type: Type.Literal('report'),
  cluster: Name,
  clusterId: ClusterId,
  /** Identity key of the cluster (SPKI, base64), as enrolled. */
  identityKey: Type.String({ maxLength: 1024 }),
  /** Time at which the gateway accepted it. */
  at: Time,
  body: ExactBytes,
  /** The signed statement; absent for agents of version 0.1, which do not sign. */
  statement: Type.Optional(Type.String({ maxLength: 64 * 1024 })),
})
export type ReportRecord = Static<typeof ReportRecord>

/** A document that the gateway delivered, or that a report names. */
export const DocumentRecord = Type.Object({
  type: Type.Literal('document'),
  cluster: Name,
  clusterId: ClusterId,
  at: Time,
  /** The signed envelope. */
  envelope: ExactBytes,
})
export type DocumentRecord = Static<typeof DocumentRecord>

/** All versions of the trust bundle, signed by the root key. */
export const TrustRecord = Type.Object({
  type: Type.Literal('trust'),
  at: Time,
  /** Public root key (SPKI, base64). */
  root: Type.String({ maxLength: 1024 }),
  /** Envelopes, oldest first. */
  envelopes: Type.Array(ExactBytes),
})
export type TrustRecord = Static<typeof TrustRecord>

export type EvidenceRecord = ReportRecord | DocumentRecord | TrustRecord

/** Purpose of the journal's streams with these records. */
export const EVIDENCE_PURPOSE = 'evidence'

export function writeExact(bytes: Uint8Array): ExactBytes {
  try {
    const text = fromUtf8(bytes)
    // A byte order mark is not part of the text.
    if (equalBytes(utf8(text), bytes)) return { text }
  } catch {
    // Not UTF-8.
  }
  return { base64: base64(bytes) }
}

export function readExact({ text, base64: encoded }: ExactBytes): Uint8Array {
  return text === undefined ? fromBase64(encoded ?? '') : utf8(text)
}
