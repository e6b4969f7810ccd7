import { hex, sha256 } from '../core/bytes.ts'

/**
 * The audit records form a chain: each hash covers the line and the hash before it, so that a changed, removed or
 * inserted line breaks every hash after it.
 */

/** A line of the audit chain. */
export interface AuditRecord {
  /** Counts from 1 without gaps. */
  readonly sequence: number
  /** The revision of the write it was committed with. */
  readonly revision: number
  readonly line: string
  readonly hash: string
}

/** The hash before the first record. */
export const AUDIT_GENESIS = '0'.repeat(64)

/** The record that follows `previous`. */
export function nextAuditRecord(
  previous: Pick<AuditRecord, 'sequence' | 'hash'>,
  revision: number,
  line: string,
): AuditRecord {
  return { sequence: previous.sequence + 1, revision, line, hash: hashOf(previous.hash, revision, line) }
}

/** The sequence number of the first record that does not follow from the one before it, or undefined when all do. */
export function findAuditBreak(
  records: Iterable<AuditRecord>,
  previous: Pick<AuditRecord, 'sequence' | 'hash'> = { sequence: 0, hash: AUDIT_GENESIS },
): number | undefined {
  let last = previous
  for (const record of records) {
    const expected = nextAuditRecord(last, record.revision, record.line)
    if (record.sequence !== expected.sequence || record.hash !== expected.hash) return expected.sequence
    last = record
  }
  return undefined
}

function hashOf(previousHash: string, revision: number, line: string): string {
  return hex(sha256(`${previousHash}\n${revision}\n${line}`))
}
