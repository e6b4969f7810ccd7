/** Trying again: a person asks, and who failed is admitted once more, as the budget allows; its agent begins the same anew. */
import type { BundleOnCluster, RolloutAdmission } from './bundle-on-cluster.ts'

/** A request to try again: its number, and for which clusters; for all that failed without them. */
export interface RetryRequest {
  readonly n: number
  readonly clusters?: readonly string[] | undefined
}

/** The last request that is about a cluster; 0 when there is none. */
export function latestRetryFor(requests: readonly RetryRequest[]): (cluster: string) => number {
  return (cluster) =>
    requests.reduce((last, { n, clusters }) => (!clusters || clusters.includes(cluster) ? Math.max(last, n) : last), 0)
}

/** Whether a pair failed and is to be tried again: somebody asked after the try that failed. */
export function isRetryRequested(
  pair: BundleOnCluster,
  slot: RolloutAdmission | undefined,
  attemptOf: (cluster: string) => number,
): boolean {
  const hasFailed = pair.failed || slot?.failedAt !== undefined
  return hasFailed && pair.free && attemptOf(pair.cluster) > (slot ? (slot.attempt ?? 0) : pair.tried)
}
