/** Verification of evidence files, for the CLI. */
export { describeEvidence, evidenceVerdict } from '../wire/evidence/describe-evidence.ts'
export { createEvidenceVerifier, EVIDENCE_PASSES } from '../wire/evidence/verify-evidence.ts'
export { keyIdOf } from '../wire/trust/envelope.ts'
