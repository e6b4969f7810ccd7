/**
 * Manual retries: a failed cluster is admitted again, within the budget, and its agent starts the same revision anew.
 */
import type { BundleOnCluster, RolloutAdmission } from './bundle-on-cluster.ts'

/** A request to retry. Without `clusters`, the request is for all failed clusters. */
export interface RetryRequest {
  readonly n: number
  readonly clusters?: readonly string[] | undefined
}

/** The number of the last request for a cluster; 0 when there is none. */
export function latestRetryFor(requests: readonly RetryRequest[]): (cluster: string) => number {
  return (cluster) =>
    requests.reduce((last, { n, clusters }) => (!clusters || clusters.includes(cluster) ? Math.max(last, n) : last), 0)
}

/** Whether a member failed and a request is newer than its failed attempt. */
export function isRetryRequested(
  pair: BundleOnCluster,
  slot: RolloutAdmission | undefined,
  attemptOf: (cluster: string) => number,
): boolean {
  const hasFailed = pair.failed || slot?.failedAt !== undefined
  return hasFailed && pair.free && attemptOf(pair.cluster) > (slot ? (slot.attempt ?? 0) : pair.tried)
}
