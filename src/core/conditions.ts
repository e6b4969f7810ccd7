/** Conditions of a Kubernetes status. */

/** Finds the condition of a type: `findCondition(cluster.status?.conditions, 'Available')?.status === 'True'`. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: C['type'],
): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}
