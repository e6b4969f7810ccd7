/** The audit chain for callers that only read it. */
export { AUDIT_GENESIS, findAuditBreak } from '../store/audit-chain.ts'
export { CHECKPOINTS, lastCheckpointed, verifyCheckpoints } from '../wire/audit-checkpoint.ts'
export type { VerifiedCheckpoints } from '../wire/audit-checkpoint.ts'
export { keyIdOf } from '../wire/trust/envelope.ts'
export type { AuditRecord } from '../store/audit-chain.ts'
