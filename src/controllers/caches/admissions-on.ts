interface Admitting<A> {
  readonly status?: { readonly admissions?: readonly A[] | undefined } | undefined
}

const byCluster = new WeakMap<object, ReadonlyMap<string, readonly unknown[]>>()

/**
 * The admissions of a cached Rollout or Delivery for a cluster. The admissions are indexed once for each list: a
 * document is assembled from the lists of all Rollouts, for each cluster, and each list names all clusters.
 */
export function admissionsOn<A extends { readonly cluster: string }>(
  { status }: Admitting<A>,
  cluster: string,
): readonly A[] {
  const { admissions } = status ?? {}
  if (!admissions) return []
  let index = byCluster.get(admissions)
  if (!index) byCluster.set(admissions, (index = Map.groupBy(admissions, (admission) => admission.cluster)))
  return (index.get(cluster) as readonly A[] | undefined) ?? []
}
