/** The audit chain for those who only read it. */
export { AUDIT_GENESIS, findAuditBreak } from '../store/audit-chain.ts'
export type { AuditRecord } from '../store/audit-chain.ts'
