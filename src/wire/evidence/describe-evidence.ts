// Tested by src/wire/evidence/verify-evidence.test.ts
/** The result of a verification in words: what is proven, what is not, and what is missing. */
import { plural } from '../../core/text/name-some.ts'
import type { EvidenceResult } from './verify-evidence.ts'

/** How a result ends a verification: `Refused` if something does not match or cannot be proven. */
export function evidenceVerdict(
  result: EvidenceResult,
  { isStrict }: { readonly isStrict: boolean },
): { readonly isAccepted: boolean; readonly message: string } {
  const { tampered, unproven, missing, unsigned, reports } = result
  if (tampered.length > 0) return { isAccepted: false, message: 'the evidence does not verify' }
  if (unproven.length > 0)
    return { isAccepted: false, message: 'the evidence has reports that it cannot prove: see unproven' }
  if (isStrict && (missing.length > 0 || unsigned > 0))
    return { isAccepted: false, message: 'the evidence is intact, but not complete: see missing and unsigned' }
  if (reports.count === 0) return { isAccepted: true, message: 'the file is intact and has no signed report' }
  const gaps = missing.length > 0 || unsigned > 0 ? ', apart from what is missing or unsigned' : ''
  return { isAccepted: true, message: `the evidence verifies${gaps}` }
}

/** Lines for people, in order: verified, unsigned, missing, unproven, tampered. */
export function describeEvidence(result: EvidenceResult): string[] {
  const { cluster, clusterIds, root, trustVersions, documents, reports, receipts, identityKeys, unsigned } = result
  const first = documents[0]
  const last = documents.at(-1)
  const ids = clusterIds.length > 0 ? `, ID ${clusterIds.join(' and ')}; the signatures cover the ID` : ''
  const times = reports.from === undefined ? '' : `, from ${reports.from} to ${reports.to}`
  return [
    `cluster ${JSON.stringify(cluster)}${ids}`,
    ...(trustVersions.length === 0
      ? []
      : [
          `verified: ${plural(trustVersions.length, 'trust bundle', 'trust bundles')}, newest version ${trustVersions.at(-1)}, signed by root key ${root}`,
        ]),
    ...(first && last
      ? [
          `verified: ${plural(documents.length, 'document', 'documents')}, epoch ${first.epoch} revision ${first.revision} to epoch ${last.epoch} revision ${last.revision}, signed by signers of the trust bundles`,
        ]
      : []),
    ...(reports.count === 0
      ? []
      : [
          `verified: ${plural(reports.count, 'report', 'reports')}${times}, signed by ${identityKeys.map((key) => `identity key ${key}`).join(' and ')}, which the documents name`,
        ]),
    ...receipts.map(
      ({ bundle, generation, state, at }) =>
        `verified: receipt: ${bundle} generation ${generation} ${state}${at === undefined ? '' : ` at ${at}`}`,
    ),
    ...(unsigned === 0
      ? []
      : [
          `unsigned: ${plural(unsigned, 'report', 'reports')}; agents of version 0.1 do not sign, and the file alone does not prove them`,
        ]),
    ...result.missing.map((sentence) => `missing: ${sentence}`),
    ...result.unproven.map((sentence) => `unproven: ${sentence}`),
    ...result.tampered.map((sentence) => `does not verify: ${sentence}`),
  ]
}
