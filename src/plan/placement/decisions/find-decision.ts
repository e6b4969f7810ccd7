/** Decisions by cluster, for pages that are asked about many clusters and change seldom. */

const indexes = new WeakMap<object, ReadonlyMap<string, unknown>>()

/**
 * The decision of a page about a cluster. All Bundles of a Placement ask about all clusters of its pages, so each list
 * of decisions is indexed once; a list is never changed after it was read.
 */
export function findDecision<T extends { readonly cluster: string }>(
  decisions: readonly T[],
  cluster: string,
): T | undefined {
  let index = indexes.get(decisions)
  if (!index) indexes.set(decisions, (index = new Map(decisions.map((decision) => [decision.cluster, decision]))))
  return index.get(cluster) as T | undefined
}
