/**
 * The signed statement beside a report. The agent signs with its identity key which cluster sends which report, and
 * the number of the report since the agent started. The statement travels in a header: the body of a report stays as
 * it was, hubs of version 0.1 ignore the header, and agents of version 0.1 send none.
 */
import type { Static } from 'typebox'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { openEnvelope, PAYLOAD, signEnvelope } from '../trust/envelope.ts'
import type { Signer, TrustedKey } from '../trust/envelope.ts'
import { LIMITS } from '../limits.ts'
import { parseJson, WireError } from '../validate.ts'
import { TIME_PATTERN } from '../wire-schema.ts'

/** Header of a report: the envelope of its statement, as JSON. */
export const STATEMENT_HEADER = 'flotilla-statement'

/** Header of a report that a gateway has kept before; its value is `true`. */
export const KEPT_HEADER = 'flotilla-kept'

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

// Later versions may add fields; this version signs all of these.
const StatementSchema = Type.Object({
  format: Type.Literal('flotilla.dev/report-statement/v1'),
  /** Digest of the hub's root key: a statement for a hub means nothing to another. */
  root: DigestText,
  clusterId: Type.String({ minLength: 1, maxLength: 64 }),
  /** The agent's instance, drawn at every start; see agent-instances.ts. */
  instance: Type.String({ pattern: '^[a-z0-9]{8,40}$' }),
  /**
   * Number of the report within the instance, from 1. It increases when the hub has acknowledged a report, so that a
   * missing number is an acknowledged report that is missing.
   */
  sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** The hub's time as the agent knows it; absent before the first beat. */
  at: Type.Optional(Type.String({ maxLength: 40, pattern: TIME_PATTERN })),
  /** Digest of the report's bytes. */
  report: DigestText,
})

/**
 * What an agent signs about a report.
 *
 *     { format: 'flotilla.dev/report-statement/v1', root: 'sha256:…', clusterId: 'c-1', instance: 'k3…',
 *       sequence: 7, at: '2026-11-18T06:40:00Z', report: 'sha256:…' }
 */
export type ReportStatement = Static<typeof StatementSchema>

/** The value of the header: an envelope signed by the identity key. */
export function signReportStatement(identity: Signer, statement: Omit<ReportStatement, 'format'>): string {
  const whole: ReportStatement = { format: 'flotilla.dev/report-statement/v1', ...statement }
  return fromUtf8(signEnvelope(identity, PAYLOAD.report, utf8(JSON.stringify(whole))))
}

/** The statement of an envelope that the identity key signed; a WireError otherwise. Its size is checked first. */
export function openReportStatement(envelope: string, identity: TrustedKey): ReportStatement {
  // A header is one byte a character.
  if (envelope.length > LIMITS.statementBytes)
    throw new WireError('TooLarge', `report statement is larger than ${LIMITS.statementBytes} bytes`)
  const { payload } = openEnvelope(utf8(envelope), PAYLOAD.report, [identity])
  return parseJson(StatementSchema, payload, { what: 'report statement', maxBytes: LIMITS.statementBytes })
}
