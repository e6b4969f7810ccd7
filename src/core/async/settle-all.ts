type Settled<T extends readonly unknown[]> = { -readonly [At in keyof T]: Awaited<T[At]> }

/**
 * Waits until every promise is settled, then returns the values or throws the first failure in the order of the list.
 * Promise.all returns at the first failure, while the other requests still run: a caller that closes its connection
 * then would cut them off.
 */
export async function settleAll<const T extends readonly unknown[]>(work: T): Promise<Settled<T>> {
  const results = await Promise.allSettled(work)
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as Settled<T>
}
