/** `status.history` of a Kustomization: the last results, as Flux keeps them. */

/** A result of content: how often and when it was reached. */
export interface KustomizationSnapshot {
  /** Digest of the objects. */
  digest: string
  firstReconciled: string
  lastReconciled: string
  /** Time from the start of the last delivery to its result. */
  lastReconciledDuration: string
  /** Reason of the condition Ready. */
  lastReconciledStatus: string
  totalReconciliations: number
  metadata: { revision: string }
}

/** A result that was reached now. */
export interface ReachedResult {
  readonly digest: string
  readonly status: string
  readonly revision: string
  readonly now: string
  readonly duration: string
}

/** As in Flux. */
const MOST = 5

/** Adds a result, the newest first. The same content with the same result is one entry, which moves to the front. */
export function withResult(
  history: readonly KustomizationSnapshot[],
  { digest, status, revision, now, duration }: ReachedResult,
): KustomizationSnapshot[] {
  const isSame = (one: KustomizationSnapshot): boolean => one.digest === digest && one.lastReconciledStatus === status
  const [newest] = history
  // Nothing was delivered since: a pass that finds the same result is no reconciliation.
  if (newest && isSame(newest) && newest.metadata.revision === revision) return [...history]
  const known = history.find(isSame)
  const next: KustomizationSnapshot = {
    digest,
    firstReconciled: known?.firstReconciled ?? now,
    lastReconciled: now,
    lastReconciledDuration: duration,
    lastReconciledStatus: status,
    totalReconciliations: (known?.totalReconciliations ?? 0) + 1,
    metadata: { revision },
  }
  return [next, ...history.filter((one) => !isSame(one))].slice(0, MOST)
}
