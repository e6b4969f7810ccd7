// Tested by src/wire/evidence/verify-evidence.test.ts
/** The reports of an evidence file: signatures, numbers, receipts, and the documents that they are about. */
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Report } from '../link/frames.ts'
import { openReportStatement } from '../link/report-statement.ts'
import type { ReportStatement } from '../link/report-statement.ts'
import { LIMITS } from '../limits.ts'
import { checkValue, parseJson, WireError } from '../validate.ts'
import { readExact, ReportRecord } from './evidence-record.ts'
import { missingNumbers } from './missing-numbers.ts'
import { readKey } from './verify-documents.ts'
import type { createDocumentVerifier } from './verify-documents.ts'

/** A removal that a verified report confirms. */
export interface VerifiedReceipt {
  readonly bundle: string
  readonly generation: number
  readonly state: string
  readonly at: string | undefined
}

export function createReportVerifier(root: Digest, documents: ReturnType<typeof createDocumentVerifier>) {
  const clusterIds = new Set<string>()
  const identityKeys = new Set<Digest>()
  const receipts = new Map<string, VerifiedReceipt>()
  const sequences = new Map<string, Set<number>>()
  const unproven: string[] = []
  /** Digest of each document that a report is about → its epoch and revision. */
  const named = new Map<Digest, string>()
  const unsigned: Pick<ReportRecord, 'clusterId' | 'at'>[] = []
  /** Cluster id → time of its first signed report. */
  const signedSince = new Map<string, string>()
  let count = 0
  let from: string | undefined
  let to: string | undefined

  function noteTime({ at }: ReportStatement): void {
    if (at === undefined) return
    from = from === undefined || at < from ? at : from
    to = to === undefined || at > to ? at : to
  }

  function noteContent(body: Uint8Array): void {
    const report = parseJson(Report, body, { what: 'report', maxBytes: LIMITS.reportBytes })
    if (report.document !== undefined) named.set(report.document, `epoch ${report.epoch} revision ${report.revision}`)
    for (const { bundle, generation, state, at } of report.removals ?? []) {
      if (state === 'Removed' || state === 'Orphaned')
        receipts.set(`${bundle} ${generation}`, { bundle, generation, state, at })
    }
  }

  return {
    read(value: unknown): void {
      const record = checkValue(ReportRecord, value, 'report')
      const { clusterId, at } = record
      clusterIds.add(clusterId)
      if (record.statement === undefined) {
        unsigned.push({ clusterId, at })
        return
      }
      const key = readKey(record.identityKey)
      const statement = openReportStatement(record.statement, key)
      const body = readExact(record.body)
      checkStatement(statement, { root, clusterId, report: digestOf(body) })
      if (!documents.confirmsKey(clusterId, key.keyId)) {
        const which = `report ${statement.sequence} of agent instance ${statement.instance}`
        unproven.push(`${which}: no document of the file names its key ${key.keyId}`)
        return
      }
      identityKeys.add(key.keyId)
      count += 1
      noteTime(statement)
      noteContent(body)
      const since = signedSince.get(clusterId)
      if (since === undefined || at < since) signedSince.set(clusterId, at)
      const instance = `${clusterId} ${statement.instance}`
      sequences.set(instance, (sequences.get(instance) ?? new Set()).add(statement.sequence))
    },
    summary: () => ({
      clusterIds: [...clusterIds],
      reports: { count, from, to },
      receipts: [...receipts.values()],
      identityKeys: [...identityKeys],
      unsigned: unsigned.length,
    }),
    unproven(): string[] {
      const late = unsigned.filter(({ clusterId, at }) => at > (signedSince.get(clusterId) ?? at)).length
      if (late === 0) return unproven
      const those = late === 1 ? '1 report without a signature is' : `${late} reports without a signature are`
      const cause = 'the agent was downgraded to version 0.1, or the signature was removed'
      return [...unproven, `${those} newer than signed reports: ${cause}`]
    },
    missing: (): string[] => [
      ...missingNumbers(sequences),
      ...[...named]
        .filter(([digest]) => !documents.has(digest))
        .map(([digest, what]) => `document ${digest} (${what}), which reports are about, is not in the file`),
    ],
  }
}

/** A statement must be about this report of this cluster for this hub. */
function checkStatement(
  statement: ReportStatement,
  { root, clusterId, report }: Pick<ReportStatement, 'root' | 'clusterId' | 'report'>,
): void {
  const refuse = (why: string) => new WireError('BadSignature', `report ${why}`)
  if (statement.root !== root) throw refuse(`is signed for the hub with root key ${statement.root}`)
  if (statement.clusterId !== clusterId)
    throw refuse(`is signed by cluster ${statement.clusterId}, filed as one of ${clusterId}`)
  if (statement.report !== report) throw refuse(`has the digest ${report}, its signature is of ${statement.report}`)
}
