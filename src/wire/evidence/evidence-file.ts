// Tested by src/wire/evidence/verify-evidence.test.ts
/**
 * The lines of an evidence file: a header, the records of a cluster as they are in the journal, what is known to be
 * missing, and an end that counts the lines before it. The signatures are in the records; the end only shows that the
 * file is complete.
 */
import type { Static } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { TIME_PATTERN } from '../wire-schema.ts'

const Time = Type.String({ maxLength: 40, pattern: TIME_PATTERN })
const Sentence = Type.String({ maxLength: 4096 })

export const EvidenceHeader = Type.Object({
  type: Type.Literal('evidence'),
  format: Type.Literal('flotilla.dev/evidence/v1'),
  /** Name of the cluster. */
  cluster: Type.String({ minLength: 1, maxLength: 253 }),
  exportedAt: Time,
  /** Reports before this time were not asked for. */
  since: Type.Optional(Time),
})
export type EvidenceHeader = Static<typeof EvidenceHeader>

/** What the hub knows to be missing, or may be. */
export const EvidenceGap = Type.Object({
  type: Type.Literal('gap'),
  stream: Type.String({ maxLength: 128 }),
  /** A sentence without a full stop. */
  message: Sentence,
})
export type EvidenceGap = Static<typeof EvidenceGap>

export const EvidenceEnd = Type.Object({
  type: Type.Literal('end'),
  lines: Type.Integer({ minimum: 0 }),
  /** Digest over all lines before. */
  digest: Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' }),
})
export type EvidenceEnd = Static<typeof EvidenceEnd>

/** Counts lines and chains their digests. */
export function createLineCount() {
  let lines = 0
  let digest = digestOf(utf8(''))
  return {
    add(line: string): void {
      lines += 1
      digest = digestOf(utf8(`${digest}\n${line}`))
    },
    end: (): EvidenceEnd => ({ type: 'end', lines, digest }),
  }
}
